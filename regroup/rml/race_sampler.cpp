#include "regroup/rml/race_sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "regroup/core/simd.h"
#include "regroup/rml/draw_kernels.h"

namespace regroup {
namespace {

const auto race_bytes = REGROUP_WIDEST_KERNEL(race_bytes);
const auto compact = REGROUP_WIDEST_KERNEL(compact);

// One random batch is 128 bytes.
constexpr std::size_t padding = 4 * Stream::batch_words;

// So many samples get their random bytes and are decided at a time, while all of it is in the nearest cache.
constexpr std::size_t tile = 1024;

/// Above this many expected arrivals a sample is heavy: it is late with probability exp(-4) or less.
constexpr double heavy_arrivals = 4;

/// The logarithm of the arrival time of a sample with weight exp(-exponent), for a uniform u in [0, 1).
double log_time(double u, double exponent) {
  return std::log(std::max(-std::log1p(-u), std::numeric_limits<double>::min())) + exponent;
}

using Mask = std::vector<std::uint32_t>;

bool has(const Mask& mask, std::uint32_t position) { return (mask[position / 32] >> position % 32 & 1) != 0; }
void set(Mask& mask, std::uint32_t position) { mask[position / 32] |= std::uint32_t{1} << position % 32; }
void clear(Mask& mask, std::uint32_t position) { mask[position / 32] &= ~(std::uint32_t{1} << position % 32); }

/// Calls use(position) for every bit that is set, in order.
template <class Use>
void for_each_set(const Mask& mask, Use use) {
  for (std::uint32_t block = 0; block < mask.size(); ++block)
    for (std::uint32_t bits = mask[block]; bits != 0; bits &= bits - 1)
      use(32 * block + static_cast<std::uint32_t>(std::countr_zero(bits)));
}

const std::uint8_t* bytes_of(const DrawScratch& scratch) {
  return reinterpret_cast<const std::uint8_t*>(scratch.random.data());
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 1) * 0x1p-63; }

}  // namespace

RaceSampler::RaceSampler(std::span<const float> losses, std::size_t count, const SelectionOptions& options,
                         const RaceTuning& tuning)
    : count_(static_cast<std::int64_t>(count)),
      samples_(static_cast<std::uint32_t>(losses.size())),
      options_(options),
      most_tries_(static_cast<std::int64_t>(tuning.tries * static_cast<double>(losses.size()))) {
  const std::size_t padded = (losses.size() + padding - 1) / padding * padding;
  losses_.assign(padded, 0);
  sure_.assign(padded, 0);
  heavy_.assign(padded, 0);

  std::vector<double> exponents(losses.size());
  for (std::uint32_t i = 0; i < samples_; ++i) {
    losses_[i] = losses[i];
    exponents[i] = exponent(i);
  }

  const auto all = static_cast<double>(count);
  const double early = all - tuning.margin * race_end(exponents, all).spread - 1;
  log_stop_ = race_end(exponents, std::clamp(early, all / 8, all)).log_tau;
  std::vector<double> light(losses.size());
  rest_.resize(losses.size());
  for (std::uint32_t i = 0; i < samples_; ++i) {
    const double expected = arrivals(i);
    const double probability = -256 * std::expm1(-expected);
    sure_[i] = static_cast<std::uint8_t>(std::min(probability, 255.0));
    rest_[i] = probability - sure_[i];
    heavy_[i] = expected > heavy_arrivals ? 255 : 0;
    light[i] = heavy_[i] != 0 ? 0 : expected;
    light_sum_ += light[i];
  }
  if (light_sum_ > 0) light_ = AliasTable(light);
}

double RaceSampler::exponent(std::uint32_t position) const { return processed_loss(losses_[position], options_); }

double RaceSampler::arrivals(std::uint32_t position) const { return std::exp(log_stop_ - exponent(position)); }

void RaceSampler::draw(Stream& stream, DrawScratch& scratch) const {
  const std::size_t padded = losses_.size();
  scratch.random.resize(padded / 4);
  scratch.arrived.resize(padded / 32);
  scratch.look.resize(padded / 32);
  std::int64_t missing = count_;
  for (std::size_t begin = 0; begin < padded; begin += tile) {
    const std::size_t count = std::min(tile, padded - begin);
    const auto words = std::span(scratch.random).subspan(begin / 4, count / 4);
    stream.fill(words);
    missing -= race_bytes(bytes_of(scratch) + begin, sure_.data() + begin, heavy_.data() + begin, count,
                          scratch.arrived.data() + begin / 32, scratch.look.data() + begin / 32);
  }
  missing -= look_closer(stream, scratch);
  if (missing < 0) keep_the_first(stream, scratch, -missing);
  if (missing > 0) missing = draw_one_by_one(stream, scratch, missing);
  if (missing > 0) race_on(stream, scratch, missing);

  scratch.losses.resize(draw_room(static_cast<std::size_t>(count_)));
  compact(losses_.data(), scratch.arrived.data(), padded, scratch.losses.data());
}

/// Decides the ties, and lists the heavy samples that are late. Gives how many have arrived after all.
std::int64_t RaceSampler::look_closer(Stream& stream, DrawScratch& scratch) const {
  std::int64_t more = 0;
  scratch.ties.clear();
  scratch.late.clear();
  for_each_set(scratch.look, [&](std::uint32_t position) {
    if (position >= samples_) return;  // the padding is no sample
    bool arrived = false;
    if (bytes_of(scratch)[position] == sure_[position]) {
      const std::uint64_t bits = stream.bits64();
      scratch.ties.emplace_back(position, bits);
      arrived = unit(bits) < rest_[position];
    }
    if (arrived) {
      set(scratch.arrived, position);
      ++more;
    } else if (heavy_[position] != 0) {
      scratch.late.emplace_back(arrivals(position), position);
    }
  });
  return more;
}

/// Too many have arrived, by `surplus`: computes when, from the random bits that decided about it and new ones after
/// them, and sends back those that were last. As -log(1 - u) is convex, a sample that arrives by the stop with
/// probability p was there at u / p of that time at the latest. So most bytes tell that a sample was early, and if
/// enough of the others were late, it does not matter when exactly.
void RaceSampler::keep_the_first(Stream& stream, DrawScratch& scratch, std::int64_t surplus) const {
  constexpr double early = 0.9;  // of the time until the stop
  scratch.keys.clear();
  std::int64_t late = 0;
  const auto look_at = [&](bool at_early_ones) {
    auto tie = scratch.ties.begin();
    for_each_set(scratch.arrived, [&](std::uint32_t position) {
      const std::uint32_t byte = bytes_of(scratch)[position];
      if ((byte + 1 <= early * (sure_[position] + rest_[position])) != at_early_ones) return;
      while (tie != scratch.ties.end() && tie->first < position) ++tie;
      const bool tied = tie != scratch.ties.end() && tie->first == position;
      const double u = (byte + unit(tied ? tie->second : stream.bits64())) / 256;
      scratch.keys.emplace_back(log_time(u, exponent(position)), position);
      late += scratch.keys.back().first > log_stop_ + std::log(early);
    });
  };
  look_at(false);
  if (late < surplus) look_at(true);
  const auto last = scratch.keys.end() - surplus;
  std::nth_element(scratch.keys.begin(), last, scratch.keys.end());
  for (auto key = last; key != scratch.keys.end(); ++key) clear(scratch.arrived, key->second);
}

/// Draws who is missing, as long as that is not too tedious. Gives how many still are.
std::int64_t RaceSampler::draw_one_by_one(Stream& stream, DrawScratch& scratch, std::int64_t missing) const {
  auto& late = scratch.late;
  double late_sum = 0;
  for (const auto& [arrivals, position] : late) late_sum += arrivals;

  std::int64_t tries = most_tries_;
  constexpr std::size_t most = 64;
  std::array<std::uint32_t, 2 * most> words;
  std::array<std::uint32_t, most> picked;
  while (missing > 0 && tries > 0 && light_sum_ + late_sum > 0) {
    // A third more than is missing, in whole random batches.
    const auto wanted = static_cast<std::size_t>(missing) * 4 / 3;
    const std::size_t batch = std::min(most, (wanted / 16 + 1) * 16);
    // How many light samples come before the next late one.
    const double late_odds = late_sum / (light_sum_ + late_sum);
    std::size_t light = batch;
    if (late_sum > 0)
      for (light = 0; light < batch && stream.uniform() >= late_odds; ++light) {
      }
    if (light > 0) {
      stream.fill(std::span(words).first(2 * light));
      // Repeats are passed over without a branch, but for those within the batch.
      std::size_t count = 0;
      for (std::size_t i = 0; i < light; ++i) {
        const std::uint32_t position = light_.pick(static_cast<std::uint64_t>(words[2 * i]) << 32 | words[2 * i + 1]);
        picked[count] = position;
        count += !has(scratch.arrived, position);
      }
      for (std::size_t i = 0; i < count && missing > 0; ++i) {
        if (has(scratch.arrived, picked[i])) continue;
        set(scratch.arrived, picked[i]);
        --missing;
      }
    }
    if (light < batch && missing > 0) {
      double place = stream.uniform() * late_sum;
      std::size_t chosen = 0;
      while (chosen + 1 < late.size() && place >= late[chosen].first) place -= late[chosen++].first;
      set(scratch.arrived, late[chosen].second);
      late_sum -= late[chosen].first;
      late.erase(late.begin() + static_cast<std::ptrdiff_t>(chosen));
      if (late.empty()) late_sum = 0;
      --missing;
    }
    tries -= static_cast<std::int64_t>(batch);
  }
  return missing;
}

/// Lets all who have not arrived race on, with new arrival times, until enough have.
void RaceSampler::race_on(Stream& stream, DrawScratch& scratch, std::int64_t missing) const {
  scratch.keys.clear();
  for (std::uint32_t i = 0; i < samples_; ++i)
    if (!has(scratch.arrived, i)) scratch.keys.emplace_back(log_time(unit(stream.bits64()), exponent(i)), i);
  const auto last = scratch.keys.begin() + (missing - 1);
  std::nth_element(scratch.keys.begin(), last, scratch.keys.end());
  for (auto key = scratch.keys.begin(); key <= last; ++key) set(scratch.arrived, key->second);
}

std::vector<std::uint32_t> RaceSampler::drawn(const DrawScratch& scratch) {
  std::vector<std::uint32_t> positions;
  for_each_set(scratch.arrived, [&](std::uint32_t position) { positions.push_back(position); });
  return positions;
}

}  // namespace regroup
