#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace regroup {

// Charts are whole SVG files as text, without scripts and fonts of their own. They follow the viewer's choice of light
// or dark, their colours can be told apart by the colour-blind, and several fit into one HTML page.

struct ChartText {
  std::string title;
  std::string x_label;
  std::string y_label;
};

/// A line; y that is not a number is a gap.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

enum class Unit { plain, percent };  ///< percent: 0.93 is shown as 93%

/// Lines over a common axis, for instance accuracy by epoch.
std::string line_chart(const ChartText& text, std::span<const Series> series, Unit y_unit = Unit::plain);

struct Histogram {
  std::string name;
  std::vector<double> values;
};

/// What a histogram chart shows: each histogram counted over the same bins of one width between `low` and `high`.
struct Bins {
  double low = 0;
  double high = 1;
  bool is_cut = false;  ///< the last bin holds everything above as well
  std::vector<std::vector<std::size_t>> counts;

  double width() const { return (high - low) / static_cast<double>(counts.front().size()); }
};

/// Counts values that are numbers. A long tail at the right, beyond 99.5 % of all values, goes into the last bin.
Bins count_bins(std::span<const Histogram> histograms, int bins);

/// Histograms over each other, for instance the losses of clean and of wrong labels.
std::string histogram_chart(const ChartText& text, std::span<const Histogram> histograms, int bins = 60);

struct Bar {
  std::string name;
  double value = 0;
  double deviation = 0;  ///< drawn as a whisker, unless it is 0
};

/// Bars from zero to the right, one under the other, for instance the minutes that each method takes. A value that is
/// not a number has its name and no bar.
std::string bar_chart(const ChartText& text, std::span<const Bar> bars);

/// How often images of each class (rows) were taken for each class (columns), as shares of the row. `counts` has a
/// place for each pair of classes, row by row; the shares are printed up to 20 classes.
std::string confusion_chart(const ChartText& text, std::span<const std::string> class_names,
                            std::span<const double> counts);

}  // namespace regroup
