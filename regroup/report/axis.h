#pragma once

#include <string>
#include <vector>

#include "regroup/report/charts.h"

namespace regroup {

/// Values that a chart cannot show: not finite, or so large that differences overflow.
bool can_show(double value);

/// Makes a range wide enough for ticks that differ.
void widen(double& low, double& high);

/// A range with round ticks.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;
  std::vector<double> ticks;
  Unit unit = Unit::plain;

  /// Where a value lies: 0 at the low end, 1 at the high end.
  double place(double value) const { return (value - low) / (high - low); }
  std::string label(double tick) const;
};

/// Ends at `low` and `high`. `whole`: ticks at whole numbers only.
Axis fixed_axis(double low, double high, int max_ticks, bool whole);

/// Ends at the ticks around `low` and `high`, and at zero if that is near.
Axis round_axis(double low, double high, int max_ticks, bool whole, Unit unit);

}  // namespace regroup
