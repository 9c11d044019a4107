#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace regroup {

/// A share, and how far from it the true one may lie: its standard error.
struct UncertainRate {
  double value = 0, error = 0;
};

/// The noise rate as the course of a training shows it: `course` has, for each epoch, how often labels differ from the
/// clearest predictions so far; epochs to come are not a number. That falls below the truth as labels are memorised,
/// and is above it as long as the network errs. Memorising follows how often a label was seen, whatever the schedule:
/// after about so many turns the two are in balance. Nothing where no epoch is known.
std::optional<double> rate_of_course(std::span<const float> course, std::size_t turns);

/// Networks that learn from images, and heads on vectors, which are convex or nearly so and memorise at once.
inline constexpr std::size_t turns_of_network = 8, turns_of_head = 2;

/// How often the labels of samples that were not trained on differ from the clearest predictions for them, `clear`
/// samples. Not memorised, but few, and the network's errors count as wrong labels: so it is mostly too high.
UncertainRate rate_of_held_out(double differ, double clear);

/// Both together, each by its certainty; less certain where they contradict each other.
UncertainRate combined(const UncertainRate& first, const UncertainRate& second);

/// The rate of a course with its error; `clear` samples were compared with.
UncertainRate uncertain_rate_of_course(double rate, double clear);

}  // namespace regroup
