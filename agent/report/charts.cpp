#include "agent/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/score/words.h"

namespace kagent::report {
namespace {

constexpr double kWidth = 760;
constexpr double kLeft = 84;
constexpr double kRight = 66;

// Colours are the style sheet's: f0 to f7.
Html colour(std::size_t index) { return Html() << "f" << static_cast<int>(index % 8); }

Html svg(double height, std::string_view name) {
  Html out;
  out << "<svg viewBox=\"0 0 " << number(kWidth) << " " << number(height) << "\" role=\"img\" aria-label=\""
      << text(name) << "\">";
  return out;
}

Html rectangle(double x, double y, double width, double height, const Html& style_class) {
  Html out;
  out << "<rect x=\"" << number(x) << "\" y=\"" << number(y) << "\" width=\"" << number(std::max(width, 0.8))
      << "\" height=\"" << number(height) << "\" class=\"" << style_class << "\"/>";
  return out;
}

Html line(double x1, double y1, double x2, double y2, Markup style_class) {
  Html out;
  out << "<line x1=\"" << number(x1) << "\" y1=\"" << number(y1) << "\" x2=\"" << number(x2) << "\" y2=\"" << number(y2)
      << "\" class=\"" << style_class << "\"/>";
  return out;
}

Html label(double x, double y, Markup style_class, std::string_view words) {
  Html out;
  out << "<text x=\"" << number(x) << "\" y=\"" << number(y) << "\" class=\"" << style_class << "\">" << text(words)
      << "</text>";
  return out;
}

// From ratio to x. Both ends are powers of two and 1x is always there.
struct LogScale {
  int first = -1;  // log2
  int last = 1;

  void take(double ratio) {
    const double l = std::log2(std::clamp(ratio, 1e-4, 1e6));
    first = std::min(first, static_cast<int>(std::floor(l)));
    last = std::max(last, static_cast<int>(std::ceil(l)));
  }
  [[nodiscard]] double x(double ratio) const {
    const double l = std::clamp(std::log2(std::max(ratio, 1e-9)), double(first), double(last));
    return kLeft + (l - first) / (last - first) * (kWidth - kLeft - kRight);
  }
};

}  // namespace

Html swatch(std::size_t index) {
  Html out;
  out << "<svg class=swatch viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect width=\"10\" height=\"10\" rx=\"2\" "
         "class=\""
      << colour(index) << "\"/></svg>";
  return out;
}

Html bar_chart(const std::vector<BarGroup>& groups, const std::vector<std::string>& baselines) {
  constexpr double kBar = 12;
  constexpr double kGap = 12;
  LogScale scale;
  double height = 26;
  for (const BarGroup& group : groups) {
    height += static_cast<double>(group.bars.size()) * kBar + kGap;
    for (const Bar& bar : group.bars) {
      scale.take(bar.low);
      scale.take(bar.high);
    }
  }
  Html out = svg(
      height, "Speed-up of each task's best sample over each baseline, logarithmic; the table below has the numbers");
  const int step = std::max(1, (scale.last - scale.first) / 8);
  for (int power = scale.first; power <= scale.last; ++power) {
    if (power != 0 && (power % step) != 0) continue;
    const double x = scale.x(std::exp2(power));
    out << (power == 0 ? line(x, 18, x, height, "one") : line(x, 18, x, height, "grid"));
    out << label(x, 12, "tick mid", score::times_words(std::exp2(power)));
  }
  double y = 26;
  for (const BarGroup& group : groups) {
    const double tall = static_cast<double>(group.bars.size()) * kBar;
    out << label(kLeft - 8, y + tall / 2 + 4, "name end", group.label);
    for (const Bar& bar : group.bars) {
      const auto index =
          static_cast<std::size_t>(std::find(baselines.begin(), baselines.end(), bar.baseline) - baselines.begin());
      const double from = std::min(scale.x(1), scale.x(bar.ratio));
      const double to = std::max(scale.x(1), scale.x(bar.ratio));
      out << rectangle(from, y + 0.5, to - from, kBar - 2, colour(index));
      const double middle = y + kBar / 2 - 0.5;
      out << line(scale.x(bar.low), middle, scale.x(bar.high), middle, "err");
      out << label(std::max(to, scale.x(bar.high)) + 5, y + kBar - 2.5, "value", score::times_words(bar.ratio));
      y += kBar;
    }
    y += kGap;
  }
  return out << "</svg>";
}

Html curve_chart(const std::vector<std::pair<double, score::Share>>& curve) {
  constexpr double kTop = 14;
  constexpr double kHeight = 190;
  const double width = kWidth - 60 - 20;
  const auto x = [&](std::size_t i) {
    return 60 + static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(curve.size() - 1, 1)) * width;
  };
  const auto y = [&](double share) { return kTop + (1 - share) * kHeight; };
  Html out = svg(kTop + kHeight + 40, "fast_p by p; the table below has the numbers");
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    out << line(60, y(share), 60 + width, y(share), "grid")
        << label(52, y(share) + 4, "tick end", fmt::format("{:.0f}%", 100 * share));
  }
  Html band;
  Html path;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const auto interval = curve[i].second.interval();
    band << number(x(i)) << "," << number(y(interval ? interval->high : 0)) << " ";
    path << number(x(i)) << "," << number(y(curve[i].second.value())) << " ";
    out << label(x(i), kTop + kHeight + 18, "tick mid", score::threshold_words(curve[i].first));
  }
  for (std::size_t i = curve.size(); i-- > 0;) {
    const auto interval = curve[i].second.interval();
    band << number(x(i)) << "," << number(y(interval ? interval->low : 0)) << " ";
  }
  out << "<polygon class=band points=\"" << band << "\"/><polyline class=curve points=\"" << path << "\"/>";
  for (std::size_t i = 0; i < curve.size(); ++i)
    out << "<circle class=dot cx=\"" << number(x(i)) << "\" cy=\"" << number(y(curve[i].second.value()))
        << "\" r=\"3\"/>";
  out << label(60 + width / 2, kTop + kHeight + 36, "tick mid", "p: times as fast as eager");
  return out << "</svg>";
}

Html stack_chart(const std::vector<score::Phase>& phases) {
  double total = 0;
  for (const score::Phase& phase : phases) total += phase.seconds;
  Html out = svg(30, "Seconds of judging by phase; the table below has the numbers");
  double x = 0;
  for (std::size_t i = 0; i < phases.size() && total > 0; ++i) {
    const double width = phases[i].seconds / total * kWidth;
    if (width > 0) out << rectangle(x, 0, width - 1, 30, colour(i));
    x += width;
  }
  return out << "</svg>";
}

}  // namespace kagent::report
