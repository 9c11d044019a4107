#include "regroup/train/duration.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "regroup/core/error.h"

namespace regroup {

double parse_duration(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : -1;
  if (error != std::errc() || factor < 0 || !(value > 0) || std::isinf(value))
    throw UserError(fmt::format("'{}' is not a duration; write 30s, 5m or 1h", text));
  return value * factor;
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  const long minutes = std::lround(seconds / 60);
  if (minutes < 60) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace regroup
