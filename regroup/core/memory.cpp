#include "regroup/core/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace regroup {

double physical_memory() {
  const auto bytes_of_machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  double limit = bytes_of_machine > 0 ? bytes_of_machine : std::numeric_limits<double>::infinity();
  // Says `max` where there is no limit, which is no number.
  std::ifstream container("/sys/fs/cgroup/memory.max");
  if (double bytes = 0; container >> bytes && bytes > 0) limit = std::min(limit, bytes);
  return limit;
}

}  // namespace regroup
