#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "regroup/report/axis.h"
#include "regroup/report/charts.h"
#include "regroup/report/svg.h"

namespace regroup {
namespace {

constexpr double width = 720;
constexpr std::size_t most_dots = 25;  // of a line whose points are shown

struct Range {
  double low = INFINITY;
  double high = -INFINITY;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Shown {
  Range x;
  Range y;
  bool is_empty = false;
  bool whole = true;  // all x are whole numbers
};

bool is_shown(const Series& line, std::size_t i) { return can_show(line.x[i]) && can_show(line.y[i]); }

Shown measure(std::span<const Series> series) {
  Shown shown;
  for (const Series& line : series) {
    if (line.x.size() != line.y.size()) throw std::invalid_argument("line_chart: x and y differ in size");
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!is_shown(line, i)) continue;
      shown.x.add(line.x[i]);
      shown.y.add(line.y[i]);
      if (line.x[i] != std::floor(line.x[i])) shown.whole = false;
    }
  }
  if (shown.x.low > shown.x.high) return {{0, 1}, {0, 1}, true, true};
  // One epoch is a point in the middle.
  if (shown.x.low == shown.x.high) {
    shown.x.low -= 1;
    shown.x.high += 1;
  }
  return shown;
}

void draw(Picture& picture, const Series& line, std::size_t index, const Rect& plot, const Axis& x, const Axis& y) {
  std::string path;
  std::string dots;
  bool is_drawing = false;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!is_shown(line, i)) {
      is_drawing = false;
      continue;
    }
    const double at_x = plot.left + x.place(line.x[i]) * (plot.right - plot.left);
    const double at_y = plot.bottom - y.place(line.y[i]) * (plot.bottom - plot.top);
    path += fmt::format("{}{:.1f} {:.1f}", is_drawing ? 'L' : 'M', at_x, at_y);
    // A point between two gaps has no line that would show it.
    const bool is_alone = !is_drawing && (i + 1 == line.x.size() || !is_shown(line, i + 1));
    if (is_alone || line.x.size() <= most_dots) {
      dots += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>\n", series_class(index), at_x,
                          at_y);
    }
    is_drawing = true;
  }
  if (path.empty()) return;
  picture.add(fmt::format("<path class=\"line {}\" d=\"{}\"/>\n{}", series_class(index), path, dots));
}

}  // namespace

std::string line_chart(const ChartText& text, std::span<const Series> series, Unit y_unit) {
  const Shown shown = measure(series);
  const Axis x = fixed_axis(shown.x.low, shown.x.high, 10, shown.whole);
  const Axis y = round_axis(shown.y.low, shown.y.high, 7, false, y_unit);

  Picture picture(width, text.title);
  std::vector<std::string> names;
  for (const Series& line : series) names.push_back(line.name);
  const Rect plot = plot_area(width, picture.legend(54, names) + 18, y);
  picture.axes(plot, x, y, text);
  for (std::size_t i = 0; i < series.size(); ++i) draw(picture, series[i], i, plot, x, y);
  if (shown.is_empty)
    picture.text((plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2, "no data", "middle", "soft");
  return picture.finish(height_around(plot));
}

}  // namespace regroup
