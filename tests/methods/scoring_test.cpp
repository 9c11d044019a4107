#include "regroup/methods/scoring.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "data/made_images.h"

namespace regroup {
namespace {

/// One image at a time, as it is defined.
Scores slowly(Network& network, const SampleSource& images, std::uint32_t position, const Normalisation& by) {
  const at::NoGradGuard no_grad;
  network.training = false;
  SampleScratch scratch;
  const auto bytes = images.read(position, scratch);
  const auto [channels, height, width, is_vector] = images.shape();
  EXPECT_FALSE(is_vector);
  at::Tensor x = at::empty({1, channels, height, width});
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j)
        x[0][c][i][j] = (static_cast<float>(bytes[static_cast<std::size_t>((i * width + j) * channels + c)]) / 255 -
                         by.mean[static_cast<std::size_t>(c)]) /
                        by.deviation[static_cast<std::size_t>(c)];
  return network.forward(x.contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(Scoring, GivesFeaturesAndLogitsOfEachNetworkInTheOrderOfThePositions) {
  const ImagesInMemory images = random_images(9, {3, 28, 28});
  const Normalisation normalisation{{0.4F, 0.5F, 0.6F}, {0.2F, 0.3F, 0.4F}};
  const auto first = make_network("resnet18", {3, 28, 28, 5, 4}, 1),
             second = make_network("fast", {3, 28, 28, 5, 4}, 2);
  first->training = true;
  const std::vector<std::uint32_t> positions{7, 0, 3};
  const auto scores =
      score_plainly({first.get(), second.get()}, images, positions, normalisation, {}, Wanted::features_too);
  EXPECT_TRUE(first->training) << "a network is left as it was";
  ASSERT_EQ(scores.size(), 2U);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (std::size_t n = 0; n < 2; ++n) {
      const Scores slow = slowly(n == 0 ? *first : *second, images, positions[i], normalisation);
      const auto row = static_cast<std::int64_t>(i);
      EXPECT_TRUE(at::allclose(scores[n].features[row], slow.features[0], 1e-3, 1e-4)) << n << ", " << i;
      EXPECT_TRUE(at::allclose(scores[n].logits[row], slow.logits[0], 1e-3, 1e-4)) << n << ", " << i;
    }
  }
  EXPECT_FALSE(score_plainly({first.get()}, images, positions, normalisation, {}).front().features.defined());
}

TEST(Scoring, LargeImagesComeInSmallBatches) {
  EXPECT_EQ(scoring_batch({3, 32, 32}), 250);
  EXPECT_LT(scoring_batch({3, 224, 224}), 20);
  EXPECT_GE(scoring_batch({3, 4096, 4096}), 8);
}

}  // namespace
}  // namespace regroup
