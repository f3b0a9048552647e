#include "agent/report/tables.h"

#include <utility>

namespace kagent::report {

Table::Table(std::string_view caption, std::vector<std::string> header)
    : caption_(caption), header_(std::move(header)) {}

void Table::row(const std::vector<Html>& cells) {
  rows_ << "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool right = i < header_.size() && header_[i].starts_with('#');
    if (i == 0) {
      rows_ << "<th scope=row>" << cells[i] << "</th>";
    } else {
      rows_ << (right ? Markup("<td class=num>") : Markup("<td>")) << cells[i] << "</td>";
    }
  }
  rows_ << "</tr>\n";
}

Html Table::html() const {
  Html out;
  out << "<div class=wide role=group tabindex=0 aria-label=\"" << text(caption_) << "\"><table><caption>"
      << text(caption_) << "</caption><thead><tr>";
  for (const std::string& name : header_) {
    const bool right = name.starts_with('#');
    out << (right ? Markup("<th scope=col class=num>") : Markup("<th scope=col>")) << text(name.substr(right ? 1 : 0))
        << "</th>";
  }
  out << "</tr></thead><tbody>\n" << rows_ << "</tbody></table></div>\n";
  return out;
}

}  // namespace kagent::report
