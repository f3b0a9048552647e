// What a verdict tells the model: the data behind prompts/<set>/feedback.md.
//
// Only visible results: compiler, trace and validation errors, the visible check's numbers, times and profiles. Of the
// hidden check only that it failed. For a blind task nothing that gives sizes away: no shapes, indices, counts of
// elements or launches.
#pragma once

#include <kainjow/mustache.hpp>
#include <string>

#include "agent/prompt/render.h"

namespace kagent {

struct FeedbackDetail {
  bool code = true;
  bool profile = true;
};

kainjow::mustache::data feedback_data(const EarlierSample& sample, bool blind, FeedbackDetail detail);

}  // namespace kagent
