#include "regroup/methods/guessing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "regroup/core/random.h"

namespace regroup {
namespace {

at::Tensor rows(std::initializer_list<float> values, std::int64_t columns) {
  return at::tensor(values).view({-1, columns});
}

TEST(Guessing, SharpeningMakesTheLikelyMoreLikely) {
  const at::Tensor p = rows({0.6F, 0.4F, 0.5F, 0.5F, 1.0F, 0.0F}, 2);
  EXPECT_TRUE(at::allclose(sharpened(p, 0.5), rows({0.36F / 0.52F, 0.16F / 0.52F, 0.5F, 0.5F, 1.0F, 0.0F}, 2)));
  EXPECT_TRUE(at::allclose(sharpened(p, 1), p));
}

TEST(Guessing, AGuessIsTheSharpenedMeanOverTheViews) {
  const std::vector<at::Tensor> views{rows({0.9F, 0.1F}, 2), rows({0.3F, 0.7F}, 2)};
  EXPECT_TRUE(at::allclose(guessed_labels(views, 0.5), rows({0.36F / 0.52F, 0.16F / 0.52F}, 2)));
}

TEST(Guessing, ALabelIsKeptWhereAllModelsPredictIt) {
  Stream random(3, Purpose::synthetic);
  constexpr std::int64_t samples = 200, classes = 4;
  std::vector<at::Tensor> models;
  for (int i = 0; i < 2; ++i) {
    models.push_back(at::empty({samples, classes}));
    for (std::int64_t j = 0; j < samples * classes; ++j)
      models.back().data_ptr<float>()[j] = static_cast<float>(random.uniform());
  }
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) labels.push_back(static_cast<std::int32_t>(random.below(classes)));
  const auto kept = agreeing(models, labels);
  int count = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    bool expected = true;
    for (const at::Tensor& model : models) {
      const float* row = model.data_ptr<float>() + i * classes;
      for (std::int64_t c = 0; c < classes; ++c)
        if (row[c] > row[labels[static_cast<std::size_t>(i)]]) expected = false;
    }
    EXPECT_EQ(kept[static_cast<std::size_t>(i)], expected ? 1 : 0) << i;
    count += expected ? 1 : 0;
  }
  EXPECT_GT(count, 0);
  EXPECT_LT(count, samples / 2);
}

TEST(Guessing, TheRampRisesOnceAndStays) {
  EXPECT_EQ(ramp(0, 5, 4), 0);
  EXPECT_EQ(ramp(5, 5, 4), 0);
  EXPECT_EQ(ramp(7, 5, 4), 0.5);
  EXPECT_EQ(ramp(9, 5, 4), 1);
  EXPECT_EQ(ramp(100, 5, 4), 1);
  EXPECT_EQ(ramp(4, 5, 0), 0);
  EXPECT_EQ(ramp(5, 5, 0), 1);
}

TEST(Guessing, ABatchIsSharedByTheSizesOfTheSets) {
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

TEST(Guessing, RareClassesWeighMoreUpToABound) {
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 0, 0, 1, 1, 2, 2}, kept{1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
  // Seven are kept in four classes, 1.75 on average.
  EXPECT_EQ(class_weights(labels, kept, 4), (std::vector<float>{1.75F / 6, 1.75F, 0, 0}));
  const std::vector<std::int32_t> all(labels.size(), 1);
  EXPECT_EQ(class_weights(labels, all, 10)[1], 0.5F);
  std::vector<std::int32_t> many(100, 0);
  many[0] = 1;
  EXPECT_EQ(class_weights(many, std::vector<std::int32_t>(100, 1), 2)[1], 3.0F);
}

}  // namespace
}  // namespace regroup
