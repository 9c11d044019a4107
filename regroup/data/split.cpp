#include "regroup/data/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "regroup/core/random.h"

namespace regroup {
namespace {

// Part of the key of the random numbers: two splits of one seed are independent.
constexpr std::uint32_t validation_epoch = 0;
constexpr std::uint32_t test_epoch = 1;

// Likewise: the subset of a limited run, and those of epochs behind it.
constexpr std::uint32_t limit_epoch = 0;

std::vector<std::size_t> count_labels(std::span<const std::int32_t> labels, int classes) {
  if (labels.size() > std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("split: too many labels");
  std::vector<std::size_t> counts(static_cast<std::size_t>(std::max(classes, 0)));
  for (const std::int32_t label : labels) {
    if (label < 0 || label >= classes) throw std::invalid_argument("split: a label is no class");
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

/// How many of each class to take: share * count, within `least` and `most`, in sum as near to `total` as these allow.
/// One by one, the class that lacks most gets one more, or the class that has most too many gets one less; without
/// bounds this is the method of the largest remainders.
std::vector<std::size_t> apportion(std::span<const std::size_t> counts, double share, std::size_t total,
                                   std::span<const std::size_t> least, std::span<const std::size_t> most) {
  std::vector<std::size_t> taken(counts.size());
  std::size_t sum = 0;
  const auto lacks = [&](std::size_t y) {
    return share * static_cast<double>(counts[y]) - static_cast<double>(taken[y]);
  };
  for (std::size_t y = 0; y < counts.size(); ++y) {
    const auto whole = static_cast<std::size_t>(share * static_cast<double>(counts[y]));
    taken[y] = std::clamp(whole, least[y], most[y]);
    sum += taken[y];
  }
  while (sum != total) {
    const bool add = sum < total;
    std::size_t best = counts.size();
    for (std::size_t y = 0; y < counts.size(); ++y) {
      if (add ? taken[y] == most[y] : taken[y] == least[y]) continue;
      if (best == counts.size() || (add ? lacks(y) > lacks(best) : lacks(y) < lacks(best))) best = y;
    }
    if (best == counts.size()) break;
    add ? ++taken[best] : --taken[best];
    add ? ++sum : --sum;
  }
  return taken;
}

/// Marks `wanted[y]` of the samples of each label y at random, each choice equally likely.
std::vector<bool> choose(std::span<const std::int32_t> labels, std::vector<std::size_t> left,
                         std::vector<std::size_t> wanted, std::uint64_t seed, Purpose purpose, std::uint32_t epoch) {
  // A stream per class: what is chosen of one does not depend on the others.
  std::vector<Stream> streams;
  streams.reserve(left.size());
  for (std::uint32_t y = 0; y < left.size(); ++y) streams.emplace_back(seed, purpose, epoch, y);
  std::vector<bool> chosen(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    // Of `left` samples `wanted` are still to be taken, so this one is with the probability wanted / left.
    const auto y = static_cast<std::size_t>(labels[i]);
    if (wanted[y] > 0 && streams[y].below(static_cast<std::uint32_t>(left[y])) < wanted[y]) {
      chosen[i] = true;
      --wanted[y];
    }
    --left[y];
  }
  return chosen;
}

std::vector<std::uint32_t> positions_of(const std::vector<bool>& chosen) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) positions.push_back(i);
  }
  return positions;
}

/// `total` in equal parts, of no class more than its count; `random` decides which classes have one more than others.
std::vector<std::size_t> equal_parts(std::span<const std::size_t> counts, std::size_t total, Stream& random) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return counts[a] < counts[b]; });
  std::vector<std::size_t> parts(counts.size());
  std::size_t first = 0;
  // Classes that have too few give all that they have.
  for (; first < order.size() && counts[order[first]] <= total / (order.size() - first); ++first) {
    parts[order[first]] = counts[order[first]];
    total -= counts[order[first]];
  }
  if (first == order.size()) return parts;
  const std::size_t even = total / (order.size() - first);
  std::size_t more = total % (order.size() - first);
  for (; first < order.size(); ++first) {
    const bool one_more = random.below(static_cast<std::uint32_t>(order.size() - first)) < more;
    parts[order[first]] = even + (one_more ? 1 : 0);
    more -= one_more ? 1 : 0;
  }
  return parts;
}

Split split(std::span<const std::int32_t> labels, int classes, double share, std::uint64_t seed, std::uint32_t epoch) {
  if (!(share >= 0 && share < 1)) throw std::invalid_argument("split: the share is not in [0, 1)");
  const auto counts = count_labels(labels, classes);
  std::vector<std::size_t> most(counts);
  for (auto& count : most) count -= std::min<std::size_t>(count, 1);
  const auto total = static_cast<std::size_t>(std::lround(share * static_cast<double>(labels.size())));
  const auto wanted = apportion(counts, share, total, std::vector<std::size_t>(counts.size()), most);
  const auto chosen = choose(labels, counts, wanted, seed, Purpose::split, epoch);
  Split result;
  for (std::uint32_t i = 0; i < labels.size(); ++i) (chosen[i] ? result.validation : result.train).push_back(i);
  return result;
}

}  // namespace

Split split_validation(std::span<const std::int32_t> labels, int classes, double share, std::uint64_t seed) {
  return split(labels, classes, share, seed, validation_epoch);
}

Split split_test(std::span<const std::int32_t> labels, int classes, double share, std::uint64_t seed) {
  return split(labels, classes, share, seed, test_epoch);
}

std::vector<std::uint32_t> stratified_subset(std::span<const std::int32_t> labels, int classes, std::size_t limit,
                                             std::uint64_t seed) {
  const auto counts = count_labels(labels, classes);
  const std::size_t total = std::min(limit, labels.size());
  const double share = labels.empty() ? 0 : static_cast<double>(total) / static_cast<double>(labels.size());
  std::vector<std::size_t> least(counts.size());
  const auto occurring = counts.size() - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0U));
  if (total >= occurring) {
    for (std::size_t y = 0; y < counts.size(); ++y) least[y] = std::min<std::size_t>(counts[y], 1);
  }
  return positions_of(
      choose(labels, counts, apportion(counts, share, total, least, counts), seed, Purpose::subset, limit_epoch));
}

std::vector<std::uint32_t> epoch_subset(std::span<const std::int32_t> labels, int classes, std::size_t count,
                                        bool balanced, std::uint64_t seed, std::uint32_t epoch) {
  const auto counts = count_labels(labels, classes);
  const std::size_t total = std::min(count, labels.size());
  const std::uint32_t key = epoch + 1 + limit_epoch;
  if (!balanced) {
    const std::vector<std::int32_t> one_class(labels.size());
    return positions_of(choose(one_class, {labels.size()}, {total}, seed, Purpose::subset, key));
  }
  Stream random(seed, Purpose::subset, key, static_cast<std::uint32_t>(classes));
  return positions_of(choose(labels, counts, equal_parts(counts, total, random), seed, Purpose::subset, key));
}

}  // namespace regroup
