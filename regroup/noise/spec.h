#pragma once

#include <span>
#include <string>
#include <string_view>

namespace regroup {

enum class NoiseKind { none, symmetric, symmetric_all, pairflip, instance, matrix };

/// Which noise, as a user writes it: `pairflip:0.45`, `matrix:confusions.csv`, `none`.
struct NoiseSpec {
  NoiseKind kind = NoiseKind::none;
  double rate = 0;   ///< nominal; of the kinds that take a RATE
  std::string file;  ///< of the kind that takes a FILE
};

enum class NoiseArgument { nothing, rate, file };

struct NoiseKindInfo {
  NoiseKind kind;
  std::string_view name;
  NoiseArgument argument;
  std::string_view description;

  /// What a user writes, for a help text: `pairflip:RATE`.
  std::string usage() const;
};

/// All kinds of noise.
std::span<const NoiseKindInfo> noise_kinds();

NoiseSpec parse_noise(std::string_view text);

}  // namespace regroup
