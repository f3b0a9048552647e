// One verdict in tables. A log may hold any JSON here: what is missing or of another type is left out.

#include <fmt/format.h>

#include <cmath>

#include "agent/base/json_text.h"
#include "agent/report/parts.h"
#include "agent/report/tables.h"
#include "agent/score/words.h"

namespace kagent::report {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 200;
constexpr std::size_t kMostEvidence = 1500;

std::string dump(const json& value, std::size_t most) {
  std::string out = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (out.size() > most) out = out.substr(0, most) + "...";
  return out;
}

Html evidence_of(const json& rule) {
  if (!rule.contains("evidence") || rule["evidence"].is_null()) return {};
  const std::string all = dump(rule["evidence"], kMostEvidence);
  Html out;
  if (all.size() < 60) return out << "<code>" << text(all) << "</code>";
  return out << "<details><summary>evidence</summary><code>" << text(all) << "</code></details>";
}

Html outcome_of(const json& rule) {
  const std::string outcome = text_or(rule, "outcome", "?");
  Html out;
  if (outcome == "pass") return out << "<span class=good>pass</span>";
  if (outcome == "fail") return out << "<span class=bad>fail</span>";
  if (outcome == "flag") return out << "<span class=warn>flag</span>";
  return out << "<span class=aside>" << text(outcome == "not_run" ? "not run" : outcome) << "</span>";
}

Html check_row_words(const json& check) {
  std::string out;
  for (const json& tensor : array_in(check, "outputs")) {
    out += fmt::format("{}{}: max abs {:.3g}, {:.0f} of {:.0f} outside", out.empty() ? "" : "; ",
                       text_or(tensor, "name", "?"), number_or(tensor, "max_abs", 0),
                       number_or(tensor, "violations", 0), number_or(tensor, "elements", 0));
  }
  for (const json& tensor : array_in(check, "tensors"))
    out += fmt::format("{}{}: error {:.3g}, honest {:.3g}", out.empty() ? "" : "; ", text_or(tensor, "name", "?"),
                       number_or(tensor, "error", 0), number_or(tensor, "honest", 0));
  if (const std::string reason = text_or(check, "reason", ""); !reason.empty())
    out = reason + (out.empty() ? "" : "; ") + out;
  return text(out.substr(0, kMostEvidence));
}

}  // namespace

Html times_table(const score::Sample& sample) {
  Table table("Times of one call",
              {"", "#mean ms", "#median ms", "#speed-up", "#95% interval", "#peak MB", "official check"});
  const auto ms = [](const std::optional<double>& value) { return text(value ? fmt::format("{:.4f}", *value) : ""); };
  const auto mb = [](const std::optional<std::int64_t>& bytes) {
    return text(bytes ? fmt::format("{:.1f}", static_cast<double>(*bytes) / 1e6) : "");
  };
  if (!sample.mean_ms) return {};
  table.row(
      {text("candidate"), ms(sample.mean_ms), ms(sample.median_ms), Html(), Html(), mb(sample.peak_bytes), Html()});
  for (const score::Baseline& b : sample.baselines) {
    table.row({text(b.name), ms(b.mean_ms), ms(b.median_ms),
               text(b.speedup ? score::times_words(b.speedup->ratio) : b.note),
               text(!b.speedup     ? std::string()
                    : b.from_cache ? b.note
                                   : score::interval_words(*b.speedup)),
               mb(b.peak_bytes),
               text(!b.passes_official   ? ""
                    : *b.passes_official ? "passes"
                                         : "fails")});
  }
  return table.html();
}

Html rules_table(const json& verdict) {
  Table table("What each rule said", {"rule", "#version", "outcome", "what, and evidence"});
  std::size_t rows = 0;
  for (const json& rule : array_in(verdict, "rules")) {
    if (++rows > kMostRows) break;
    table.row({text(text_or(rule, "rule", "?")), text(fmt::format("{}", integer_or(rule, "version", 0))),
               outcome_of(rule),
               text(text_or(rule, "what", "")) << " " << (rule.is_object() ? evidence_of(rule) : Html())});
  }
  return table.empty() ? Html() : table.html();
}

Html checks_table(const json& verdict) {
  Table table("Comparisons with the reference", {"check", "draw", "outcome", "what was seen"});
  std::size_t rows = 0;
  for (const char* kind : {"visible", "hidden", "beyond"}) {
    for (const json& check : array_in(verdict, kind)) {
      if (++rows > kMostRows) break;
      const std::string draw =
          check.is_object() && check.contains("weights")
              ? fmt::format("weights {}, inputs {}", text_or(check, "weights", "?"), text_or(check, "inputs", "?"))
              : fmt::format("seed {}, x{:g}, {} calls", integer_or(check, "seed", 0), number_or(check, "scale", 1),
                            integer_or(check, "calls", 1));
      table.row({text(kind), text(draw),
                 Html() << (flag_or(check, "passed", false) ? Markup("<span class=good>pass</span>")
                                                            : Markup("<span class=bad>fail</span>")),
                 check_row_words(check)});
    }
  }
  return table.empty() ? Html() : table.html();
}

Html profile_table(const json& verdict) {
  Html out;
  for (const char* who : {"plan", "eager"}) {
    Table table(who == std::string_view("plan") ? "GPU time of one call by kernel" : "The same of eager",
                {"kernel", "#share", "#ms", "#launches", "#step", "#line"});
    std::size_t rows = 0;
    for (const json& kernel : array_in(object_in(object_in(verdict, "profile"), who), "kernels")) {
      if (++rows > kMostRows) break;
      const auto whole = [&](const char* key) {
        const std::int64_t value = integer_or(kernel, key, -1);
        return text(value >= 0 ? fmt::format("{}", value) : "");
      };
      table.row({text(text_or(kernel, "name", "?").substr(0, 200)), text(score::percent(number_or(kernel, "share", 0))),
                 text(fmt::format("{:.4f}", number_or(kernel, "ms", 0))), whole("count"), whole("step"),
                 whole("line")});
    }
    if (!table.empty()) out << table.html();
  }
  return out;
}

Html kernels_table(const json& verdict) {
  Table table("The kernels as compiled", {"kernel", "#registers", "#static shared bytes", "#spill bytes"});
  std::size_t rows = 0;
  const json kernels = object_in(object_in(verdict, "compile"), "kernels");
  for (const auto& [name, facts] : kernels.items()) {
    if (++rows > kMostRows) break;
    const auto whole = [&, &f = facts](const char* key) { return integer_or(f, key, 0); };
    table.row({text(name.substr(0, 200)), text(fmt::format("{}", whole("registers"))),
               text(fmt::format("{}", whole("static_shared_bytes"))),
               text(fmt::format("{}", static_cast<double>(whole("spill_store_bytes")) +
                                          static_cast<double>(whole("spill_load_bytes"))))});
  }
  return table.empty() ? Html() : table.html();
}

}  // namespace kagent::report
