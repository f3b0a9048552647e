// Figures as SVG in the page's own style; each has a table of the same numbers beside it, so they are hidden from
// screen readers but for their name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/report/html.h"
#include "agent/score/scores.h"

namespace kagent::report {

struct Bar {
  std::string baseline;
  double ratio = 1;
  double low = 1;
  double high = 1;
};

struct BarGroup {
  std::string label;  // the task
  std::vector<Bar> bars;
};

// Horizontal bars from 1x on a logarithmic scale, with intervals. `baselines` in the order of their colours.
Html bar_chart(const std::vector<BarGroup>& groups, const std::vector<std::string>& baselines);

// Steps over p, with the interval as a band.
Html curve_chart(const std::vector<std::pair<double, score::Share>>& curve);

// One stacked bar.
Html stack_chart(const std::vector<score::Phase>& phases);

// A mark of the colour with this number, for legends.
Html swatch(std::size_t index);

}  // namespace kagent::report
