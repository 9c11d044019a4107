#pragma once

namespace regroup {

/// The bytes of memory that this process may have: the machine's, or the limit of its container; infinite where nobody
/// knows.
double physical_memory();

}  // namespace regroup
