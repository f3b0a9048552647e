#include "agent/report/parts.h"
#include "agent/report/report.h"

namespace kagent::report {
namespace {

constexpr std::size_t kFewTasks = 3;

Html contents(const Gathered& all) {
  Html out;
  out << "<nav aria-label=\"Contents\"><ul><li><a href=\"#glance\">At a glance</a></li><li><a "
         "href=\"#speedups\">Speed-ups</a></li>"
         "<li><a href=\"#fastp\">fast_p</a></li><li><a href=\"#time\">Time</a></li><li><a href=\"#cost\">Cost</a></li>"
         "<li><a href=\"#tasks\">Tasks</a></li>";
  if (all.run.tasks.size() <= kFewTasks) {
    for (std::size_t t = 0; t < all.run.tasks.size(); ++t)
      out << "<li><a href=\"#task-" << static_cast<int>(t + 1) << "\">" << text(all.run.tasks[t].id) << "</a></li>";
  }
  return out << "</ul></nav>\n";
}

Html tasks(const Gathered& all) {
  Html out;
  out << "<section aria-labelledby=tasks><h2 id=tasks>Tasks</h2>\n";
  if (all.run.tasks.size() > kFewTasks) {
    out << "<nav class=jump aria-label=\"Tasks\"><ul>";
    for (std::size_t t = 0; t < all.run.tasks.size(); ++t)
      out << "<li><a href=\"#task-" << static_cast<int>(t + 1) << "\">" << text(all.run.tasks[t].id) << "</a></li>";
    out << "</ul></nav>\n";
  }
  for (std::size_t t = 0; t < all.run.tasks.size(); ++t) out << task_section(all, t);
  return out << "</section>\n";
}

}  // namespace

std::string to_page(const Gathered& all) {
  Html page;
  page << "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
       << policy_element()
       << "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<meta name=referrer "
          "content=no-referrer>\n<title>"
       << text(all.run.asked.run) << " - kagent report</title>\n"
       << style_element() << "</head>\n<body>\n"
       << "<a class=skip href=\"#main\">Skip to the results</a>\n<header><h1>" << text(all.run.asked.run)
       << "</h1>\n<p class=note>" << text(all.scores.context.model_words()) << "</p></header>\n"
       << contents(all) << "<main id=main tabindex=-1>\n"
       << glance(all) << speedups(all) << curve(all) << phases(all) << cost(all) << tasks(all)
       << "</main>\n<footer>Written by <code>kagent report</code> from the run's log. Texts of models are shown as "
          "they are, with "
          "invisible characters by name. Of each text at most "
       << static_cast<int>(all.text_bytes >> 10)
       << " KiB is shown. What each figure means: docs/scores.md.</footer>\n</body>\n</html>\n";
  return page.bytes();
}

}  // namespace kagent::report
