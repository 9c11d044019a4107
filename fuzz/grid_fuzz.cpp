// Any text is a grid with rows and columns, is a scale, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "regroup/core/error.h"
#include "regroup/reproduce/grid.h"

namespace regroup {

// The program's own are made when it is configured; here there are none.
const std::vector<BuiltIn>& built_in_grids() {
  static const std::vector<BuiltIn> none;
  return none;
}
const std::vector<BuiltIn>& built_in_scales() { return built_in_grids(); }

}  // namespace regroup

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const regroup::Grid grid = regroup::parse_grid(text, "fuzz");
    if (grid.blocks.empty() || grid.seeds < 1) std::abort();
    for (const regroup::GridBlock& block : grid.blocks)
      if (block.rows.empty() || block.columns.empty()) std::abort();
  } catch (const regroup::UserError&) {
  }
  try {
    regroup::parse_scale(text, "fuzz");
  } catch (const regroup::UserError&) {
  }
  return 0;
}
