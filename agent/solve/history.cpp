// What the log remembers, as feedback needs it.

#include "agent/answer/answer.h"
#include "agent/solve/solve.h"

namespace kagent {

Result<std::vector<EarlierSample>> earlier_samples(const run::TaskLog& log) {
  std::vector<EarlierSample> earlier;
  for (const run::SampleState& state : log.state().samples) {
    if (!state.reply || !state.verdict) continue;
    EarlierSample sample;
    sample.number = state.number;
    sample.verdict = state.verdict->value("verdict", nlohmann::json::object());
    Result<std::string> raw = log.blobs().get(state.reply->value("answer_sha256", ""));
    if (!raw) return raw.error();
    const answer::Found found = answer::find(raw.value());
    if (const auto* blocks = std::get_if<answer::Answer>(&found)) {
      sample.cuda = blocks->cuda;
      sample.python = blocks->python;
    }
    const nlohmann::json artifacts = state.verdict->value("artifacts", nlohmann::json::object());
    if (artifacts.contains("compile.log") && artifacts["compile.log"].is_string()) {
      Result<std::string> text = log.blobs().get(artifacts["compile.log"].get<std::string>());
      if (!text) return text.error();
      sample.compile_log = text.value();
    }
    earlier.push_back(std::move(sample));
  }
  return earlier;
}

namespace {

// What the prompts of all samples share. Under `independent` a prompt does not count attempts.
PromptInput prompt_input(const Task& task, const nlohmann::json& device, const SolveSettings& settings) {
  PromptInput input;
  input.source = prompt_source(task);
  input.blind = task.blind;
  input.numerics = task.numerics;
  input.device = device;
  input.max_samples = settings.protocol == Protocol::kFeedback ? settings.max_samples : 1;
  return input;
}

}  // namespace

Result<std::string> first_prompt(const Task& task, const PromptSet& prompts, const nlohmann::json& device,
                                 const SolveSettings& settings) {
  return render_prompt(prompts, prompt_input(task, device, settings));
}

Result<std::string> prompt_of(const SolveContext& context, int sample) {
  PromptInput input = prompt_input(context.task, context.device, context.settings);
  if (context.settings.protocol == Protocol::kFeedback) {
    input.sample = sample;
    Result<std::vector<EarlierSample>> earlier = earlier_samples(context.log);
    if (!earlier) return earlier.error();
    input.earlier = std::move(earlier).value();
  }
  return render_prompt(context.prompts, input);
}

}  // namespace kagent
