#include "agent/audit/judgement.h"

#include <algorithm>

#include "agent/base/json_text.h"

namespace kagent::audit {
namespace {

using nlohmann::json;

// Takes one more reply into account.
Status add_reply(Judgement& judgement, const json& event, const run::BlobStore& blobs) {
  Result<std::string> reply = blobs.get(text_or(event, "answer_sha256", ""));
  if (!reply) return reply.error();
  judgement.replies += 1;
  judgement.model = text_or(event, "model", "");
  judgement.vendor = text_or(event, "vendor", "");
  if (judgement.opinion) return Ok{};  // the first that can be read counts
  auto parsed = parse_opinion(reply.value());
  if (auto* opinion = std::get_if<Opinion>(&parsed)) {
    judgement.opinion = std::move(*opinion);
    judgement.unparsed.clear();
  } else {
    judgement.unparsed = std::get<Unparsed>(parsed).why;
  }
  return Ok{};
}

}  // namespace

Result<std::vector<Judgement>> judgements_of(const Sample& sample, const std::vector<json>& events,
                                             const run::BlobStore& blobs) {
  std::vector<Judgement> judgements;
  std::vector<std::string> prompts;  // that were about this very subject
  for (const json& event : events) {
    if (text_or(event, "task", "") != sample.task || integer_or(event, "sample", 0) != sample.number) continue;
    const std::string kind = text_or(event, "kind", "");
    const std::string judge = text_or(event, "judge", "");
    const std::string prompt = text_or(event, "prompt_sha256", "");
    auto found = std::find_if(judgements.begin(), judgements.end(), [&](const auto& j) { return j.judge == judge; });
    if (kind == "audit_request" && event["subject"] == json(sample.subject)) {
      prompts.push_back(prompt);
      if (found == judgements.end()) {
        judgements.push_back({});
        found = judgements.end() - 1;
        found->judge = judge;
      }
      if (found->replies == 0) found->whole = event["whole"].get<bool>();
    }
    const bool of_subject = std::find(prompts.begin(), prompts.end(), prompt) != prompts.end();
    if (kind != "audit_reply" || !of_subject || found == judgements.end()) continue;
    if (Status added = add_reply(*found, event, blobs); !added) return added.error();
  }
  return judgements;
}

}  // namespace kagent::audit
