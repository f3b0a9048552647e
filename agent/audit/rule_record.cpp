#include "agent/audit/rule_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agent/audit/required_rules.h"
#include "agent/base/json_text.h"

namespace kagent::audit {
namespace {

constexpr std::string_view kOutcomes[] = {"pass", "not_run", "flag", "fail"};  // from best to worst

}  // namespace

RuleRecord rule_record(const nlohmann::json& verdict) {
  RuleRecord record;
  const auto rules = verdict.find("rules");
  record.there = verdict.is_object() && rules != verdict.end() && rules->is_array();
  std::map<std::string, std::ptrdiff_t> worst;
  std::map<std::string, std::int64_t> version;  // the lowest
  if (record.there) {
    for (const nlohmann::json& entry : *rules) {
      const std::string name = text_or(entry, "rule", "");
      const auto* outcome = std::find(std::begin(kOutcomes), std::end(kOutcomes), text_or(entry, "outcome", ""));
      if (name.empty() || outcome == std::end(kOutcomes)) {
        record.problems.push_back(
            fmt::format("rule \"{}\" has the outcome \"{}\"", name, text_or(entry, "outcome", "")));
        continue;
      }
      const std::int64_t by = integer_or(entry, "version", 0);
      version[name] = version.contains(name) ? std::min(version[name], by) : by;
      auto& seen = worst[name];
      seen = std::max(seen, outcome - std::begin(kOutcomes));
    }
  }
  std::vector<std::string>* const by_outcome[] = {&record.passed, &record.not_run, &record.flagged, &record.failed};
  for (const auto& [name, outcome] : worst) by_outcome[outcome]->push_back(name);
  for (const std::string_view required : required_rules()) {
    const auto decided = version.find(std::string(required));
    const int now = find_rule(required)->version;
    if (decided == version.end())
      record.missing.emplace_back(required);
    else if (decided->second < now)
      record.older.push_back(fmt::format("{} {} (now {})", required, decided->second, now));
  }
  return record;
}

}  // namespace kagent::audit
