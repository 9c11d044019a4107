#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace regroup {

/// What random numbers are for. Part of a stream's key, so that two uses never share numbers; a value is never reused.
enum class Purpose : std::uint32_t {
  selection = 1,    ///< which samples an RML estimate draws, and their groups
  label_noise = 2,  ///< which labels are flipped, and to what
  projection = 3,   ///< the random directions of instance-dependent noise
  synthetic = 4,    ///< made-up data in tests and benchmarks
  split = 5,        ///< which samples are for validation, or for test where the data has no test part
  subset = 6,       ///< which samples a limited run, or an epoch that is a subset, trains on
  order = 7,        ///< the order of the samples in an epoch
  augment = 8,      ///< how an image is shifted and mirrored
  weights = 9,      ///< the weights that a network starts from
  bootstrap = 10,   ///< which seeds and test images an interval is resampled from
  mixing = 11,      ///< which images are mixed, and in what shares
  distort = 12,     ///< which part of a photo is shown, and how its colours are changed
};

/// A stream of random numbers. The stream is its key: the same seed, purpose, epoch and index give the same numbers on
/// any thread and machine, and different keys give independent streams. Philox4x32-7; satisfies
/// UniformRandomBitGenerator.
class Stream {
 public:
  using result_type = std::uint32_t;

  Stream(std::uint64_t seed, Purpose purpose, std::uint32_t epoch = 0, std::uint32_t index = 0)
      : seed_(seed), purpose_(static_cast<std::uint32_t>(purpose)), epoch_(epoch), index_(index) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    if (used_ == batch_.size()) refill();
    return batch_[used_++];
  }

  std::uint64_t bits64() {
    const std::uint64_t high = (*this)();
    return high << 32 | (*this)();
  }

  /// Uniform in [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

  /// Uniform over 0 .. count - 1; count is at least 1. Exact: no value is favoured.
  std::uint32_t below(std::uint32_t count) {
    // Lemire's method: the high word of a product, rejecting the few low words that would favour some values.
    std::uint64_t product = static_cast<std::uint64_t>((*this)()) * count;
    if (static_cast<std::uint32_t>(product) < count) {
      const std::uint32_t bias = -count % count;
      while (static_cast<std::uint32_t>(product) < bias) product = static_cast<std::uint64_t>((*this)()) * count;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// Normal with mean 0 and deviation 1.
  double normal();

  /// Fills whole batches from here on; what is left of the current batch is dropped. The size is rounded up to
  /// `batch_words`, so the span must have room for that.
  void fill(std::span<std::uint32_t> words);

  /// The numbers come in batches of eight Philox blocks, word 0 of the eight first, then word 1, 2 and 3: the order in
  /// which a vector unit makes them.
  static constexpr std::size_t batch_words = 32;

 private:
  void refill();

  std::uint64_t seed_;
  std::uint32_t purpose_;
  std::uint32_t epoch_;
  std::uint32_t index_;
  std::uint32_t block_ = 0;
  std::size_t used_ = batch_words;
  alignas(32) std::array<std::uint32_t, batch_words> batch_;
};

}  // namespace regroup
