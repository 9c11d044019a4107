// Any text is a TOML table that nests no deeper than the stack, and maybe a list of settings, or a UserError.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "regroup/core/error.h"
#include "regroup/io/toml_file.h"
#include "regroup/train/run_settings.h"

namespace {

int depth_of(const toml::node& node) {
  int deepest = 0;
  if (const auto* table = node.as_table())
    for (const auto& [key, value] : *table) deepest = std::max(deepest, depth_of(value));
  if (const auto* array = node.as_array())
    for (const toml::node& value : *array) deepest = std::max(deepest, depth_of(value));
  return deepest + 1;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Every bracket may hold a key of as many dots, under a heading of as many.
  constexpr int most = (regroup::max_toml_depth + 2) * (regroup::max_toml_depth + 2);
  try {
    if (depth_of(regroup::parse_toml(text, "fuzz")) > most) std::abort();
    for (const regroup::GivenValue& given : regroup::parse_config(text, "fuzz"))
      if (given.source.find(given.name) == std::string::npos) std::abort();
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
