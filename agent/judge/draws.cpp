#include "agent/judge/draws.h"

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

#include "agent/base/json_text.h"

namespace kagent {
namespace {

constexpr double kHiddenScales[] = {1.0, 3.0, 0.01, -1.0};
// Weights and inputs. harness/study/kills.py measures what these tell apart that the official draws do not.
constexpr std::pair<const char*, const char*> kBeyond[] = {
    {"as_built", "as_drawn"}, {"redrawn", "rows"},        {"he", "suffix"},       {"peaky", "as_drawn"},
    {"as_built", "outliers"}, {"redrawn", "ramp"},        {"as_built", "offset"}, {"as_built", "far"},
    {"as_built", "near_one"}, {"long_memory", "as_drawn"}};
// One element of each input and weight changed, in a quarter of its own each time.
constexpr const char* kTouched[] = {"touched_0", "touched_1", "touched_2", "touched_3"};

nlohmann::json to_json(const std::vector<Draw>& draws) {
  nlohmann::json out = nlohmann::json::array();
  for (const Draw& d : draws) {
    out.push_back({{"seed", d.seed},
                   {"scale", d.scale},
                   {"calls", d.calls},
                   {"weights", d.weights},
                   {"inputs", d.inputs},
                   {"poison", d.poison},
                   {"drawn_on", d.drawn_on}});
  }
  return out;
}

template <typename T>
bool read(const nlohmann::json& object, const char* key, bool (nlohmann::json::*is)() const noexcept, T& value) {
  const auto it = object.find(key);
  if (it == object.end() || !((*it).*is)()) return false;
  value = it->get<T>();
  return true;
}

Result<std::vector<Draw>> draws_from_json(const nlohmann::json& list) {
  using nlohmann::json;
  std::vector<Draw> draws;
  if (!list.is_array()) return Error{Code::kParse, "seeds: not a list of draws"};
  for (const auto& item : list) {
    Draw d;
    const bool whole =
        item.is_object() && read(item, "seed", &json::is_number_integer, d.seed) &&
        read(item, "scale", &json::is_number, d.scale) && read(item, "calls", &json::is_number_integer, d.calls) &&
        read(item, "weights", &json::is_string, d.weights) && read(item, "inputs", &json::is_string, d.inputs) &&
        read(item, "poison", &json::is_string, d.poison);
    if (!whole) return Error{Code::kParse, "seeds: a draw needs seed, scale, calls, weights, inputs and poison"};
    d.drawn_on = text_or(item, "drawn_on", "host");  // logs before 2026-12-03 have none
    if (d.drawn_on != "host" && d.drawn_on != "device")
      return Error{Code::kParse, "seeds: drawn_on is neither \"host\" nor \"device\""};
    draws.push_back(std::move(d));
  }
  return draws;
}

bool same_kind(const std::vector<Draw>& a, const std::vector<Draw>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Draw& x, const Draw& y) {
    return std::tie(x.scale, x.calls, x.weights, x.inputs, x.poison) ==
           std::tie(y.scale, y.calls, y.weights, y.inputs, y.poison);
  });
}

// Both patterns in each group.
void alternate_poison(std::vector<Draw>& draws) {
  for (std::size_t i = 0; i < draws.size(); ++i) draws[i].poison = i % 2 == 0 ? "nan" : "huge";
}

}  // namespace

Seeds draw_seeds() {
  std::random_device source;
  std::uniform_int_distribution<std::int64_t> any(1, (std::int64_t{1} << 31) - 1);
  Seeds seeds;
  seeds.timed = any(source);
  // Few seeds, each asked for several times: numbers of the host are slow to draw, and workers keep them.
  for (const auto& [seed, calls] : {std::pair(42, 1), std::pair(1042, 1), std::pair(1042, 3)})
    seeds.visible.push_back({seed, 1.0, calls, "as_built", "as_drawn", ""});
  const std::int64_t hidden = any(source);
  for (const double scale : kHiddenScales) seeds.hidden.push_back({hidden, scale, 1, "as_built", "as_drawn", ""});
  seeds.hidden.push_back({hidden, 1.0, 2, "as_built", "as_drawn", ""});
  for (const auto& [weights, inputs] : kBeyond)
    seeds.beyond.push_back({any(source), 1.0, 1, weights, inputs, "", "device"});
  // Of the first one's seed, whose untouched call they are held against.
  for (const char* touched : kTouched)
    seeds.beyond.push_back({seeds.beyond.front().seed, 1.0, 1, touched, touched, "", "device"});
  for (auto* group : {&seeds.visible, &seeds.hidden}) alternate_poison(*group);
  // Run as timed runs are: what holds for these holds for what is timed.
  for (Draw& draw : seeds.beyond) draw.poison = "timed";
  return seeds;
}

nlohmann::json to_json(const Seeds& seeds) {
  return {{"model", seeds.model},
          {"timed", seeds.timed},
          {"visible", to_json(seeds.visible)},
          {"hidden", to_json(seeds.hidden)},
          {"beyond", to_json(seeds.beyond)}};
}

Result<Seeds> seeds_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("model") || !json["model"].is_number_integer()) {
    return Error{Code::kParse, "seeds: no model seed"};
  }
  Seeds seeds;
  seeds.model = json["model"].get<std::int64_t>();
  if (!read(json, "timed", &nlohmann::json::is_number_integer, seeds.timed))
    return Error{Code::kParse, "seeds: none of the timed inputs"};
  for (const auto& [name, group] :
       {std::pair("visible", &seeds.visible), std::pair("hidden", &seeds.hidden), std::pair("beyond", &seeds.beyond)}) {
    Result<std::vector<Draw>> draws = draws_from_json(json.value(name, nlohmann::json()));
    if (!draws) return draws.error();
    *group = std::move(draws).value();
  }
  const Seeds fresh = draw_seeds();
  if (!same_kind(seeds.visible, fresh.visible) || !same_kind(seeds.hidden, fresh.hidden) ||
      !same_kind(seeds.beyond, fresh.beyond)) {
    return Error{Code::kParse, "seeds: the logged draws are not those that this version of kagent makes"};
  }
  return seeds;
}

}  // namespace kagent
