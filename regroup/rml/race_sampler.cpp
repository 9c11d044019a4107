#include "regroup/rml/race_sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "regroup/core/simd.h"
#include "regroup/rml/groups.h"
#include "regroup/rml/race_kernels.h"

namespace regroup {
namespace {

const auto race_bytes = REGROUP_BEST_KERNEL(race_bytes);
const auto group_sizes = REGROUP_BEST_KERNEL(group_sizes);
const auto group_sums_of = REGROUP_BEST_KERNEL(group_sums);

// One random batch is 128 bytes.
constexpr std::size_t padding = 4 * Stream::batch_words;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Keys between the bounds are spread over so many buckets.
constexpr std::uint8_t buckets = 64;

/// 256 times the probability that a key is up to exp(log_tau), rounded down to a byte.
std::uint8_t byte_threshold(double log_tau, double exponent) {
  const double probability = -std::expm1(-std::exp(log_tau - exponent));
  return static_cast<std::uint8_t>(std::min(256 * probability, 255.0));
}

/// log(256 / (256 - byte)) and 1 / (256 - byte).
struct LogTable {
  std::array<double, 256> log;
  std::array<double, 256> inverse;
};

const LogTable table = [] {
  LogTable made;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    made.inverse[byte] = 1 / (256 - static_cast<double>(byte));
    made.log[byte] = std::log(256 * made.inverse[byte]);
  }
  return made;
}();

/// -log(1 - u) for u = (byte + fraction) / 256, never 0 and with full relative precision. The part that the byte leaves
/// is -log(1 - x) with x = fraction / (256 - byte), and that is 2 atanh(x / (2 - x)); five terms suffice while x is
/// small.
double exponential(std::uint8_t byte, std::uint64_t bits) {
  const double x = static_cast<double>(bits >> 1) * 0x1p-63 * table.inverse[byte];
  if (byte >= 240) return table.log[byte] - std::log1p(-x);
  const double z = x / (2 - x);
  const double square = z * z;
  const double series = 1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9))));
  return std::max(table.log[byte] + 2 * z * series, std::numeric_limits<double>::min());
}

}  // namespace

RaceSampler::RaceSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options,
                         double margin)
    : groups_(groups),
      per_group_(static_cast<std::uint32_t>(per_group)),
      samples_(static_cast<std::uint32_t>(losses.size())),
      options_(options) {
  const std::size_t padded = (losses.size() + padding - 1) / padding * padding;
  losses_.assign(padded, 0);
  sure_.assign(padded, 0);
  maybe_.assign(padded, 0);

  // group_sums adds up to 1,024 floats before it goes on in doubles.
  if (*std::max_element(losses.begin(), losses.end()) > 1e35F) scale_ = 0x1p-12F;
  std::vector<double> exponents(losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    losses_[i] = losses[i] * scale_;
    exponents[i] = processed_loss(losses[i], options);
  }

  const double count = static_cast<double>(groups) * per_group;
  const RaceEnd end = race_end(exponents, count);
  const double slack = margin * end.spread + 1;
  const double log_low = count - slack > 0 ? race_end(exponents, count - slack).log_tau : -infinity;
  const double log_high = count + slack < samples_ ? race_end(exponents, count + slack).log_tau : infinity;
  low_key_ = std::exp(log_low - end.log_tau);
  high_key_ = std::exp(log_high - end.log_tau);
  buckets_per_key_ = buckets / (std::min(high_key_, 2.0) - low_key_);

  inverse_weights_.resize(losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    inverse_weights_[i] = std::exp(exponents[i] - end.log_tau);
    sure_[i] = byte_threshold(log_low, exponents[i]);
    maybe_[i] = byte_threshold(log_high, exponents[i]);
  }
}

void RaceSampler::draw(Stream& stream, DrawScratch& scratch) const {
  const std::size_t padded = losses_.size();
  scratch.random.resize(2 * padded / 4);
  stream.fill(scratch.random);
  const auto* random = reinterpret_cast<const std::uint8_t*>(scratch.random.data());
  scratch.group_of.resize(padded);
  scratch.open.resize(padded);
  race_bytes(random, random + padded, sure_.data(), maybe_.data(), groups_, padded, scratch.group_of.data(),
             scratch.open.data());
  scratch.sizes.fill(0);
  group_sizes(scratch.group_of.data(), padded, groups_, scratch.sizes.data());

  find_open(stream, scratch);
  if (!settle_open(scratch)) settle_all(stream, scratch);
  balance_groups(scratch.sizes, groups_, per_group_,
                 [&]() -> std::uint8_t& { return scratch.group_of[stream.below(samples_)]; });
}

/// Lists the samples that their byte leaves open, and computes their keys.
void RaceSampler::find_open(Stream& stream, DrawScratch& scratch) const {
  auto& open = scratch.open_positions;
  open.clear();
  for (std::uint32_t begin = 0; begin < losses_.size(); begin += 8) {
    std::uint64_t flags = 0;
    std::memcpy(&flags, scratch.open.data() + begin, sizeof flags);
    for (; flags != 0; flags &= flags - 1)
      open.push_back(begin + static_cast<std::uint32_t>(std::countr_zero(flags)) / 8);
  }
  // The padding at the end is no sample.
  while (!open.empty() && open.back() >= samples_) open.pop_back();

  const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.random.data());
  scratch.open_bits.resize(open.size());
  scratch.keys.resize(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    scratch.open_bits[i] = stream.bits64();
    scratch.keys[i] = exponential(bytes[open[i]], scratch.open_bits[i]) * inverse_weights_[open[i]];
  }
}

/// Draws the open samples with the smallest keys; false where the bounds do not hold.
bool RaceSampler::settle_open(DrawScratch& scratch) const {
  std::int64_t missing = static_cast<std::int64_t>(groups_) * per_group_;
  for (int group = 0; group < groups_; ++group) missing -= scratch.sizes[static_cast<std::size_t>(group)];

  // Keys are sorted into buckets between the bounds; bucket 0 is up to low_key_, the last one above high_key_.
  std::array<std::uint32_t, buckets + 2> sizes{};
  const auto& keys = scratch.keys;
  scratch.bucket_of.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const double inside = std::min(1 + (keys[i] - low_key_) * buckets_per_key_, static_cast<double>(buckets));
    const auto bucket = static_cast<std::uint8_t>(keys[i] <= low_key_ ? 0 : keys[i] > high_key_ ? buckets + 1 : inside);
    scratch.bucket_of[i] = bucket;
    ++sizes[bucket];
  }
  const auto in_bounds = static_cast<std::int64_t>(keys.size()) - sizes[buckets + 1];
  if (missing < sizes[0] || missing > in_bounds) return false;

  // Whole buckets are drawn while they fit; of the next one, the smallest keys.
  std::uint8_t cut = 0;
  while (cut <= buckets && missing >= sizes[cut]) missing -= sizes[cut++];
  scratch.cut_keys.clear();
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (scratch.bucket_of[i] == cut) scratch.cut_keys.push_back(keys[i]);
  double cut_key = -1;
  if (missing > 0) {
    const auto last = scratch.cut_keys.begin() + (missing - 1);
    std::nth_element(scratch.cut_keys.begin(), last, scratch.cut_keys.end());
    cut_key = *last;
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool drawn = scratch.bucket_of[i] < cut || (scratch.bucket_of[i] == cut && keys[i] <= cut_key);
    join_group(scratch, scratch.open_positions[i], drawn);
  }
  return true;
}

/// The race with all keys, of the same random bits as far as they have been used.
void RaceSampler::settle_all(Stream& stream, DrawScratch& scratch) const {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.random.data());
  std::vector<std::uint64_t> bits(samples_);
  for (auto& word : bits) word = stream.bits64();
  for (std::size_t i = 0; i < scratch.keys.size(); ++i) bits[scratch.open_positions[i]] = scratch.open_bits[i];
  std::vector<std::pair<double, std::uint32_t>> keys(samples_);
  for (std::uint32_t i = 0; i < samples_; ++i) {
    // Logarithms of the keys, since weights may be too far apart for doubles.
    const double loss = static_cast<double>(losses_[i]) / static_cast<double>(scale_);
    keys[i] = {std::log(exponential(bytes[i], bits[i])) + processed_loss(loss, options_), i};
  }
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(groups_) * per_group_;
  std::nth_element(keys.begin(), end - 1, keys.end());
  scratch.sizes.fill(0);
  for (auto key = keys.begin(); key != keys.end(); ++key) join_group(scratch, key->second, key < end);
}

/// Puts a sample into its random group, or into none.
void RaceSampler::join_group(DrawScratch& scratch, std::uint32_t position, bool drawn) const {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.random.data());
  const std::uint8_t group = drawn ? group_of_byte(bytes[losses_.size() + position], groups_) : no_group;
  scratch.group_of[position] = group;
  scratch.sizes[group] += drawn;
}

void RaceSampler::group_sums(const DrawScratch& scratch, std::span<double> sums) const {
  group_sums_of(scratch.group_of.data(), losses_.data(), losses_.size(), groups_, sums.data());
  for (double& sum : sums) sum /= static_cast<double>(scale_);
}

std::vector<Drawn> RaceSampler::drawn(const DrawScratch& scratch) const {
  std::vector<Drawn> result;
  for (std::uint32_t i = 0; i < samples_; ++i)
    if (scratch.group_of[i] != no_group) result.push_back({i, scratch.group_of[i]});
  return result;
}

}  // namespace regroup
