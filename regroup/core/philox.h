#pragma once

#include <cstddef>
#include <cstdint>

namespace regroup {

struct PhiloxCounter {
  std::uint32_t block, index, epoch, purpose;
};

namespace baseline {
/// Philox4x32-7 (Salmon et al. 2011) on eight counters at a time, `counter.block` counting up. Writes 32 words a
/// batch: word 0 of the eight results, then word 1, 2 and 3.
void philox_batches(PhiloxCounter counter, std::uint64_t key, std::size_t batches, std::uint32_t* out);
}  // namespace baseline
namespace avx2 {
void philox_batches(PhiloxCounter counter, std::uint64_t key, std::size_t batches, std::uint32_t* out);
}  // namespace avx2
namespace avx512 {
void philox_batches(PhiloxCounter counter, std::uint64_t key, std::size_t batches, std::uint32_t* out);
}  // namespace avx512

}  // namespace regroup
