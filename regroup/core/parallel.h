#pragma once

#include <cstddef>
#include <functional>

namespace regroup {

/// The number of threads that this process may run at once, at least 1.
int hardware_threads();

/// Calls body(begin, end) for consecutive chunks of [0, count), on at most `threads` threads. A chunk has `grain` items
/// (the last may have fewer); threads take the next chunk when they are done with one, so the order is not fixed.
/// Everything that the body writes is visible when the call returns. The first exception of a body is rethrown, and no
/// further chunk starts.
void parallel_for(std::size_t count, std::size_t grain, int threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body);

}  // namespace regroup
