// Any text is the progress of a run, which is written and read again as it is, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "regroup/core/error.h"
#include "regroup/train/progress.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const regroup::RunProgress progress =
        regroup::parse_progress(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    const std::string text = regroup::progress_text(progress);
    if (regroup::progress_text(regroup::parse_progress(text, "again")) != text) std::abort();
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
