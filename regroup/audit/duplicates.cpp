#include "regroup/audit/duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "regroup/audit/picture_match.h"
#include "regroup/core/error.h"
#include "regroup/core/parallel.h"

namespace regroup {
namespace {

constexpr std::size_t grain = 64;

/// What decides; chosen on CIFAR-10, Fashion-MNIST and photos of clothes together. A picture that leaves at most
/// `surely` of another unexplained is its copy. Where pictures are varied, a worse copy still stands out: beside what
/// the candidates of both usually leave, it leaves little. Where all look alike, as shirts do, they usually leave
/// little too, and so a copy has to be a good one.
constexpr double surely = 0.003, at_most = 0.1, beside_usual = 0.08;
constexpr double most_colour = 16;  ///< levels; JPEG and brightness change colours by less

/// A picture as a row that copies have in common: luminance in half the resolution, less its mean, and the colours.
constexpr std::size_t coarse_side = Thumbnail::side / 2;
constexpr std::size_t row_size = coarse_side * coarse_side + std::tuple_size_v<decltype(Thumbnail::colour)>;

void write_row(const Thumbnail& thumbnail, bool mirror, std::span<float> row) {
  std::ranges::fill(row, 0.0F);
  float mean = 0;
  for (std::size_t i = 0; i < thumbnail.luminance.size(); ++i) {
    const std::size_t y = i / Thumbnail::side, x = i % Thumbnail::side, to = mirror ? Thumbnail::side - 1 - x : x;
    row[y / 2 * coarse_side + to / 2] += static_cast<float>(thumbnail.luminance[i]) / 4;
    mean += thumbnail.luminance[i];
  }
  mean /= static_cast<float>(thumbnail.luminance.size());
  const std::span<float> luminance = row.first(coarse_side * coarse_side), colour = row.subspan(luminance.size());
  for (float& value : luminance) value -= mean;
  constexpr std::size_t cells = Thumbnail::colour_side;
  for (std::size_t i = 0; i < thumbnail.colour.size(); ++i) {
    const std::size_t x = i / 2 % cells, to = mirror ? i + (cells - 1 - 2 * x) * 2 : i;
    colour[to] = static_cast<float>(thumbnail.colour[i]) - 128;
  }
}

std::vector<float> rows_of(std::span<const Thumbnail> thumbnails, bool mirror, int threads) {
  std::vector<float> rows(thumbnails.size() * row_size);
  parallel_for(thumbnails.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      write_row(thumbnails[i], mirror, std::span(rows).subspan(i * row_size, row_size));
  });
  return rows;
}

/// What pictures are compared with: lists of neighbours, sample after sample, equally many for each.
using Candidates = std::vector<std::vector<Neighbour>>;

Candidates find_candidates(std::span<const Thumbnail> thumbnails, const FeatureRows& features,
                           const DuplicateOptions& options) {
  const std::size_t k = options.candidates + 1;  // a sample finds itself
  Candidates lists;
  const std::vector<float> rows = rows_of(thumbnails, false, options.threads);
  const NeighbourIndex index({rows, row_size});
  lists.push_back(index.nearest({rows, row_size}, k, options.threads));
  const std::vector<float> mirror_rows = rows_of(thumbnails, true, options.threads);
  lists.push_back(index.nearest({mirror_rows, row_size}, k, options.threads));
  if (features.size() > 0) lists.push_back(NeighbourIndex(features).nearest(features, k, options.threads));
  return lists;
}

std::vector<std::uint32_t> candidates_of(std::size_t sample, std::size_t samples, const Candidates& lists) {
  std::vector<std::uint32_t> ids;
  for (const auto& list : lists) {
    const std::size_t each = list.size() / samples;
    for (const Neighbour& found : std::span(list).subspan(sample * each, each)) {
      if (found.id != sample) ids.push_back(found.id);
    }
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// The better of a picture and its mirror image.
double unexplained_by_either(const Thumbnail& left, const Thumbnail& right, const Detail& detail, const Detail& mirror,
                             const Detail& other) {
  double least = 1;
  if (colour_distance(left, right, false) < most_colour) least = unexplained(detail, other);
  if (colour_distance(left, right, true) < most_colour) least = std::min(least, unexplained(mirror, other));
  return least;
}

struct Match {
  std::uint32_t other = 0;
  double unexplained = 1;
};

struct Comparison {
  std::vector<Match> matches;  ///< that may be copies
  double usual = 1;            ///< what candidates leave unexplained: a quarter of them leave less
};

std::vector<Comparison> compare(std::span<const Thumbnail> thumbnails, const Candidates& lists, int threads) {
  std::vector<Detail> details(thumbnails.size());
  parallel_for(thumbnails.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) details[i] = detail_of(thumbnails[i]);
  });
  std::vector<Comparison> comparisons(thumbnails.size());
  parallel_for(thumbnails.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<double> shares;
    for (std::size_t i = begin; i < end; ++i) {
      if (details[i].flat()) continue;
      const Detail mirror = mirrored(details[i]);
      shares.clear();
      for (const std::uint32_t other : candidates_of(i, thumbnails.size(), lists)) {
        shares.push_back(unexplained_by_either(thumbnails[i], thumbnails[other], details[i], mirror, details[other]));
        if (shares.back() <= at_most) comparisons[i].matches.push_back({other, shares.back()});
      }
      if (shares.empty()) continue;
      // Not the median: half of the candidates were found by the mirror image, and shoes never point the other way.
      const auto quarter = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 4);
      std::ranges::nth_element(shares, quarter);
      comparisons[i].usual = *quarter;
    }
  });
  return comparisons;
}

std::uint32_t root_of(std::vector<std::uint32_t>& parents, std::uint32_t sample) {
  while (parents[sample] != sample) sample = parents[sample] = parents[parents[sample]];
  return sample;
}

/// The first member of the group of each sample.
std::vector<std::uint32_t> join_matches(const std::vector<Comparison>& comparisons) {
  std::vector<std::uint32_t> parents(comparisons.size());
  std::iota(parents.begin(), parents.end(), 0U);
  for (std::uint32_t i = 0; i < comparisons.size(); ++i) {
    for (const Match& match : comparisons[i].matches) {
      const double usual = std::min(comparisons[i].usual, comparisons[match.other].usual);
      if (match.unexplained > std::max(surely, usual * beside_usual)) continue;
      const std::uint32_t left = root_of(parents, i), right = root_of(parents, match.other);
      parents[std::max(left, right)] = std::min(left, right);
    }
  }
  for (std::uint32_t i = 0; i < parents.size(); ++i) parents[i] = root_of(parents, i);
  return parents;
}

/// From the first member of the group of each sample to the numbers of groups of several.
std::vector<std::int32_t> numbered(const std::vector<std::uint32_t>& firsts) {
  std::vector<std::int32_t> groups(firsts.size(), -1);
  std::vector<bool> shared(firsts.size());
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (firsts[i] != i) shared[firsts[i]] = true;
  }
  std::int32_t next = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (firsts[i] != i) groups[i] = groups[firsts[i]];
    if (shared[i]) groups[i] = next++;
  }
  return groups;
}

}  // namespace

std::vector<std::int32_t> duplicate_groups(std::span<const Thumbnail> thumbnails, const FeatureRows& features,
                                           const DuplicateOptions& options) {
  if (features.size() != 0 && features.size() != thumbnails.size())
    throw UserError(fmt::format("{} rows of features for {} pictures; give one row per picture", features.size(),
                                thumbnails.size()));
  std::vector<std::int32_t> in_no_group(thumbnails.size(), -1);
  if (thumbnails.size() < 2) return in_no_group;
  const Candidates lists = find_candidates(thumbnails, features, options);
  return numbered(join_matches(compare(thumbnails, lists, options.threads)));
}

std::vector<std::int32_t> equal_row_groups(const FeatureRows& rows, int threads) {
  std::vector<std::int32_t> in_no_group(rows.size(), -1);
  if (rows.size() < 2) return in_no_group;
  // Half a float16's last digit is 1/2000 of a number; squares of differences are compared with squares of numbers.
  constexpr double rounding = 1e-6;
  constexpr std::size_t candidates = 11;
  const auto nearest = NeighbourIndex(rows).nearest(rows, candidates, threads);
  const std::size_t each = nearest.size() / rows.size();
  std::vector<std::uint32_t> parents(rows.size());
  std::iota(parents.begin(), parents.end(), 0U);
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (const Neighbour& found : std::span(nearest).subspan(i * each, each)) {
      double difference = 0, size = 0;
      for (std::size_t d = 0; d < rows.dimension; ++d) {
        const double a = static_cast<double>(rows.row(i)[d]), b = static_cast<double>(rows.row(found.id)[d]);
        difference += (a - b) * (a - b);
        size += a * a + b * b;
      }
      if (difference > rounding * size) continue;
      const std::uint32_t left = root_of(parents, i), right = root_of(parents, found.id);
      parents[std::max(left, right)] = std::min(left, right);
    }
  }
  for (std::uint32_t i = 0; i < parents.size(); ++i) parents[i] = root_of(parents, i);
  return numbered(parents);
}

}  // namespace regroup
