#include "regroup/methods/promix.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "regroup/methods/fmix.h"

namespace regroup {
namespace {

/// The picture by its definition: a sum over all waves, pixel by pixel, drawn from the same numbers.
std::vector<double> slow_picture(Stream& random, int height, int width, double decay) {
  std::vector<double> picture(static_cast<std::size_t>(height * width));
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u <= width / 2; ++u) {
      const double down = v <= height / 2 ? v : v - height,
                   f = std::hypot(down / height, u / static_cast<double>(width));
      const double strength = 1 / std::pow(std::max(f, 1.0 / std::max(height, width)), decay);
      const double real = random.normal() * strength, imaginary = random.normal() * strength;
      // The mirrored wave of the other half adds the same once more.
      const double times = u == 0 || 2 * u == width ? 1 : 2;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          const double angle =
              2 * std::numbers::pi * (v * y / static_cast<double>(height) + u * x / static_cast<double>(width));
          picture[static_cast<std::size_t>(y * width + x)] +=
              times * (real * std::cos(angle) - imaginary * std::sin(angle));
        }
    }
  }
  return picture;
}

TEST(ProMix, AMaskIsWhereAPictureOfSlowWavesIsBrightest) {
  for (const auto& [height, width] : {std::pair{9, 8}, std::pair{6, 7}}) {
    Stream random(7, Purpose::mixing), again(7, Purpose::mixing);
    const at::Tensor mask = low_frequency_mask(random, height, width, 3, 0.3);
    const std::vector<double> picture = slow_picture(again, height, width, 3);
    std::vector<std::size_t> order(picture.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return picture[a] > picture[b]; });
    const double exact = 0.3 * static_cast<double>(picture.size());
    const auto ones = static_cast<std::size_t>(mask.sum().item<double>());
    EXPECT_LT(std::abs(static_cast<double>(ones) - exact), 1);
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(mask.data_ptr<float>()[order[i]], i < ones ? 1 : 0) << height << "x" << width << " " << i;
  }
}

TEST(ProMix, TheSurestOfWhatBothNetworksAgreeOnJoinUntilTheBatchIsNearlyFull) {
  const std::vector<std::int32_t> chosen{1, 0, 0, 0, 1, 0, 0, 0, 0, 0}, sure{1, 1, 0, 1, 0, 1, 1, 0, 0, 0};
  const std::vector<float> scores{2, 1.2F, 2, 1.9F, 2, 1.5F, 1.8F, 2, 2, 2};
  using Marks = std::vector<std::int32_t>;
  EXPECT_EQ(join_agreeing(chosen, sure, scores, 0.9), (Marks{1, 1, 0, 1, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(join_agreeing(chosen, sure, scores, 0.4), (Marks{1, 0, 0, 1, 1, 0, 1, 0, 0, 0})) << "two places are left";
  EXPECT_EQ(join_agreeing(chosen, sure, scores, 0.1), chosen) << "there are more already";
}

}  // namespace
}  // namespace regroup
