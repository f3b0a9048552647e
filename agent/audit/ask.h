// Asks one judge about one sample, unless the log has its opinion already.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "agent/audit/question.h"
#include "agent/audit/samples.h"
#include "agent/llm/provider.h"
#include "agent/run/blob_store.h"
#include "agent/run/event_log.h"

namespace kagent::audit {

struct AskContext {
  run::EventLog& log;
  run::BlobStore blobs;
  std::string judge_template;
  llm::Request request;                                       // limits, temperature; prompt, task, sample are filled in
  std::function<std::string(std::string_view)> plan_listing;  // a plan as a readable list
  std::function<void(std::string_view)> say;
};

// Afterwards the log has an opinion, or two replies that cannot be read, or a request that waits for its answer
// (spool). Everything is in the log before the next thing happens, so that no paid reply is lost or asked for twice.
// Errors: the provider's; a blob is missing; the template.
Status ask(const AskContext& context, const Sample& sample, llm::Provider& judge);

// Does the log lack what `judge` has to say?
Result<bool> is_open(const AskContext& context, const Sample& sample, const std::string& judge);

}  // namespace kagent::audit
