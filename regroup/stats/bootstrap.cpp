#include "regroup/stats/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "regroup/core/error.h"

namespace regroup {
namespace {

/// The images on which the methods differ in some seed; all others add nothing to any resample.
struct Differences {
  std::size_t seeds = 0;
  std::size_t images = 0;     ///< all of them
  std::vector<int> by_image;  ///< -1, 0 or 1 for each seed, image after image

  std::size_t kept() const { return by_image.size() / seeds; }
  std::span<const int> image(std::size_t i) const { return std::span(by_image).subspan(i * seeds, seeds); }
};

void check_images(const std::vector<std::vector<std::uint8_t>>& method, std::size_t seeds, std::size_t images,
                  const char* name) {
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    if (method[seed].size() == images) continue;
    throw UserError(
        fmt::format("seed {} of the {} method has outcomes of {} images, and the first run of {}; compare runs on the "
                    "same test images",
                    seed, name, method[seed].size(), images));
  }
}

Differences find_differences(const PairedOutcomes& outcomes) {
  Differences result;
  result.seeds = std::min(outcomes.first.size(), outcomes.second.size());
  if (result.seeds == 0) throw UserError("the two methods have no seed in common; run both with the same seeds");
  result.images = outcomes.first.front().size();
  check_images(outcomes.first, result.seeds, result.images, "first");
  check_images(outcomes.second, result.seeds, result.images, "second");
  if (result.images == 0) throw UserError("there are no test images to compare the two methods on");
  std::vector<int> differences(result.seeds);
  for (std::size_t image = 0; image < result.images; ++image) {
    for (std::size_t seed = 0; seed < result.seeds; ++seed) {
      const int first = outcomes.first[seed][image] != 0 ? 1 : 0;
      differences[seed] = outcomes.second[seed][image] != 0 ? first - 1 : first;
    }
    if (std::ranges::all_of(differences, [](int difference) { return difference == 0; })) continue;
    result.by_image.insert(result.by_image.end(), differences.begin(), differences.end());
  }
  return result;
}

/// The cumulative probabilities of 0 .. draws hits, where each draw hits one of `kept` among as many images as draws.
std::vector<double> hit_distribution(std::size_t draws, std::size_t kept) {
  std::vector<double> cumulative(draws + 1, 0.0);
  if (kept == draws) {
    cumulative.back() = 1;
    return cumulative;
  }
  const double share = static_cast<double>(kept) / static_cast<double>(draws);
  const double log_odds = std::log(share) - std::log1p(-share);
  // From one count to the next the probability changes by a simple factor; in logarithms, since it starts tiny.
  double log_probability = static_cast<double>(draws) * std::log1p(-share);
  double sum = 0;
  for (std::size_t hits = 0; hits <= draws; ++hits) {
    sum += std::exp(log_probability);
    cumulative[hits] = sum;
    log_probability += log_odds + std::log(static_cast<double>(draws - hits) / static_cast<double>(hits + 1));
  }
  for (double& value : cumulative) value /= sum;
  return cumulative;
}

/// Between the two nearest of sorted values.
double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

AccuracyDifference bootstrap_difference(const PairedOutcomes& outcomes, const Stream& stream,
                                        const BootstrapOptions& options) {
  if (options.resamples < 1) throw std::invalid_argument("bootstrap_difference: no resamples");
  const Differences data = find_differences(outcomes);
  const double scale = 1 / (static_cast<double>(data.seeds) * static_cast<double>(data.images));
  AccuracyDifference result;
  result.seeds = data.seeds;
  if (data.by_image.empty()) return result;
  std::int64_t total = 0;
  for (const int difference : data.by_image) total += difference;
  result.value = static_cast<double>(total) * scale;

  const std::vector<double> hit_counts = hit_distribution(data.images, data.kept());
  Stream random = stream;
  std::vector<std::int64_t> times(data.seeds);  // that a seed was drawn
  std::vector<double> resampled(static_cast<std::size_t>(options.resamples));
  for (double& value : resampled) {
    std::ranges::fill(times, 0);
    for (std::size_t i = 0; i < data.seeds; ++i) ++times[random.below(static_cast<std::uint32_t>(data.seeds))];
    const auto hits = std::ranges::upper_bound(hit_counts, random.uniform()) - hit_counts.begin();
    std::int64_t sum = 0;
    for (std::ptrdiff_t i = 0; i < hits; ++i) {
      const auto image = data.image(random.below(static_cast<std::uint32_t>(data.kept())));
      for (std::size_t seed = 0; seed < data.seeds; ++seed) sum += times[seed] * image[seed];
    }
    value = static_cast<double>(sum) * scale;
  }
  std::ranges::sort(resampled);
  const double tail = (1 - options.level) / 2;
  result.low = quantile(resampled, tail);
  result.high = quantile(resampled, 1 - tail);
  return result;
}

}  // namespace regroup
