#include "agent/judge/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "agent/base/json_text.h"
#include "agent/judge/emulation.h"

namespace kagent {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double kHiddenScales[] = {1.0, 3.0, 0.01, -1.0};

nlohmann::json to_json(const std::vector<Draw>& draws) {
  nlohmann::json out = nlohmann::json::array();
  for (const Draw& d : draws) out.push_back({{"seed", d.seed}, {"scale", d.scale}, {"calls", d.calls}});
  return out;
}

Result<std::vector<Draw>> draws_from_json(const nlohmann::json& json) {
  std::vector<Draw> draws;
  if (!json.is_array()) return Error{Code::kParse, "seeds: not a list of draws"};
  for (const auto& item : json) {
    if (!item.is_object() || !item.contains("seed") || !item["seed"].is_number_integer() || !item.contains("scale") ||
        !item["scale"].is_number() || !item.contains("calls") || !item["calls"].is_number_integer()) {
      return Error{Code::kParse, "seeds: a draw needs seed, scale and calls"};
    }
    draws.push_back({item["seed"].get<std::int64_t>(), item["scale"].get<double>(), item["calls"].get<int>()});
  }
  return draws;
}

bool same_kind(const std::vector<Draw>& a, const std::vector<Draw>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Draw& x, const Draw& y) { return x.scale == y.scale && x.calls == y.calls; });
}

nlohmann::json run_request(const Draw& draw, const std::string& file) {
  return {{"cmd", "run"}, {"seed", draw.seed}, {"scale", draw.scale}, {"out", file}, {"calls", draw.calls}};
}

}  // namespace

Seeds draw_seeds() {
  std::random_device source;
  std::uniform_int_distribution<std::int64_t> any(1, (std::int64_t{1} << 31) - 1);
  Seeds seeds;
  seeds.visible = {{42, 1.0, 1}, {1042, 1.0, 1}, {2042, 1.0, 3}};
  for (const double scale : kHiddenScales) seeds.hidden.push_back({any(source), scale, 1});
  seeds.hidden.push_back({any(source), 1.0, 2});
  return seeds;
}

nlohmann::json to_json(const Seeds& seeds) {
  return {{"model", seeds.model}, {"visible", to_json(seeds.visible)}, {"hidden", to_json(seeds.hidden)}};
}

Result<Seeds> seeds_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("model") || !json["model"].is_number_integer()) {
    return Error{Code::kParse, "seeds: no model seed"};
  }
  Result<std::vector<Draw>> visible = draws_from_json(array_in(json, "visible"));
  if (!visible) return visible.error();
  Result<std::vector<Draw>> hidden = draws_from_json(array_in(json, "hidden"));
  if (!hidden) return hidden.error();
  Seeds seeds{json["model"].get<std::int64_t>(), visible.value(), hidden.value()};
  // A log decides which seeds, not how many draws or of what: fewer would be a weaker check.
  const Seeds fresh = draw_seeds();
  if (!same_kind(seeds.visible, fresh.visible) || !same_kind(seeds.hidden, fresh.hidden)) {
    return Error{Code::kParse, "seeds: the logged draws are not those that this version of kagent makes"};
  }
  return seeds;
}

std::optional<Failure> check_draw(Crew& crew, Child& candidate, const Draw& draw, const std::string& stage,
                                  const std::string& exchange_file, nlohmann::json& record) {
  nlohmann::json entry = {{"seed", draw.seed}, {"scale", draw.scale}, {"calls", draw.calls}, {"passed", false}};
  const ChildReply ran = candidate.ask(run_request(draw, exchange_file), Seconds(crew.deadlines().run));
  if (auto failure = failure_of(candidate, ran, "run")) {
    entry["run"] = {{"kind", failure->kind}, {"reason", failure->reason}};
    record.push_back(entry);
    return failure;
  }
  const ChildReply compared = crew.reference().ask({{"cmd", "compare"},
                                                    {"seed", draw.seed},
                                                    {"scale", draw.scale},
                                                    {"calls", draw.calls},
                                                    {"file", exchange_file},
                                                    {"tolerance", kTolerance},
                                                    {"flags", "official"}},
                                                   Seconds(crew.deadlines().compare));
  if (auto failure = failure_of(crew.reference(), compared, "internal")) {
    failure->stage = "internal";
    return failure;
  }
  for (const char* key : {"passed", "reason", "outputs", "state", "bitwise"}) {
    if (compared.answer.contains(key)) entry[key] = compared.answer[key];
  }
  record.push_back(entry);
  if (flag_or(compared.answer, "passed", false)) return std::nullopt;
  return Failure{stage, "mismatch", text_or(compared.answer, "reason", "outputs differ"), std::nullopt, "", ""};
}

std::optional<Failure> check_visible(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                     Verdict& verdict) {
  for (const Draw& draw : seeds.visible) {
    if (auto failure = check_draw(crew, candidate, draw, "visible", exchange_file, verdict.visible)) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> check_hidden(Crew& crew, Child& candidate, const Seeds& seeds, const std::string& exchange_file,
                                    Verdict& verdict) {
  for (const Draw& draw : seeds.hidden) {
    std::optional<Failure> failure = check_draw(crew, candidate, draw, "hidden", exchange_file, verdict.hidden);
    if (!failure) continue;
    if (failure->stage == "internal") return failure;
    if (crew.emulates() && undecided_by_emulation(failure->kind)) return failure;
    return Failure{"hidden", "hidden_check_failed", "hidden check failed", std::nullopt, "", ""};
  }
  return std::nullopt;
}

}  // namespace kagent
