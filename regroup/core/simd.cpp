#include "regroup/core/simd.h"

#include <cstdlib>
#include <string_view>

namespace regroup {
namespace {

enum class Level { baseline, avx2, avx2_fma, avx512_bf16 };

Level find_level() {
#if defined(__x86_64__)
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of ours changes the environment
  const char* const asked = std::getenv("REGROUP_CPU");
  const std::string_view most = asked != nullptr ? asked : "";
  if (most == "baseline" || !__builtin_cpu_supports("avx2")) return Level::baseline;
  if (!__builtin_cpu_supports("fma")) return Level::avx2;
  if (most == "avx2" || !__builtin_cpu_supports("avx512bf16")) return Level::avx2_fma;
  return Level::avx512_bf16;
#else
  return Level::baseline;
#endif
}

bool has(Level level) {
  static const Level found = find_level();  // kernels are chosen before main begins
  return found >= level;
}

}  // namespace

bool cpu_has_avx2() { return has(Level::avx2); }
bool cpu_has_fma() { return has(Level::avx2_fma); }
bool cpu_has_avx512_bf16() { return has(Level::avx512_bf16); }

}  // namespace regroup
