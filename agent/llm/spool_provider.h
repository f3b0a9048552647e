// Prompts as files out, answers as files in: batch APIs, machines without internet, models reached by hand.
//
//   3-4.1.prompt.md   written by us, whole, once
//   3-4.1.answer.md   yours: the model's reply, untouched; best written under another name and renamed
//   3-4.1.meta.json   optional: {"vendor": "...", "model": "...", "note": "..."}, who answered this one
//   spool.json        optional: the same for every answer in the folder
#pragma once

#include <memory>
#include <string>

#include "agent/llm/clock.h"
#include "agent/llm/provider.h"

namespace kagent::llm {

struct SpoolSettings {
  std::string folder;
  bool wait = true;   // false: complete() returns Pending at once if there is no answer
  double poll_s = 1;  // between looks, and the time for which an answer must not change to be taken
};

inline constexpr const char* kUnstatedModel = "unstated (spool)";

// "3-4.1" for sample 1 of "3/4".
std::string spool_stem(std::string_view task, int sample);

// complete(): Errors kUsage (the prompt file holds another prompt), kParse (identity file), kIo. A deadline that passes
// gives Pending. One run a folder.
std::unique_ptr<Provider> spool_provider(SpoolSettings settings, std::shared_ptr<Clock> clock);

}  // namespace kagent::llm
