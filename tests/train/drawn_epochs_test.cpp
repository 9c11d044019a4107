// Epochs that are a fresh subset of the samples.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <sstream>

#include "regroup/methods/method.h"
#include "regroup/train/run_data.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"
#include "train/run_files.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

class DrawnEpochs : public testing::Test {
 protected:
  DrawnEpochs() { write_tiny_mnist(folder_, 200); }

  /// 200 training images in batches of 20; an epoch has two of them.
  Settings settings(const Values& more = {}) const {
    Values values{{"data", "mnist"},
                  {"data-dir", folder_.path().string()},
                  {"width", "4"},
                  {"epochs", "3"},
                  {"batch-size", "20"},
                  {"epoch-batches", "2"},
                  {"epoch-balance", "true"},
                  {"val-split", "0"},
                  {"threads", "1"},
                  {"lr", "0.02"},
                  {"noise", "pairflip:0.3"},
                  {"checkpoint-every", "1h"}};
    values.insert(values.end(), more.begin(), more.end());
    return run_settings(values);
  }

  static TrainingSet samples(const Settings& settings) {
    Observer nobody;
    return training_set(load_run_data(settings, 1, nobody));
  }

  TemporaryFolder folder_;
};

TEST_F(DrawnEpochs, HaveSoManyStepsAndAreDrawnAnew) {
  const Settings with = settings();
  const Context context(with, samples(with), at::kCPU, Precision::fp32, 1);
  std::set<std::uint32_t> seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto slots = context.epoch_slots(epoch);
    EXPECT_EQ(slots.size(), 40U);
    EXPECT_EQ(context.plan_epoch(epoch).batches(), 2U);
    std::vector<int> counts(10);
    for (const auto slot : slots) ++counts[static_cast<std::size_t>(context.samples().labels[slot])];
    EXPECT_EQ(counts, std::vector<int>(10, 4)) << "balanced";
    seen.insert(slots.begin(), slots.end());
  }
  EXPECT_GT(seen.size(), 80U);
}

TEST_F(DrawnEpochs, AreWholeOnesWhereTheBatchesHoldMoreThanThereIs) {
  Observer nobody;
  const auto weights = [&](const std::string& batches) {
    const auto run = folder_.path() / ("run" + batches);
    train(settings({{"epoch-batches", batches}}), {run}, nobody);
    return bytes_of(run / "last/model.safetensors");
  };
  const std::string whole = weights("0");
  EXPECT_TRUE(weights("10") == whole);
  EXPECT_TRUE(weights("9") != whole);
}

/// The mean of all that was drawn of a class is the estimate where n groups hold it whole and the median is left out.
TEST_F(DrawnEpochs, RmlWeighsBeforeItTrainsAndWithinWhatIsDrawn) {
  const Settings with = settings({{"method", "rml"}, {"n", "2"}, {"k", "100"}, {"estimate", "mean"}});
  Context context(with, samples(with), at::kCPU, Precision::fp32, 1);
  const auto method = method_named("rml").make(context);
  Phase& phase = method->phase(0);
  phase.begin_epoch(0);
  EXPECT_EQ(std::ranges::count(method->weights(), 1.0F), 200) << "the first epoch";
  phase.begin_epoch(1);
  const auto slots = context.epoch_slots(1);
  const at::Tensor logits = context.score({&method->learners().front()->model()}, slots).front().logits;
  const at::Tensor log_p = at::log_softmax(logits, 1);
  std::vector<double> losses(200), means(10);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto label = context.samples().labels[slots[i]];
    losses[slots[i]] = -log_p[static_cast<std::int64_t>(i)][label].item<double>();
    means[static_cast<std::size_t>(label)] += losses[slots[i]] / 4;
  }
  int lower = 0;
  for (std::uint32_t slot = 0; slot < 200; ++slot) {
    const auto label = static_cast<std::size_t>(context.samples().labels[slot]);
    const bool is_drawn = std::ranges::binary_search(slots, slot);
    const double expected = is_drawn ? std::min(1.0, means[label] / losses[slot]) : 1;
    EXPECT_NEAR(static_cast<double>(method->weights()[slot]), expected, 1e-5) << slot;
    lower += expected < 1 ? 1 : 0;
  }
  EXPECT_GE(lower, 10);
}

TEST_F(DrawnEpochs, RmlSemiSplitsWhatIsDrawn) {
  const Settings with = settings({{"method", "rml-semi"}, {"warmup-epochs", "1"}});
  Context context(with, samples(with), at::kCPU, Precision::fp32, 1);
  const auto method = method_named("rml-semi").make(context);
  for (int epoch = 1; epoch < 3; ++epoch) {
    method->begin_epoch(epoch);
    const auto slots = context.epoch_slots(epoch);
    for (std::uint32_t slot = 0; slot < 200; ++slot)
      EXPECT_EQ(method->labelled()[slot] >= 0, std::ranges::binary_search(slots, slot)) << slot;
  }
}

TEST_F(DrawnEpochs, TheOutcomeIsOfTheSamplesOfTheLastEpoch) {
  Observer nobody;
  const Settings with = settings();
  const auto run = folder_.path() / "run";
  train(with, {run}, nobody);
  const Context context(with, samples(with), at::kCPU, Precision::fp32, 1);
  std::istringstream lines(bytes_of(run / "outcome/train.csv"));
  std::string line;
  std::getline(lines, line);
  std::vector<std::uint32_t> found;
  while (std::getline(lines, line)) {
    const auto index = static_cast<std::uint32_t>(std::stoul(line));
    found.push_back(index);
    const std::string label = fmt::format("{},{},", index, context.samples().labels[index]);
    EXPECT_TRUE(line.starts_with(label)) << line;
  }
  EXPECT_EQ(found, context.epoch_slots(2));
}

TEST_F(DrawnEpochs, FiguresOfSamplesAreOfThoseThatWereDrawn) {
  Observer nobody;
  const TrainResult result = train(settings({{"method", "rml-semi"}, {"warmup-epochs", "2"}, {"n", "2"}}), {}, nobody);
  const EpochMetrics& last = result.rows.back();
  // RML-Semi's weights are 1 for those that keep their label, and 0 for the others.
  if (!std::isnan(last.value("labelled"))) {
    EXPECT_NEAR(last.value("weight"), last.value("labelled") / 40, 1e-6);
  }
  EXPECT_GT(last.value("train_loss"), 0);
  EXPECT_EQ(result.rows.front().value("weight"), 1);
}

}  // namespace
}  // namespace regroup
