#include "regroup/train/audit_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>

#include "regroup/core/error.h"
#include "regroup/io/npy.h"
#include "regroup/io/safetensors.h"
#include "regroup/train/foreign_predictions.h"
#include "regroup/train/trainer.h"
#include "support/data_testing.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

/// A run on easy images, a fifth of whose labels are wrong.
Settings tiny_settings(const TemporaryFolder& data, const std::string& method) {
  return run_settings({{"data", "mnist"},
                       {"data-dir", data.path().string()},
                       {"noise", "symmetric:0.2"},
                       {"method", method},
                       {"recipe", "fast"},
                       {"width", "8"},
                       {"batch-size", "32"},
                       {"epochs", "6"},
                       {"precision", "fp32"},
                       {"val-split", "0.2"},
                       {"threads", "1"}});
}

class AuditRun : public testing::TestWithParam<const char*> {};

TEST_P(AuditRun, FindsTheLabelsThatWereMadeWrong) {
  const TemporaryFolder data, runs;
  write_tiny_mnist(data, 600);
  const auto folder = runs.path() / "run";
  Observer silent;
  train(tiny_settings(data, GetParam()), {folder}, silent);
  const RunPredictions predictions = read_run_predictions(folder, {}, "cpu", silent);
  EXPECT_FALSE(predictions.history.empty());
  const Audit audit = audit_run(predictions, AuditPart::all, 1);
  ASSERT_EQ(audit.samples.size(), 640U);
  const auto quality = audit_quality(audit, audit.labels.front());
  ASSERT_TRUE(quality.has_value());
  EXPECT_GT(quality->average_precision, 0.9);
  const double truth = static_cast<double>(quality->wrong) / static_cast<double>(quality->known);
  EXPECT_NEAR(audit.labels.front().beliefs.noise_rate.value, truth, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Methods, AuditRun, testing::Values("rml", "ce", "mixup"));

TEST(AuditIntervals, HoldTheNoiseRateInNineOfTenTrainings) {
  const TemporaryFolder data, runs;
  write_tiny_mnist(data, 600);
  Observer silent;
  int holds = 0;
  for (std::int64_t seed = 1; seed <= 10; ++seed) {
    const auto folder = runs.path() / std::to_string(seed);
    Settings settings = tiny_settings(data, seed % 2 == 0 ? "ce" : "rml");
    settings.set("seed", seed, "test");
    settings.set("noise", std::string(seed % 4 < 2 ? "symmetric:0.2" : "symmetric:0.4"), "test");
    train(settings, {folder}, silent);
    const RunPredictions run = read_run_predictions(folder, {}, "cpu", silent);
    const Audit audit = judge_run(run, AuditPart::all, 1);
    const auto quality = audit_quality(audit, audit.labels.front());
    ASSERT_TRUE(quality.has_value());
    const double truth = static_cast<double>(quality->wrong) / static_cast<double>(quality->known);
    const Estimate& rate = audit.labels.front().beliefs.noise_rate;
    holds += rate.low <= truth && truth <= rate.high ? 1 : 0;
  }
  EXPECT_GE(holds, 9);
}

class StopAfter : public Observer {
 public:
  explicit StopAfter(int steps) : steps_(steps) {}
  void step_done(const StepReport& /*report*/) override { stop = --steps_ <= 0; }

  std::atomic<bool> stop{false};

 private:
  int steps_;
};

double precision_of(const Audit& audit) {
  const auto quality = audit_quality(audit, audit.labels.front());
  return quality ? quality->average_precision : 0;
}

TEST(RunPredictions, OfARunThatStillTrainsAreThoseOfItsLastCheckpoint) {
  const TemporaryFolder data, runs;
  write_tiny_mnist(data, 600);
  const auto folder = runs.path() / "run";
  StopAfter watch(4 * 15 + 7);  // in the fifth of six epochs of 15 steps
  EXPECT_FALSE(train(tiny_settings(data, "rml"), {folder, false, &watch.stop}, watch).finished);
  Observer silent;
  const RunPredictions predictions = read_run_predictions(folder, {}, "cpu", silent);
  EXPECT_EQ(predictions.epochs_done, 4);
  EXPECT_EQ(predictions.epochs, 6);
  EXPECT_GT(precision_of(audit_run(predictions, AuditPart::all, 1)), 0.9);
}

TEST(RunPredictions, OfARunThatHasKeptNoneAreThoseOfItsLastNetwork) {
  const TemporaryFolder data, runs;
  write_tiny_mnist(data, 600);
  const auto folder = runs.path() / "run";
  Observer silent;
  train(tiny_settings(data, "ce"), {folder}, silent);
  const auto state = folder / "last/state.safetensors";
  const SafetensorsFile file(state);
  std::vector<TensorBytes> others;
  std::ranges::copy_if(file.tensors(), std::back_inserter(others), [](const TensorBytes& tensor) {
    return !tensor.name.starts_with("predictions.") && tensor.name != "noise_rates";
  });
  ASSERT_LT(others.size(), file.tensors().size());
  write_safetensors(state, others, file.metadata());
  const RunPredictions predictions = read_run_predictions(folder, {}, "cpu", silent);
  EXPECT_TRUE(predictions.history.empty());
  const Audit audit = audit_run(predictions, AuditPart::all, 1);
  EXPECT_FALSE(audit.knows_history);
  EXPECT_GT(precision_of(audit), 0.9);
}

TEST(RunPredictions, RefuseARunWhoseDataIsGoneOrChanged) {
  const TemporaryFolder data, runs;
  write_tiny_mnist(data, 120);
  const auto folder = runs.path() / "run";
  Observer silent;
  Settings settings = tiny_settings(data, "ce");
  settings.set("epochs", std::int64_t{1}, "test");
  train(settings, {folder}, silent);
  write_tiny_mnist(data, 110);
  EXPECT_THROW(read_run_predictions(folder, {}, "cpu", silent), UserError);
  EXPECT_THROW(read_run_predictions(data.path(), {}, "cpu", silent), UserError);
}

TEST(ForeignPredictions, AreReadAndChecked) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "p.npy";
  write_npy(file, std::vector<float>{0.9F, 0.1F, 0.2F, 0.8F}, std::vector<std::size_t>{2, 2});
  folder.write("numbers.csv", "index,label\n0,0\n1,1\n");
  folder.write("names.txt", "dog\ncat\n");
  EXPECT_EQ(read_foreign_predictions(file, folder.path() / "numbers.csv").labels, (std::vector<std::int32_t>{0, 1}));
  const ForeignPredictions named = read_foreign_predictions(file, folder.path() / "names.txt");
  EXPECT_EQ(named.class_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(named.labels, (std::vector<std::int32_t>{1, 0}));
  folder.write("three.txt", "0\n1\n1\n");
  EXPECT_THROW(read_foreign_predictions(file, folder.path() / "three.txt"), UserError);
  folder.write("other.txt", "dog\nbird\ncat\n");
  EXPECT_THROW(read_foreign_predictions(file, folder.path() / "other.txt"), UserError);
  write_npy(file, std::vector<float>{2, -1, 0.5F, 0.5F}, std::vector<std::size_t>{2, 2});
  EXPECT_THROW(read_foreign_predictions(file, folder.path() / "numbers.csv"), UserError);
  write_npy(file, std::vector<float>{1, 1}, std::vector<std::size_t>{2});
  EXPECT_THROW(read_foreign_predictions(file, folder.path() / "numbers.csv"), UserError);
}

}  // namespace
}  // namespace regroup
