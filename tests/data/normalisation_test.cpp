#include <gtest/gtest.h>

#include <cmath>

#include "data/made_images.h"
#include "regroup/data/augment.h"
#include "support/user_error.h"

namespace regroup {
namespace {

TEST(Normalisation, IsThatOfTheDefinition) {
  auto values = random_bytes(5 * 3 * 6 * 7);
  for (std::size_t i = 1; i < values.size(); i += 3) values[i] = 51;  // green does not vary
  for (std::size_t i = 2; i < values.size(); i += 3) values[i] /= 2;
  const Normalisation measured = measure_normalisation(ImagesInMemory({3, 6, 7}, values), 1);
  ASSERT_EQ(measured.mean.size(), 3U);
  ASSERT_EQ(measured.deviation.size(), 3U);
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0, squares = 0;
    constexpr int pixels = 5 * 6 * 7;
    for (std::size_t i = c; i < values.size(); i += 3) sum += values[i] / 255.0;
    for (std::size_t i = c; i < values.size(); i += 3) squares += std::pow(values[i] / 255.0 - sum / pixels, 2);
    EXPECT_NEAR(measured.mean[c], sum / pixels, 1e-7);
    EXPECT_NEAR(measured.deviation[c], c == 1 ? 1 : std::sqrt(squares / pixels), 1e-7);
  }
}

TEST(Normalisation, TwoValuesThatHardlyVaryAreStillMeasured) {
  std::vector<std::uint8_t> values(10'000, 255);
  values[5000] = 254;
  EXPECT_NEAR(measure_normalisation(ImagesInMemory({1, 10, 10}, values), 1).deviation[0], 0.01 / 255, 1e-8);
}

TEST(Normalisation, IsTheSameOnAnyNumberOfThreads) {
  constexpr SampleShape shape{3, 64, 64};
  std::vector<std::uint8_t> values(300 * shape.values());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * i >> 7);
  const ImagesInMemory images(shape, values);
  const Normalisation one = measure_normalisation(images, 1);
  for (const int threads : {2, 5}) {
    EXPECT_EQ(measure_normalisation(images, threads).mean, one.mean);
    EXPECT_EQ(measure_normalisation(images, threads).deviation, one.deviation);
  }
}

TEST(Normalisation, NeedsAnImage) {
  const ImagesInMemory none({1, 2, 2}, {});
  EXPECT_EQ(user_error([&] { measure_normalisation(none, 1); }),
            "there are no images to measure mean and deviation of; give at least one");
}

}  // namespace
}  // namespace regroup
