#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "regroup/core/random.h"
#include "regroup/labels/prediction_rows.h"
#include "regroup/noise/transition.h"

namespace regroup {

/// Made-up samples with known true labels: what a good network would predict for them, and labels that went wrong by a
/// matrix.
struct MadeLabels {
  PredictionRows rows;              ///< log-probabilities, and the given labels
  std::vector<std::int32_t> truth;  ///< drawn from the probabilities, as a calibrated network has it

  bool is_wrong(std::size_t i) const { return rows.labels[i] != truth[i]; }
  double noise_rate() const {
    double wrong = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) wrong += is_wrong(i) ? 1 : 0;
    return wrong / static_cast<double>(truth.size());
  }
};

/// `clearness` is how far the logit of one class lies above the others, on average. The network's own scores are the
/// true log-probabilities times `softness`.
inline MadeLabels make_labels(std::size_t count, const TransitionMatrix& transition, std::uint64_t seed,
                              double clearness = 5, double softness = 0.5) {
  const int classes = transition.classes();
  const auto width = static_cast<std::size_t>(classes);
  Stream random(seed, Purpose::synthetic);
  MadeLabels made{{classes, std::vector<float>(count * width), {}}, {}};
  std::vector<double> p(width);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    const std::uint32_t favourite = random.below(static_cast<std::uint32_t>(classes));
    const double lead = 2 * clearness * random.uniform();
    for (std::size_t y = 0; y < width; ++y) sum += p[y] = std::exp(random.normal() + (y == favourite ? lead : 0));
    double drawn = random.uniform() * sum;
    std::int32_t truth = 0;
    while (truth < classes - 1 && drawn >= p[static_cast<std::size_t>(truth)])
      drawn -= p[static_cast<std::size_t>(truth++)];
    made.truth.push_back(truth);
    made.rows.labels.push_back(draw_label(transition.row(truth), truth, random.uniform()));
    double soft = 0;
    for (std::size_t y = 0; y < width; ++y) soft += std::pow(p[y] / sum, softness);
    for (std::size_t y = 0; y < width; ++y)
      made.rows.row(i)[y] = static_cast<float>(softness * std::log(p[y] / sum) - std::log(soft));
  }
  return made;
}

}  // namespace regroup
