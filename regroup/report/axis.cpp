#include "regroup/report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace regroup {
namespace {

constexpr double too_large = 1e100;
constexpr double too_small = 1e-100;

/// The next of 1, 2, 5, 10, 20, ... that is not smaller.
double round_up(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

void add_ticks(Axis& axis) {
  // Few and far from the limits: an axis is never narrower than a billionth of its ends.
  const auto first = std::llround(std::ceil(axis.low / axis.step - 1e-6));
  const auto last = std::llround(std::floor(axis.high / axis.step + 1e-6));
  for (auto i = first; i <= last; ++i) axis.ticks.push_back(static_cast<double>(i) * axis.step);
}

std::string with_commas(std::string digits) {
  const auto point = std::min(digits.find('.'), digits.size());
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = point; at > start + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

}  // namespace

void widen(double& low, double& high) {
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > std::max(size * 1e-9, too_small)) return;
  const double margin = size > too_small ? 0.1 * size : 0.5;
  low -= margin;
  high += margin;
}

bool can_show(double value) { return std::abs(value) < too_large; }

std::string Axis::label(double tick) const {
  const double scale = unit == Unit::percent ? 100 : 1;
  const double shown = tick * scale;
  const char* const sign = unit == Unit::percent ? "%" : "";
  const double size = std::max(std::abs(low), std::abs(high)) * scale;
  if (size >= 1e7 || size < 1e-3) return fmt::format("{:.3g}{}", shown, sign);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step * scale) + 1e-9)));
  return with_commas(fmt::format("{:.{}f}", shown, decimals)) + sign;
}

Axis fixed_axis(double low, double high, int max_ticks, bool whole) {
  Axis axis;
  widen(low, high);
  axis.low = low;
  axis.high = high;
  axis.step = round_up((high - low) / max_ticks);
  if (whole) axis.step = std::max(axis.step, 1.0);
  add_ticks(axis);
  return axis;
}

Axis round_axis(double low, double high, int max_ticks, bool whole, Unit unit) {
  Axis axis;
  axis.unit = unit;
  widen(low, high);
  if (low > 0 && low < 0.35 * high) low = 0;
  axis.step = round_up((high - low) / max_ticks);
  if (whole) axis.step = std::max(axis.step, 1.0);
  axis.low = std::floor(low / axis.step + 1e-6) * axis.step;
  axis.high = std::ceil(high / axis.step - 1e-6) * axis.step;
  add_ticks(axis);
  return axis;
}

}  // namespace regroup
