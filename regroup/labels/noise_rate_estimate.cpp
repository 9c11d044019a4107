#include "regroup/labels/noise_rate_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace regroup {
namespace {

// How far the two estimates were from the truth, luck apart, in trainings on CIFAR-10, Fashion-MNIST and photos by
// cross-entropy and RML of 6 to 40 epochs.
constexpr double course_error = 0.025, held_out_error = 0.06;

double luck_of(double rate, double count) { return rate * (1 - rate) / std::max(count, 1.0); }

}  // namespace

std::optional<double> rate_of_course(std::span<const float> course, std::size_t turns) {
  std::size_t known = 0;
  while (known < course.size() && !std::isnan(course[known])) ++known;
  if (known == 0) return std::nullopt;
  const std::size_t middle = std::min(turns, known) - 1;
  if (middle == 0 || middle + 1 >= known) return static_cast<double>(course[middle]);
  std::array around{course[middle - 1], course[middle], course[middle + 1]};
  std::ranges::sort(around);
  return static_cast<double>(around[1]);
}

UncertainRate uncertain_rate_of_course(double rate, double clear) {
  return {rate, std::sqrt(course_error * course_error + luck_of(rate, clear))};
}

UncertainRate rate_of_held_out(double differ, double clear) {
  return {differ, std::sqrt(held_out_error * held_out_error + luck_of(differ, clear))};
}

UncertainRate combined(const UncertainRate& first, const UncertainRate& second) {
  const double a = first.error * first.error, b = second.error * second.error;
  if (a + b <= 0) return first;
  const double difference = first.value - second.value;
  const double contradiction = std::max(1.0, difference * difference / (a + b));
  return {(b * first.value + a * second.value) / (a + b), std::sqrt(a * b / (a + b) * contradiction)};
}

}  // namespace regroup
