// Any text is a transition matrix whose rows sum to 1, or a UserError.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "regroup/core/error.h"
#include "regroup/noise/transition_csv.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const regroup::TransitionMatrix matrix = regroup::parse_transition(text, "fuzz", 3);
    for (int from = 0; from < 3; ++from) {
      double sum = 0;
      for (const double entry : matrix.row(from)) {
        if (!(entry >= 0)) std::abort();
        sum += entry;
      }
      if (std::abs(sum - 1) > 1e-9) std::abort();
    }
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
