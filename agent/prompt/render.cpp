#include "agent/prompt/render.h"

#include <fmt/format.h>

#include <kainjow/mustache.hpp>

#include "agent/base/json_text.h"
#include "agent/prompt/feedback.h"
#include "agent/prompt/sections.h"

namespace kagent {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::mustache;

std::int64_t integer(const nlohmann::json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

data gpu_data(const nlohmann::json& device) {
  data gpu;
  gpu.set("name", text_or(device, "name", "NVIDIA GPU"));
  gpu.set("arch", text_or(device, "arch", ""));
  gpu.set("sm_count", std::to_string(integer(device, "sm_count")));
  gpu.set("registers_per_sm", std::to_string(integer(device, "registers_per_sm")));
  gpu.set("shared_kib", std::to_string(integer(device, "shared_per_block") / 1024));
  gpu.set("l2_mib", std::to_string(integer(device, "l2_bytes") >> 20));
  gpu.set("memory_gib", std::to_string(integer(device, "memory_bytes") >> 30));
  return gpu;
}

Result<mustache> parse(const PromptSet& set, const char* file) {
  if (const std::string problem = section_problem(set.files.at(file)); !problem.empty())
    return Error{Code::kParse, fmt::format("prompts/{}/{}: {}", set.name, file, problem)};
  mustache tmpl(set.files.at(file));
  if (!tmpl.is_valid()) {
    return Error{Code::kParse, fmt::format("prompts/{}/{}: {}", set.name, file, tmpl.error_message())};
  }
  tmpl.set_custom_escape([](const std::string& s) { return s; });  // prompts are text, not HTML
  return tmpl;
}

// Full detail for the newest and the best sample; the others give up their code first, then their profiles.
FeedbackDetail detail_for(const PromptInput& input, std::size_t index, int squeeze) {
  const auto best = best_of(input.earlier);
  const bool newest = index + 1 == input.earlier.size();
  const bool is_best = best && *best == index;
  if (squeeze == 0) return {true, true};
  if (squeeze == 1) return {newest || is_best, newest || is_best};
  return {best ? is_best : newest, newest || is_best};
}

}  // namespace

std::optional<std::size_t> best_of(const std::vector<EarlierSample>& earlier) {
  std::optional<std::size_t> best;
  double best_ratio = 0;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    const nlohmann::json& v = earlier[i].verdict;
    if (!v.is_object() || text_or(v, "outcome", "") != "accepted") continue;
    const double ratio = v.contains("speedup") && v["speedup"].is_number() ? v["speedup"].get<double>() : 0;
    if (!best || ratio > best_ratio) {
      best = i;
      best_ratio = ratio;
    }
  }
  return best;
}

Result<std::string> render_prompt(const PromptSet& set, const PromptInput& input) {
  Result<mustache> prompt = parse(set, "prompt.md");
  if (!prompt) return prompt.error();
  Result<mustache> feedback = parse(set, "feedback.md");
  if (!feedback) return feedback.error();
  Result<mustache> example = parse(set, "example.md");
  if (!example) return example.error();

  data top;
  top.set("gpu", gpu_data(input.device));
  top.set("source", input.source + (input.source.ends_with('\n') ? "" : "\n"));
  top.set("blind", input.blind);
  if (!input.numerics.empty()) top.set("numerics", input.numerics);
  top.set("multiple", input.max_samples > 1);
  top.set("sample", std::to_string(input.sample));
  top.set("max_samples", std::to_string(input.max_samples));
  top.set("device_header", set.files.at("device_header.md"));
  top.set("example", example.value().render(data()));
  top.set("has_earlier", !input.earlier.empty());
  if (const auto best = best_of(input.earlier)) top.set("best", std::to_string(input.earlier[*best].number));

  std::string text;
  for (int squeeze = 0; squeeze < 3; ++squeeze) {
    std::size_t feedback_bytes = 0;
    data earlier(data::type::list);
    for (std::size_t i = 0; i < input.earlier.size(); ++i) {
      const std::string rendered =
          feedback.value().render(feedback_data(input.earlier[i], input.blind, detail_for(input, i, squeeze)));
      feedback_bytes += rendered.size();
      data item;
      item.set("feedback", rendered);
      earlier << item;
    }
    top.set("earlier", earlier);
    if (feedback_bytes <= input.feedback_bytes || squeeze == 2) break;
  }
  return prompt.value().render(top);
}

}  // namespace kagent
