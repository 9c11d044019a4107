#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/report/axis.h"
#include "regroup/report/charts.h"

namespace regroup {

/// Text as it can stand in XML: escaped, and without characters that XML does not have.
std::string xml_text(std::string_view text);

/// About how wide text is, in a font without serifs.
double text_width(std::string_view text, double font_size);

/// Text that is at most about that wide, cut with an ellipsis if need be. Its characters stay whole.
std::string cut_text(std::string_view text, double width, double font_size);

struct Rect {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// An SVG file that is drawn from back to front. Colours are the business of its style sheet: what is drawn names
/// classes.
class Picture {
 public:
  Picture(double width, std::string_view title);

  /// A piece of SVG; the caller has escaped what needs it.
  void add(std::string_view svg) { svg_ += svg; }

  /// Text, cut to `width` if that is given. Anchors are start, middle and end.
  void text(double x, double y, std::string_view text, std::string_view anchor, std::string_view style = "",
            double width = 0);

  /// Names with their colours, in as many rows as it takes, the first at `top`; returns where the last one is.
  double legend(double top, std::span<const std::string> names);

  /// Grid, ticks and labels of a plot.
  void axes(const Rect& plot, const Axis& x, const Axis& y, const ChartText& labels);

  std::string finish(double height) const;

 private:
  double width_;
  std::string title_;
  std::string svg_;
};

/// The class of the i-th line or histogram: colours that repeat are told apart by dashes.
std::string series_class(std::size_t index);

/// The room for a plot under `top`, with space at the left for the labels of its axis.
Rect plot_area(double width, double top, const Axis& y);

/// The height of a picture whose plot, with the labels of its axis, is the last thing in it.
double height_around(const Rect& plot);

}  // namespace regroup
