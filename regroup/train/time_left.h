#pragma once

namespace regroup {

/// How fast a run is. Times are in seconds.
struct Pace {
  int epoch = 0, epochs = 0;  ///< the one under way counts from 0
  int frozen = 0;             ///< so many epochs at the beginning leave what was loaded as it is
  double last = 0;            ///< the epoch before the one under way; 0: there is none
  double current = 0;         ///< the epoch under way as a whole, of which
  double waited = 0;          ///< were spent waiting for batches
};

/// The epoch under way as it would be if the whole network learnt.
double thawed_seconds(const Pace& pace);

/// All epochs after the one under way.
double seconds_of_later_epochs(const Pace& pace);

}  // namespace regroup
