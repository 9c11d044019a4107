#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "regroup/report/axis.h"
#include "regroup/report/charts.h"
#include "regroup/report/svg.h"

namespace regroup {
namespace {

constexpr double width = 720;
constexpr double margin = 16;
constexpr double top = 48;
constexpr double row = 32;
constexpr double thickness = 18;
constexpr double font_size = 12;
constexpr double widest_name = 260;
constexpr double room_for_value = 90;  // at the right of the longest bar

/// The value as it stands beside its bar.
std::string label(const Bar& bar) {
  return bar.deviation > 0 ? fmt::format("{:.3g} ± {:.2g}", bar.value, bar.deviation)
                           : fmt::format("{:.3g}", bar.value);
}

}  // namespace

std::string bar_chart(const ChartText& text, std::span<const Bar> bars) {
  double most = 0;
  double names = 0;
  for (const Bar& bar : bars) {
    names = std::max(names, std::min(widest_name, text_width(bar.name, font_size)));
    if (!can_show(bar.value) || !can_show(bar.deviation)) continue;
    if (bar.value < 0) throw std::invalid_argument("bar_chart: a value below zero");
    most = std::max(most, bar.value + bar.deviation);
  }
  const Axis x = round_axis(0, most > 0 ? most : 1, 8, false, Unit::plain);
  const double left = margin + names + 10;
  const Rect plot{left, top, width - margin - room_for_value, top + row * static_cast<double>(bars.size()) + 6};
  const auto at = [&](double value) { return plot.left + x.place(value) * (plot.right - plot.left); };

  Picture picture(width, text.title);
  std::string grid;
  for (const double tick : x.ticks) {
    grid += fmt::format("M{:.1f} {:.1f}V{:.1f}", at(tick), plot.top, plot.bottom);
    picture.text(at(tick), plot.bottom + 19, x.label(tick), "middle", "soft");
  }
  picture.add(fmt::format("<path class=\"grid\" d=\"{}\"/>\n", grid));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    const double middle = plot.top + 3 + row * (static_cast<double>(i) + 0.5);
    picture.text(plot.left - 10, middle + 4, bar.name, "end", "", widest_name);
    if (!can_show(bar.value) || !can_show(bar.deviation)) continue;
    const double end = at(bar.value + bar.deviation);
    picture.add(fmt::format("<rect class=\"fill s0\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:g}\"/>\n",
                            plot.left, middle - thickness / 2, at(bar.value) - plot.left, thickness));
    if (bar.deviation > 0)
      picture.add(fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}m0 -4v8\"/>\n",
                              at(std::max(0.0, bar.value - bar.deviation)), middle, end));
    picture.text(end + 6, middle + 4, label(bar), "start");
  }
  picture.add(fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", plot.left, plot.top, plot.bottom));
  picture.text((plot.left + plot.right) / 2, plot.bottom + 40, text.x_label, "middle", "", plot.right - plot.left);
  if (bars.empty()) picture.text(width / 2, plot.bottom, "no data", "middle", "soft");
  return picture.finish(height_around(plot));
}

}  // namespace regroup
