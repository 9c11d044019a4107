#include "regroup/methods/dividemix.h"

#include <gtest/gtest.h>

#include <cmath>

#include "regroup/core/random.h"

namespace regroup {
namespace {

/// Losses of two kinds: the posterior of the lower Gaussian, by a plain EM of two Gaussians that starts from the truth.
TEST(DivideMix, ALabelIsBelievedByTheLowerOfTwoGaussians) {
  Stream random(3, Purpose::synthetic);
  std::vector<float> losses;
  for (int i = 0; i < 2000; ++i)
    losses.push_back(static_cast<float>(std::max(0.0, (i < 1200 ? 0.5 : 3.0) + 0.4 * random.normal())));
  const auto clean = clean_probabilities(losses);

  const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
  std::vector<double> x;
  for (const float loss : losses) x.push_back(static_cast<double>((loss - *least) / (*most - *least)));
  double weight[2] = {0.6, 0.4}, mean[2] = {x[0], x[1999]}, variance[2] = {0.01, 0.01};
  std::vector<double> lower(x.size());
  for (int step = 0; step < 50; ++step) {
    double sums[2] = {}, firsts[2] = {}, seconds[2] = {};
    for (std::size_t i = 0; i < x.size(); ++i) {
      double density[2];
      for (int k = 0; k < 2; ++k)
        density[k] =
            weight[k] / std::sqrt(variance[k]) * std::exp(-(x[i] - mean[k]) * (x[i] - mean[k]) / 2 / variance[k]);
      lower[i] = density[0] / (density[0] + density[1]);
      for (int k = 0; k < 2; ++k) {
        const double r = k == 0 ? lower[i] : 1 - lower[i];
        sums[k] += r;
        firsts[k] += r * x[i];
        seconds[k] += r * x[i] * x[i];
      }
    }
    for (int k = 0; k < 2; ++k) {
      weight[k] = sums[k] / static_cast<double>(x.size());
      mean[k] = firsts[k] / sums[k];
      variance[k] = seconds[k] / sums[k] - mean[k] * mean[k];
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(static_cast<double>(clean[i]), lower[i], 0.02) << losses[i];
}

TEST(DivideMix, LossesThatAreAllTheSameAreBelieved) {
  for (const float clean : clean_probabilities(std::vector<float>(10, 2.0F))) EXPECT_EQ(clean, 1);
}

}  // namespace
}  // namespace regroup
