#pragma once

#include <cstdint>
#include <span>

namespace regroup {

inline constexpr std::uint64_t hash_start = 0xcbf29ce484222325U;

/// 64 bits of FNV-1a, to notice that bytes have changed. `before` is the hash of the bytes before these.
inline std::uint64_t hash_of(std::span<const std::uint8_t> bytes, std::uint64_t before = hash_start) {
  for (const std::uint8_t byte : bytes) before = (before ^ byte) * 0x100000001b3U;
  return before;
}

}  // namespace regroup
