// Tables in a box of their own that scrolls where they are wide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/report/html.h"

namespace kagent::report {

class Table {
 public:
  // Columns whose header begins with '#' hold numbers and are set to the right.
  Table(std::string_view caption, std::vector<std::string> header);
  // The first cell is the row's header.
  void row(const std::vector<Html>& cells);
  [[nodiscard]] Html html() const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  std::string caption_;
  std::vector<std::string> header_;
  Html rows_;
};

}  // namespace kagent::report
