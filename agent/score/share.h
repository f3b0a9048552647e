// A share of counted things, with its 95% interval.
#pragma once

#include <optional>

namespace kagent::score {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Share {
  int hits = 0;
  int of = 0;

  // 0 where there is nothing to count.
  [[nodiscard]] double value() const;
  // Wilson's score interval at 95% (E. B. Wilson, JASA 22, 1927): holds its level for few tasks and for shares near 0
  // and 1, where the usual p +- 1.96 s does not. Nothing where there is nothing to count.
  [[nodiscard]] std::optional<Interval> interval() const;
};

}  // namespace kagent::score
