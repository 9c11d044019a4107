#include "regroup/noise/noise.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/core/random.h"
#include "regroup/noise/instance.h"
#include "regroup/noise/transition_csv.h"

namespace regroup {
namespace {

void check(NoiseKind kind, std::span<const std::int32_t> labels, int classes) {
  const int least = kind == NoiseKind::none ? 1 : 2;
  if (classes < least || classes > TransitionMatrix::max_classes) {
    throw UserError(
        fmt::format("{} classes; this noise needs {} to {}", classes, least, TransitionMatrix::max_classes));
  }
  if (labels.empty()) throw UserError("there are no labels to make noisy");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      throw UserError(fmt::format("sample {}: label {} is outside 0 .. {}", i, labels[i], classes - 1));
    }
  }
}

std::vector<std::size_t> class_counts(std::span<const std::int32_t> labels, int classes) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(classes));
  for (const auto label : labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

double expected_rate(const TransitionMatrix& transition, std::span<const std::size_t> counts) {
  double wrong = 0;
  double total = 0;
  for (int c = 0; c < transition.classes(); ++c) {
    const auto count = static_cast<double>(counts[static_cast<std::size_t>(c)]);
    wrong += count * (1 - transition(c, c));
    total += count;
  }
  return wrong / total;
}

std::vector<std::int32_t> noise_by_matrix(const TransitionMatrix& transition, std::span<const std::int32_t> labels,
                                          std::uint64_t seed, int threads) {
  std::vector<std::int32_t> noisy(labels.size());
  parallel_for(labels.size(), 1024, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Stream stream(seed, Purpose::label_noise, 0, static_cast<std::uint32_t>(i));
      noisy[i] = draw_label(transition.row(labels[i]), labels[i], stream.uniform());
    }
  });
  return noisy;
}

void measure(std::span<const std::int32_t> clean, std::span<const std::size_t> counts, NoisyLabels& result) {
  const int classes = static_cast<int>(counts.size());
  result.realised = TransitionMatrix(classes);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    result.realised(clean[i], result.labels[i]) += 1;
    wrong += result.labels[i] != clean[i];
  }
  for (int from = 0; from < classes; ++from) {
    const auto count = counts[static_cast<std::size_t>(from)];
    if (count == 0) continue;
    for (int to = 0; to < classes; ++to) result.realised(from, to) /= static_cast<double>(count);
  }
  result.realised_rate = static_cast<double>(wrong) / static_cast<double>(clean.size());
}

}  // namespace

NoisyLabels make_noisy(const NoiseSpec& spec, std::span<const std::int32_t> labels, int classes,
                       const Features& features, std::uint64_t seed, int threads) {
  check(spec.kind, labels, classes);
  const auto counts = class_counts(labels, classes);
  const auto by_matrix = [&](const TransitionMatrix& matrix) { return noise_by_matrix(matrix, labels, seed, threads); };

  NoisyLabels result;
  result.nominal_rate = spec.rate;
  switch (spec.kind) {
    case NoiseKind::none:
      result.labels.assign(labels.begin(), labels.end());
      break;
    case NoiseKind::symmetric:
      result.labels = by_matrix(symmetric_transition(classes, spec.rate));
      break;
    case NoiseKind::symmetric_all:
      result.labels = by_matrix(symmetric_all_transition(classes, spec.rate));
      break;
    case NoiseKind::pairflip:
      result.labels = by_matrix(pairflip_transition(classes, spec.rate));
      break;
    case NoiseKind::instance:
      if (!features.read) throw std::invalid_argument("make_noisy: instance-dependent noise without features");
      result.labels = instance_noise(labels, classes, spec.rate, features, seed, threads);
      break;
    case NoiseKind::matrix: {
      const auto transition = read_transition(spec.file, classes);
      result.nominal_rate = expected_rate(transition, counts);
      result.labels = by_matrix(transition);
      break;
    }
  }
  measure(labels, counts, result);
  return result;
}

}  // namespace regroup
