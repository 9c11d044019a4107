#include "regroup/train/time_left.h"

#include <algorithm>

namespace regroup {
namespace {

/// The gradients cost about twice what the predictions cost. A frozen epoch has only those of the classifier.
constexpr double learning_cost = 3;

bool is_frozen(const Pace& pace) { return pace.epoch < pace.frozen; }

}  // namespace

double thawed_seconds(const Pace& pace) {
  return is_frozen(pace) ? pace.waited + learning_cost * (pace.current - pace.waited) : pace.current;
}

double seconds_of_later_epochs(const Pace& pace) {
  const int later = std::max(0, pace.epochs - pace.epoch - 1);
  const int frozen = std::clamp(pace.frozen - pace.epoch - 1, 0, later);
  // The epoch before was measured as a whole, but counts only for epochs of its kind.
  const bool same_kind = pace.last > 0 && pace.epoch != pace.frozen;
  const double like_this = same_kind ? pace.last : pace.current;
  return frozen * like_this + (later - frozen) * (is_frozen(pace) ? thawed_seconds(pace) : like_this);
}

}  // namespace regroup
