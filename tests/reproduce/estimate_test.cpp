#include "regroup/reproduce/estimate.h"

#include <gtest/gtest.h>

#include "reproduce/reproduce_testing.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

class Estimate : public testing::Test {
 protected:
  Estimate() {
    options_.folder.path = folder_.path() / "grid";
    options_.device = "cpu";
  }

  /// A run of the plan as its folder would be after so many epochs.
  void has_run(const PlannedRun& run, int epochs, double seconds, bool is_done, double epoch_seconds = 0) const {
    const auto folder = options_.folder.run(run.name);
    write_progress(folder / "last", epochs, seconds, epoch_seconds);
    write_file(folder / "config.toml", config_text(options_.settings_of(run)));
    if (is_done) write_file(folder / "summary.json", "{}");
  }

  TemporaryFolder folder_;
  RunnerOptions options_;
  std::vector<PlannedRun> plan_ = plan_runs({small_grid(R"({ label = "CE", method = "ce" })", "seeds = 3")}, {}, {});
};

using Source = RunEstimate::Source;

TEST_F(Estimate, IsMeasuredOnFinishedRunsOfTheSameKind) {
  has_run(plan_[0], 10, 200, true);
  has_run(plan_[1], 1, 90, false);
  for (const RunEstimate& estimate : estimate_runs(plan_, options_)) {
    EXPECT_EQ(estimate.source, Source::finished_runs);
    EXPECT_DOUBLE_EQ(estimate.time.epoch, 20) << "a run that has only begun says less";
    EXPECT_DOUBLE_EQ(estimate.time.left(10), 200);
  }
}

TEST_F(Estimate, IsMeasuredOnAnUnfinishedRunWhereNoneIsFinished) {
  has_run(plan_[0], 4, 50, false, 10);
  for (const RunEstimate& estimate : estimate_runs(plan_, options_)) {
    EXPECT_EQ(estimate.source, Source::begun_runs);
    EXPECT_DOUBLE_EQ(estimate.time.epoch, 10) << "ten of the seconds belong to the fifth epoch";
  }
}

TEST_F(Estimate, KnowsTheRunsOfOtherGridsInTheFolder) {
  Grid other = small_grid();
  other.values.push_back({"lr", 0.5, "test"});
  has_run(plan_runs({other}, {}, {}).at(0), 10, 300, true);
  EXPECT_DOUBLE_EQ(estimate_runs(plan_, options_).at(0).time.epoch, 30);
}

TEST_F(Estimate, TellsWhatASettingChanges) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, SettingValue>>{
           {"width", std::int64_t{16}}, {"precision", std::string("bf16")}, {"eval-every", std::int64_t{1}}}) {
    Settings other = plan_[0].settings;
    other.set(name, value, "test");
    EXPECT_NE(run_kind(other), run_kind(plan_[0].settings)) << name;
  }
  EXPECT_EQ(run_kind(plan_[0].settings), run_kind(plan_[1].settings)) << "another seed takes as long";
}

TEST_F(Estimate, CountsTheTimeBeforeTheFirstEpoch) {
  has_run(plan_[0], 10, 200, true);
  const auto started = std::filesystem::file_time_type::clock::now();
  write_file(options_.folder.config(plan_[0].name), "");
  write_file(options_.folder.run(plan_[0].name) / "labels.csv", "");
  std::filesystem::last_write_time(options_.folder.config(plan_[0].name), started);
  std::filesystem::last_write_time(options_.folder.run(plan_[0].name) / "labels.csv",
                                   started + std::chrono::seconds(7));
  EXPECT_NEAR(estimate_runs(plan_, options_).at(0).time.left(10), 207, 0.01);
}

TEST_F(Estimate, IsMeasuredOnAFewStepsWhereNothingHasRun) {
  write_tiny_mnist(folder_);
  options_.data_dirs = {{"mnist", folder_.path().string()}};
  const auto estimates = estimate_runs(plan_, options_);
  EXPECT_EQ(estimates[0].source, Source::steps);
  EXPECT_GT(estimates[0].time.start, 0);
  EXPECT_GT(estimates[0].time.epoch, 0);
  EXPECT_EQ(estimates[0].time.epoch, estimates[2].time.epoch) << "one measurement for all runs of a kind";
  EXPECT_FALSE(std::filesystem::exists(options_.folder.path)) << "nothing is left behind";
}

TEST_F(Estimate, SaysWhyATimeIsUnknown) {
  options_.data_dirs = {{"mnist", folder_.path().string()}};
  const auto estimates = estimate_runs(plan_, options_);
  EXPECT_EQ(estimates[0].source, Source::nothing);
  EXPECT_NE(estimates[0].reason.find("train-images-idx3-ubyte"), std::string::npos) << estimates[0].reason;
}

}  // namespace
}  // namespace regroup
