// Any text names the predictors of a run, which are written and read again as they are, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "regroup/core/error.h"
#include "regroup/train/saved_predictors.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const regroup::SavedPredictors predictors =
        regroup::parse_predictors(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    const std::string text = regroup::predictors_text(predictors);
    if (regroup::predictors_text(regroup::parse_predictors(text, "again")) != text) std::abort();
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
