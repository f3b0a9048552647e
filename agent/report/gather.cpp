#include "agent/report/gather.h"

#include <algorithm>
#include <functional>

#include "agent/answer/answer.h"
#include "agent/base/json_text.h"
#include "agent/judge/plan_listing.h"
#include "agent/run/task_state.h"

namespace kagent::report {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTextBytes = std::size_t{256} << 10;
constexpr std::size_t kLeastTextBytes = std::size_t{2} << 10;

Stored whole(std::string text) {
  Stored out;
  out.there = true;
  out.bytes = text.size();
  out.text = std::move(text);
  return out;
}

Stored stored(const run::BlobStore& blobs, const std::string& sha256) {
  if (sha256.empty()) return {};
  Result<std::string> bytes = blobs.get(sha256);
  if (bytes) return whole(std::move(bytes).value());
  Stored out;
  out.there = true;
  out.problem = bytes.error().message;
  return out;
}

void read_answer(SamplePage& page) {
  if (!page.answer.there || !page.answer.problem.empty()) return;
  const answer::Found found = answer::find(page.answer.text);
  if (const auto* none = std::get_if<answer::NoAnswer>(&found)) {
    page.no_blocks = none->message;
    return;
  }
  page.cuda = whole(std::get<answer::Answer>(found).cuda);
  page.python = whole(std::get<answer::Answer>(found).python);
}

SamplePage page_of(const run::BlobStore& blobs, const run::SampleState& state) {
  SamplePage page;
  page.prompt_sha256 = state.prompt_sha256;
  page.prompt = stored(blobs, state.prompt_sha256);
  if (state.reply) {
    page.reply = *state.reply;
    page.answer = stored(blobs, text_or(page.reply, "answer_sha256", ""));
    read_answer(page);
  }
  if (!state.verdict) return page;
  page.verdict = object_in(*state.verdict, "verdict");
  page.artifacts = object_in(*state.verdict, "artifacts");
  page.compile_log = stored(blobs, text_or(page.artifacts, "compile.log", ""));
  page.plan = stored(blobs, text_or(page.artifacts, "plan.json", ""));
  if (page.plan.there && page.plan.problem.empty()) page.plan = whole(plan_listing(page.plan.text));
  return page;
}

void each_text(Gathered& all, const std::function<void(Stored&)>& look) {
  for (TaskPage& task : all.tasks) {
    look(task.source);
    for (SamplePage& s : task.samples) {
      for (Stored* one : {&s.prompt, &s.answer, &s.cuda, &s.python, &s.plan, &s.compile_log}) look(*one);
    }
  }
}

void cut_to(Gathered& all, std::size_t budget_bytes) {
  all.text_bytes = kMostTextBytes;
  const auto sum = [&] {
    std::size_t bytes = 0;
    each_text(all, [&](Stored& one) { bytes += std::min(one.bytes, all.text_bytes); });
    return bytes;
  };
  while (all.text_bytes > kLeastTextBytes && sum() > budget_bytes) all.text_bytes -= all.text_bytes / 8;
  each_text(all, [&](Stored& one) { one.text.resize(std::min(one.text.size(), all.text_bytes)); });
}

}  // namespace

Gathered gather(const run::RunDirectory& directory, std::size_t budget_bytes) {
  Gathered all;
  all.run = score::read_what_can_be(directory);
  all.scores = score::scores_of(all.run);
  for (score::Task& task : all.run.tasks) {
    TaskPage page;
    if (task.logged) {
      if (Result<run::Chain> chain = directory.read_task(task.id)) {
        for (const json& event : chain.value().events) {
          if (text_or(event, "kind", "") == "start")
            page.source = stored(directory.blobs(), text_or(event, "task_sha256", ""));
        }
        for (const run::SampleState& state : run::state_of(chain.value().events).samples)
          page.samples.push_back(page_of(directory.blobs(), state));
      }
    }
    page.samples.resize(task.samples.size());  // the log may have grown since it was scored
    all.tasks.push_back(std::move(page));
  }
  cut_to(all, budget_bytes);
  return all;
}

}  // namespace kagent::report
