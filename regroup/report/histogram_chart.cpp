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
constexpr double kept_share = 0.995;
// The tail is cut where that makes the rest this much wider at least.
constexpr double worth_cutting = 1.25;

/// The outline of one histogram. Empty bins are left out, for they would colour the axis.
std::string outline(std::span<const std::size_t> counts, const Rect& plot, const Axis& y) {
  const double step = (plot.right - plot.left) / static_cast<double>(counts.size());
  std::string path;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double left = plot.left + step * static_cast<double>(i);
    const double top = plot.bottom - y.place(static_cast<double>(counts[i])) * (plot.bottom - plot.top);
    if (i == 0 || counts[i - 1] == 0) path += fmt::format("M{:.1f} {:.1f}", left, plot.bottom);
    path += fmt::format("V{:.1f}H{:.1f}", top, left + step);
    if (i + 1 == counts.size() || counts[i + 1] == 0) path += fmt::format("V{:.1f}", plot.bottom);
  }
  return path;
}

}  // namespace

Bins count_bins(std::span<const Histogram> histograms, int bins) {
  if (bins < 1) throw std::invalid_argument("count_bins: no bins");
  std::vector<double> all;
  bool has_more = false;
  for (const Histogram& histogram : histograms) {
    for (const double value : histogram.values) {
      if (can_show(value)) all.push_back(value);
      if (value > 0 && !can_show(value)) has_more = true;
    }
  }
  Bins result;
  if (!all.empty()) {
    const auto place = static_cast<std::ptrdiff_t>(std::ceil(kept_share * static_cast<double>(all.size() - 1)));
    std::nth_element(all.begin(), all.begin() + place, all.end());
    const double kept = all[static_cast<std::size_t>(place)];
    const auto [low, high] = std::ranges::minmax(all);
    result.is_cut = has_more || (kept > low && high - low > worth_cutting * (kept - low));
    result.low = low;
    result.high = result.is_cut && kept > low ? kept : high;
    // Losses start at zero even if the smallest is not quite that.
    if (low > 0 && low < 0.1 * result.high) result.low = 0;
    widen(result.low, result.high);
  }
  const double scale = bins / (result.high - result.low);
  for (const Histogram& histogram : histograms) {
    auto& counts = result.counts.emplace_back(static_cast<std::size_t>(bins));
    for (const double value : histogram.values) {
      if (std::isnan(value)) continue;
      ++counts[static_cast<std::size_t>(std::clamp((value - result.low) * scale, 0.0, bins - 1.0))];
    }
  }
  return result;
}

std::string histogram_chart(const ChartText& text, std::span<const Histogram> histograms, int bins) {
  const Bins counted = count_bins(histograms, bins);
  std::size_t most = 1;
  for (const auto& counts : counted.counts) most = std::max(most, std::ranges::max(counts));
  const Axis x = fixed_axis(counted.low, counted.high, 10, false);
  const Axis y = round_axis(0, static_cast<double>(most), 6, true, Unit::plain);

  Picture picture(width, text.title);
  std::vector<std::string> names;
  for (const Histogram& histogram : histograms) names.push_back(histogram.name);
  const Rect plot = plot_area(width, picture.legend(54, names) + 18, y);
  picture.axes(plot, x, y, text);
  for (std::size_t i = 0; i < histograms.size(); ++i) {
    picture.add(
        fmt::format("<path class=\"fill {}\" d=\"{}\"/>\n", series_class(i), outline(counted.counts[i], plot, y)));
  }
  if (counted.is_cut) {
    picture.text(plot.right, plot.bottom + 40,
                 fmt::format("last bin: {:.3g} and above", counted.high - counted.width()), "end", "soft small");
  }
  return picture.finish(height_around(plot));
}

}  // namespace regroup
