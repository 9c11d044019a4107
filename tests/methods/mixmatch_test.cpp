#include "regroup/methods/mixmatch.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "regroup/core/random.h"
#include "regroup/methods/mixing.h"

namespace regroup {
namespace {

at::Tensor rows(std::initializer_list<float> values, std::int64_t columns) {
  return at::tensor(values).view({-1, columns});
}

TEST(MixMatch, SharpeningMakesTheLikelyMoreLikely) {
  const at::Tensor p = rows({0.6F, 0.4F, 0.5F, 0.5F, 1.0F, 0.0F}, 2);
  EXPECT_TRUE(at::allclose(sharpened(p, 0.5), rows({0.36F / 0.52F, 0.16F / 0.52F, 0.5F, 0.5F, 1.0F, 0.0F}, 2)));
  EXPECT_TRUE(at::allclose(sharpened(p, 1), p));
}

TEST(MixMatch, PredictionsAreAveraged) {
  const std::vector<at::Tensor> views{rows({0.9F, 0.1F}, 2), rows({0.3F, 0.7F}, 2), rows({0.6F, 0.4F}, 2)};
  EXPECT_TRUE(at::allclose(mean_of(views), rows({0.6F, 0.4F}, 2)));
}

/// A batch of tiny images, each view a number of its own.
TensorBatch batch_of(std::vector<std::int64_t> labels, float first) {
  TensorBatch batch;
  batch.labels = at::tensor(labels);
  for (int view = 0; view < 2; ++view) {
    at::Tensor images = at::empty({batch.labels.size(0), 3, 2, 2}, at::MemoryFormat::ChannelsLast);
    for (std::int64_t i = 0; i < images.size(0); ++i) images[i].fill_(first + static_cast<float>(10 * view + i));
    batch.views.push_back(images);
  }
  return batch;
}

/// Row by row: images and targets of both sets are mixed alike, the larger share is an image's own.
TEST(MixMatch, BothSetsAreMixedWithAPermutationOfTheWhole) {
  const TensorBatch labelled = batch_of({0, 1, 2}, 100), unlabelled = batch_of({0, 0}, 200);
  const at::Tensor targets = at::eye(3), guesses = rows({0.2F, 0.5F, 0.3F, 0.1F, 0.1F, 0.8F}, 3);
  Stream random(5, Purpose::mixing);
  const MixedBatch mixed = mix_sets(labelled, targets, &unlabelled, guesses, 0.75, random);
  ASSERT_EQ(mixed.images.size(0), 10);
  EXPECT_EQ(mixed.labelled_rows, 6);
  const at::Tensor plain = at::cat({labelled.views[0], labelled.views[1], unlabelled.views[0], unlabelled.views[1]});
  const at::Tensor own = at::cat({targets, targets, guesses, guesses});
  // The same numbers again, row by row.
  Stream again(5, Purpose::mixing);
  const double lambda = symmetric_beta(again, 0.75), share = std::max(lambda, 1 - lambda);
  const auto partners = permutation(again, 10);
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t j = partners[static_cast<std::size_t>(i)];
    EXPECT_TRUE(at::allclose(mixed.images[i], plain[i] * share + plain[j] * (1 - share), 1e-5)) << i;
    EXPECT_TRUE(at::allclose(mixed.targets[i], own[i] * share + own[j] * (1 - share), 1e-5)) << i;
  }
  EXPECT_EQ(mix_sets(labelled, targets, nullptr, {}, 0.75, random).images.size(0), 6) << "one set alone";
}

/// The two losses as they are defined, a number at a time.
TEST(MixMatch, ItsLossesAreTheirDefinitions) {
  Stream random(8, Purpose::synthetic);
  const auto numbers = [&](std::int64_t count) {
    at::Tensor values = at::empty({count, 4});
    for (std::int64_t i = 0; i < values.numel(); ++i)
      values.data_ptr<float>()[i] = static_cast<float>(random.uniform());
    return values;
  };
  const at::Tensor logits = numbers(5) * 4;
  const MixedBatch batch{{}, sharpened(numbers(5), 1), 3};
  const at::Tensor weights = at::tensor({1.0F, 0.5F, 0.0F, 2.0F});
  const auto losses = mixmatch_losses(logits, batch, weights);
  double labelled = 0, unlabelled = 0, prior = 0;
  double means[4] = {};
  for (std::int64_t i = 0; i < 5; ++i) {
    double sum = 0;
    for (std::int64_t c = 0; c < 4; ++c) sum += std::exp(logits[i][c].item<double>());
    for (std::int64_t c = 0; c < 4; ++c) {
      const double p = std::exp(logits[i][c].item<double>()) / sum, t = batch.targets[i][c].item<double>();
      if (i < 3) labelled -= weights[c].item<double>() * t * std::log(p) / 3;
      if (i >= 3) unlabelled += (p - t) * (p - t) / 8;
      means[c] += p / 5;
    }
  }
  for (const double mean : means) prior += 0.25 * std::log(0.25 / mean);
  EXPECT_NEAR(losses.labelled.item<double>(), labelled, 1e-5);
  EXPECT_NEAR(losses.unlabelled.item<double>(), unlabelled, 1e-5);
  EXPECT_NEAR(uniform_prior_penalty(logits).item<double>(), prior, 1e-5);
  EXPECT_FALSE(mixmatch_losses(logits.slice(0, 0, 3), batch).unlabelled.defined());
}

TEST(MixMatch, TheRampRisesOnceAndStays) {
  EXPECT_EQ(ramp(0, 5, 4), 0);
  EXPECT_EQ(ramp(5, 5, 4), 0);
  EXPECT_EQ(ramp(7, 5, 4), 0.5);
  EXPECT_EQ(ramp(9, 5, 4), 1);
  EXPECT_EQ(ramp(100, 5, 4), 1);
  EXPECT_EQ(ramp(4, 5, 0), 0);
  EXPECT_EQ(ramp(5, 5, 0), 1);
}

TEST(MixMatch, ABatchIsSharedByTheSizesOfTheSets) {
  const auto share = [](std::size_t labelled, std::size_t unlabelled) {
    const BatchShare found = share_batch(128, labelled, unlabelled);
    return std::pair{found.labelled, found.unlabelled};
  };
  EXPECT_EQ(share(100, 900), (std::pair{64, 64})) << "never more than half is unlabelled";
  EXPECT_EQ(share(750, 250), (std::pair{96, 32}));
  EXPECT_EQ(share(100'000, 1), (std::pair{127, 1})) << "a set that is not empty has its part";
  EXPECT_EQ(share(1000, 0), (std::pair{128, 0}));
  EXPECT_EQ(share(0, 1000), (std::pair{0, 128}));
}

TEST(MixMatch, RareClassesWeighMoreUpToABound) {
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 0, 0, 1, 1, 2, 2}, labelled{1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
  // Seven are labelled in four classes, 1.75 on average.
  EXPECT_EQ(class_weights(labels, labelled, 4, 3), (std::vector<float>{1.75F / 6, 1.75F, 0, 0}));
  const std::vector<std::int32_t> all(labels.size(), 1);
  EXPECT_EQ(class_weights(labels, all, 10, 3)[1], 0.5F);
  std::vector<std::int32_t> many(100, 0);
  many[0] = 1;
  EXPECT_EQ(class_weights(many, std::vector<std::int32_t>(100, 1), 2, 3)[1], 3.0F);
  EXPECT_EQ(class_weights(many, std::vector<std::int32_t>(100, 1), 2, 100)[1], 50.0F);
}

}  // namespace
}  // namespace regroup
