#pragma once

#include <chrono>

namespace regroup {

/// Seconds on a clock that only goes forward; differences mean something.
inline double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace regroup
