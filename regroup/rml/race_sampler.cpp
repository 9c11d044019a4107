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

// So many samples get their random bytes and are decided at a time, while all of it is in the nearest cache.
constexpr std::size_t tile = 1024;

/// Above this many expected arrivals a sample is heavy: it is late with probability exp(-4) or less.
constexpr double heavy_arrivals = 4;

/// The logarithm of the arrival time of a sample with weight exp(-exponent), for a uniform u in [0, 1).
double log_time(double u, double exponent) {
  return std::log(std::max(-std::log1p(-u), std::numeric_limits<double>::min())) + exponent;
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 1) * 0x1p-63; }

}  // namespace

RaceSampler::RaceSampler(std::span<const float> losses, int groups, int per_group, const SelectionOptions& options,
                         const RaceTuning& tuning)
    : groups_(groups),
      per_group_(static_cast<std::uint32_t>(per_group)),
      samples_(static_cast<std::uint32_t>(losses.size())),
      options_(options),
      most_tries_(static_cast<std::int64_t>(tuning.tries * static_cast<double>(losses.size()))) {
  const std::size_t padded = (losses.size() + padding - 1) / padding * padding;
  losses_.assign(padded, 0);
  sure_.assign(padded, 0);
  heavy_.assign(padded, 0);

  // group_sums adds up to 1,024 floats before it goes on in doubles.
  if (*std::max_element(losses.begin(), losses.end()) > 1e35F) scale_ = 0x1p-12F;
  std::vector<double> exponents(losses.size());
  for (std::uint32_t i = 0; i < samples_; ++i) {
    losses_[i] = losses[i] * scale_;
    exponents[i] = exponent(i);
  }

  const double count = static_cast<double>(groups) * per_group;
  const double early = count - tuning.margin * race_end(exponents, count).spread - 1;
  log_stop_ = race_end(exponents, std::clamp(early, count / 8, count)).log_tau;
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

/// The two random bytes of a sample: those of a tile lie together, first all for the arrivals, then all for the groups.
inline RaceSampler::RandomBytes RaceSampler::bytes_of(const DrawScratch& scratch, std::uint32_t position) const {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(scratch.random.data());
  const std::size_t begin = position / tile * tile;
  const std::size_t count = std::min(tile, losses_.size() - begin);
  const std::uint8_t* arrival = bytes + begin + position;  // 2 * begin + (position - begin)
  return {arrival[0], arrival[count]};
}

/// Puts a sample into its random group.
inline void RaceSampler::join(DrawScratch& scratch, std::uint32_t position) const {
  const std::uint8_t group = group_of_byte(bytes_of(scratch, position).for_group, groups_);
  scratch.group_of[position] = group;
  ++scratch.sizes[group];
}

double RaceSampler::exponent(std::uint32_t position) const {
  return processed_loss(static_cast<double>(losses_[position]) / static_cast<double>(scale_), options_);
}

double RaceSampler::arrivals(std::uint32_t position) const { return std::exp(log_stop_ - exponent(position)); }

void RaceSampler::draw(Stream& stream, DrawScratch& scratch) const {
  const std::size_t padded = losses_.size();
  scratch.random.resize(2 * padded / 4);
  scratch.group_of.resize(padded);
  scratch.look.resize(padded / 32);
  for (std::size_t begin = 0; begin < padded; begin += tile) {
    const std::size_t count = std::min(tile, padded - begin);
    const auto words = std::span(scratch.random).subspan(2 * begin / 4, 2 * count / 4);
    stream.fill(words);
    const auto* random = reinterpret_cast<const std::uint8_t*>(words.data());
    race_bytes(random, random + count, sure_.data() + begin, heavy_.data() + begin, groups_, count,
               scratch.group_of.data() + begin, scratch.look.data() + begin / 32);
  }
  group_sizes(scratch.group_of.data(), padded, groups_, scratch.sizes.data());

  look_closer(stream, scratch);
  if (missing(scratch) < 0) keep_the_first(stream, scratch);
  draw_one_by_one(stream, scratch);
  if (missing(scratch) > 0) race_on(stream, scratch);
  balance_groups(std::span(scratch.group_of).first(samples_), scratch.sizes, groups_, per_group_, stream);
}

/// Decides the ties, and lists the heavy samples that are late.
void RaceSampler::look_closer(Stream& stream, DrawScratch& scratch) const {
  scratch.ties.clear();
  scratch.late.clear();
  for (std::uint32_t block = 0; block < scratch.look.size(); ++block) {
    for (std::uint32_t flags = scratch.look[block]; flags != 0; flags &= flags - 1) {
      const std::uint32_t position = 32 * block + static_cast<std::uint32_t>(std::countr_zero(flags));
      if (position >= samples_) return;  // the padding is no sample
      bool arrived = false;
      if (bytes_of(scratch, position).for_arrival == sure_[position]) {
        const std::uint64_t bits = stream.bits64();
        scratch.ties.emplace_back(position, bits);
        arrived = unit(bits) < rest_[position];
      }
      if (arrived) {
        join(scratch, position);
      } else if (heavy_[position] != 0) {
        scratch.late.emplace_back(arrivals(position), position);
      }
    }
  }
}

std::int64_t RaceSampler::missing(const DrawScratch& scratch) const {
  std::int64_t missing = static_cast<std::int64_t>(groups_) * per_group_;
  for (int group = 0; group < groups_; ++group) missing -= scratch.sizes[static_cast<std::size_t>(group)];
  return missing;
}

/// Too many have arrived: computes when, from the random bits that decided about it and new ones after them, and sends
/// back those that were last.
void RaceSampler::keep_the_first(Stream& stream, DrawScratch& scratch) const {
  scratch.keys.clear();
  auto tie = scratch.ties.begin();
  for (std::uint32_t i = 0; i < samples_; ++i) {
    if (scratch.group_of[i] == no_group) continue;
    while (tie != scratch.ties.end() && tie->first < i) ++tie;
    const bool tied = tie != scratch.ties.end() && tie->first == i;
    const double u = (bytes_of(scratch, i).for_arrival + unit(tied ? tie->second : stream.bits64())) / 256;
    scratch.keys.emplace_back(log_time(u, exponent(i)), i);
  }
  const auto end = scratch.keys.begin() + static_cast<std::ptrdiff_t>(groups_) * per_group_;
  std::nth_element(scratch.keys.begin(), end, scratch.keys.end());
  for (auto key = end; key != scratch.keys.end(); ++key) {
    --scratch.sizes[scratch.group_of[key->second]];
    scratch.group_of[key->second] = no_group;
  }
}

/// Draws who is missing, as long as that is not too tedious.
void RaceSampler::draw_one_by_one(Stream& stream, DrawScratch& scratch) const {
  auto& late = scratch.late;
  double late_sum = 0;
  for (const auto& [arrivals, position] : late) late_sum += arrivals;

  std::int64_t left = missing(scratch);
  std::int64_t tries = most_tries_;
  constexpr std::size_t most = 64;
  std::array<std::uint32_t, 2 * most> words;
  std::array<std::uint32_t, most> picked;
  while (left > 0 && tries > 0 && light_sum_ + late_sum > 0) {
    // A third more than is missing, in whole random batches.
    const auto wanted = static_cast<std::size_t>(left) * 4 / 3;
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
        count += scratch.group_of[position] == no_group;
      }
      for (std::size_t i = 0; i < count && left > 0; ++i) {
        if (scratch.group_of[picked[i]] != no_group) continue;
        join(scratch, picked[i]);
        --left;
      }
    }
    if (light < batch && left > 0) {
      double place = stream.uniform() * late_sum;
      std::size_t chosen = 0;
      while (chosen + 1 < late.size() && place >= late[chosen].first) place -= late[chosen++].first;
      join(scratch, late[chosen].second);
      late_sum -= late[chosen].first;
      late.erase(late.begin() + static_cast<std::ptrdiff_t>(chosen));
      if (late.empty()) late_sum = 0;
      --left;
    }
    tries -= static_cast<std::int64_t>(batch);
  }
}

/// Lets all who have not arrived race on, with new arrival times, until enough have.
void RaceSampler::race_on(Stream& stream, DrawScratch& scratch) const {
  scratch.keys.clear();
  for (std::uint32_t i = 0; i < samples_; ++i)
    if (scratch.group_of[i] == no_group) scratch.keys.emplace_back(log_time(unit(stream.bits64()), exponent(i)), i);
  const auto last = scratch.keys.begin() + (missing(scratch) - 1);
  std::nth_element(scratch.keys.begin(), last, scratch.keys.end());
  for (auto key = scratch.keys.begin(); key <= last; ++key) join(scratch, key->second);
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
