#include "regroup/noise/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/noise/transition.h"

namespace regroup {
namespace {

/// Samples that are projected at once.
constexpr std::size_t block = 8;

/// W_c, one row of numbers per feature. A row has its own stream, so that threads can share the work.
std::vector<float> random_directions(std::size_t size, std::size_t columns, int of_class, std::uint64_t seed,
                                     int threads) {
  std::vector<float> directions(size * columns);
  parallel_for(size, 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      Stream stream(seed, Purpose::projection, static_cast<std::uint32_t>(of_class), static_cast<std::uint32_t>(row));
      for (std::size_t column = 0; column < columns; ++column) {
        directions[row * columns + column] = static_cast<float>(stream.normal());
      }
    }
  });
  return directions;
}

/// scores = rows * directions, for a few samples at once, so that a direction is fetched once for all of them. Each
/// score is summed in the order of the features, so it depends neither on the other samples nor on the vector unit; in
/// double, because scores of thousands are told apart by their differences.
void project(std::span<const float> rows, std::span<const float> directions, std::size_t columns,
             std::span<double> scores) {
  const std::size_t samples = scores.size() / columns;
  const std::size_t size = directions.size() / columns;
  std::fill(scores.begin(), scores.end(), 0.0);
  for (std::size_t feature = 0; feature < size; ++feature) {
    const float* const direction = &directions[feature * columns];
    for (std::size_t sample = 0; sample < samples; ++sample) {
      const double value = rows[sample * size + feature];
      double* const score = &scores[sample * columns];
      for (std::size_t column = 0; column < columns; ++column) score[column] += value * direction[column];
    }
  }
}

/// p = q * softmax of the scores of the other classes, p_clean = 1 - q.
void label_probabilities(std::span<const double> scores, std::size_t clean, double q, std::span<double> p) {
  double highest = -INFINITY;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (c != clean) highest = std::max(highest, scores[c]);
  }
  double sum = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    p[c] = c == clean ? 0 : std::exp(scores[c] - highest);
    sum += p[c];
  }
  for (double& probability : p) probability *= q / sum;
  p[clean] = 1 - q;
}

std::vector<std::vector<std::size_t>> samples_by_class(std::span<const std::int32_t> labels, int classes) {
  std::vector<std::vector<std::size_t>> members(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) members[static_cast<std::size_t>(labels[i])].push_back(i);
  return members;
}

}  // namespace

double truncated_normal(Stream& stream, double mean, double deviation) {
  // Rejection is exact; with the mean within [0, 1] and a deviation below 1 a third of the tries or more succeed.
  for (;;) {
    const double value = mean + deviation * stream.normal();
    if (value >= 0 && value <= 1) return value;
  }
}

std::vector<std::int32_t> instance_noise(std::span<const std::int32_t> labels, int classes, double rate,
                                         const Features& features, std::uint64_t seed, int threads) {
  std::vector<std::int32_t> noisy(labels.begin(), labels.end());
  if (rate == 0) return noisy;
  const auto columns = static_cast<std::size_t>(classes);
  const auto members = samples_by_class(labels, classes);

  for (int clean = 0; clean < classes; ++clean) {
    const auto& samples = members[static_cast<std::size_t>(clean)];
    if (samples.empty()) continue;
    const auto directions = random_directions(features.size, columns, clean, seed, threads);
    parallel_for(samples.size(), block, threads, [&](std::size_t begin, std::size_t end) {
      std::vector<float> rows((end - begin) * features.size);
      std::vector<double> scores((end - begin) * columns);
      std::vector<double> p(columns);
      for (std::size_t i = begin; i < end; ++i) {
        features.read(samples[i], std::span(rows).subspan((i - begin) * features.size, features.size));
      }
      project(rows, directions, columns, scores);
      for (std::size_t i = begin; i < end; ++i) {
        const auto own = std::span(scores).subspan((i - begin) * columns, columns);
        if (!std::all_of(own.begin(), own.end(), [](double score) { return std::isfinite(score); })) {
          throw UserError(fmt::format("sample {}: its features are too large or not finite numbers", samples[i]));
        }
        Stream stream(seed, Purpose::label_noise, 0, static_cast<std::uint32_t>(samples[i]));
        const double q = truncated_normal(stream, rate, instance_rate_deviation);
        label_probabilities(own, static_cast<std::size_t>(clean), q, p);
        noisy[samples[i]] = draw_label(p, clean, stream.uniform());
      }
    });
  }
  return noisy;
}

}  // namespace regroup
