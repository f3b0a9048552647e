// The parts of the page, one file each.
#pragma once

#include <string>

#include "agent/report/gather.h"
#include "agent/report/html.h"
#include "agent/report/tokens.h"

namespace kagent::report {

// The page's whole style sheet, and the same as an element.
std::string_view style();
Html style_element();
// What the page may load and run: nothing, but for this one style sheet.
Html policy_element();

Html glance(const Gathered& all);
Html speedups(const Gathered& all);  // each task's best sample over each baseline
Html curve(const Gathered& all);     // fast_p
Html phases(const Gathered& all);    // where the time went
Html cost(const Gathered& all);
Html task_section(const Gathered& all, std::size_t task);

// Of one sample's verdict.
Html times_table(const score::Sample& sample);
Html rules_table(const nlohmann::json& verdict);
Html checks_table(const nlohmann::json& verdict);
Html profile_table(const nlohmann::json& verdict);
Html kernels_table(const nlohmann::json& verdict);

// Code in colours; a text as it is.
Html code(const Stored& stored, Language language);
Html plain(const Stored& stored);
// "412 lines, 22.1 kB".
std::string size_words(const Stored& stored);
// `what` that opens and closes.
Html details(std::string_view summary, std::string_view aside, const Html& what);

// A prompt without what stands elsewhere on the page.
Html prompt_after(const Stored& prompt, const TaskPage& task, std::size_t sample);

}  // namespace kagent::report
