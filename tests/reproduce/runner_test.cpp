#include "regroup/reproduce/runner.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "reproduce/reproduce_testing.h"
#include "support/temporary_folder.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a plan with a program that is a few lines of shell. They find the run's folder in $run, and `finish` leaves
/// there what a finished run leaves.
class Runner : public testing::Test {
 protected:
  GridReport run(const std::string& lines, const std::string& rows = R"({ label = "CE", method = "ce" })") {
    const fs::path program = folder_.path() / "program";
    write_file(program, R"(#!/bin/sh
echo "$@" >> ')" + calls().string() +
                            R"('
while [ $# -gt 0 ]; do case $1 in --output|--resume) run=$2;; esac; shift; done
mkdir -p "$run"
finish() { mkdir -p "$run/last"; echo ')" +
                            progress_json(10, 30) + R"(' > "$run/last/progress.json"; touch "$run/summary.json"; }
)" + lines + "\n");
    fs::permissions(program, fs::perms::owner_all);
    plan_ = plan_runs({small_grid(rows)}, {}, {});
    options_.folder.path = folder_.path() / "grid";
    options_.program = program.string();
    GridObserver silent;
    return run_plan(plan_, options_, silent);
  }

  fs::path calls() const { return folder_.path() / "calls"; }
  RunState state(std::size_t run = 0) const { return options_.folder.state(plan_.at(run).name); }

  TemporaryFolder folder_;
  std::vector<PlannedRun> plan_;
  RunnerOptions options_;
};

TEST_F(Runner, ARunThatLeavesASummaryIsDone) {
  const GridReport report = run("finish");
  EXPECT_EQ(report.done, 1U);
  EXPECT_EQ(state().kind, RunState::Kind::done);
  EXPECT_EQ(state().epochs_done, 10);
  EXPECT_EQ(state().seconds, 30);

  run("exit 1");
  EXPECT_EQ(state().kind, RunState::Kind::done) << "it was not done again";
}

TEST_F(Runner, ARunThatIsStoppedHasNotFailed) {
  for (const std::string end : {"exit 130", "exit 143", "kill -INT $$", "kill -TERM $$"}) {
    const GridReport report = run("mkdir -p \"$run/last\"; " + end);
    EXPECT_EQ(report.done + report.failed, 0U) << end;
    EXPECT_EQ(state().kind, RunState::Kind::begun) << end;
  }
  EXPECT_EQ(run("finish").done, 1U) << "the same command resumes it";
}

TEST_F(Runner, ARunThatStartsFromAStoppedOneDoesNotBegin) {
  const std::string rows = R"({ label = "CE", method = "ce" }, { label = "RML", method = "rml", after = "ce" })";
  EXPECT_EQ(run("exit 130", rows).failed, 0U);
  EXPECT_EQ(state(1).kind, RunState::Kind::open);
  EXPECT_EQ(run("finish", rows).done, 2U);
}

TEST_F(Runner, AMethodThatStartsFromCrossEntropyGetsItsBestNetwork) {
  const std::string rows = R"({ label = "CE", method = "ce" }, { label = "F", method = "forward", after = "ce" },
    { label = "RML", method = "rml", after = "ce" })";
  ASSERT_EQ(run("mkdir -p \"$run/best\"; finish", rows).done, 3U);
  const auto value_of = [&](std::size_t i, const std::string& name) {
    for (const GivenValue& given : read_config(options_.folder.config(plan_[i].name).string()))
      if (given.name == name) return to_text(given.value);
    return std::string();
  };
  const fs::path ce = options_.folder.run(plan_[0].name);
  EXPECT_EQ(value_of(1, "ce-weights"), (ce / "best/model.safetensors").string());
  EXPECT_EQ(value_of(1, "init-weights"), "");
  EXPECT_EQ(value_of(2, "init-weights"), (ce / "last/model.safetensors").string());
}

TEST_F(Runner, WhatStopsTheGridStopsItsRuns) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  class Stopper : public GridObserver {
   public:
    explicit Stopper(std::atomic<bool>& stop) : stop_(stop) {}
    void progress(const GridReport& report) override { stop_ = !report.running.empty(); }

   private:
    std::atomic<bool>& stop_;
  } stopper(stop);
  run("exit 130");  // makes the plan
  write_file(options_.program, "#!/bin/sh\ntrap 'exit 130' INT\nwhile true; do sleep 0.05; done\n");
  fs::permissions(options_.program, fs::perms::owner_all);
  const GridReport report = run_plan(plan_, options_, stopper);
  EXPECT_EQ(report.done + report.failed, 0U);
}

TEST_F(Runner, ARunThatEndsWithoutASummaryHasFailed) {
  EXPECT_EQ(run("exit 0").failed, 1U);
  EXPECT_EQ(state().reason, "ended without a summary.json");
}

TEST_F(Runner, AFailureHasAReason) {
  EXPECT_EQ(run("echo 'regroup: labels.csv: is empty' >&2; exit 2").failed, 1U);
  EXPECT_EQ(state().reason, "labels.csv: is empty");
  EXPECT_EQ(run("kill -KILL $$").failed, 1U);
  EXPECT_EQ(state().reason, "ended by signal 9 (Killed)");
  EXPECT_EQ(run("finish").done, 1U) << "a failure of an earlier time is tried again";
}

TEST_F(Runner, ACheckpointIsNeverThrownAway) {
  for (const std::string name : {"last", "last.old"}) {
    run("exit 130");
    const fs::path run_folder = options_.folder.run(plan_.at(0).name);
    fs::remove_all(run_folder);
    write_progress(run_folder / name, 4, 12);
    write_file(run_folder / name / "model.safetensors", "weights");
    EXPECT_EQ(state().kind, RunState::Kind::begun) << name;
    EXPECT_EQ(state().epochs_done, 4) << name;

    fs::remove(calls());
    run("exit 130");
    EXPECT_NE(text_of(calls()).find("--resume " + run_folder.string()), std::string::npos) << text_of(calls());
    EXPECT_EQ(text_of(run_folder / name / "model.safetensors"), "weights");
  }
}

TEST_F(Runner, WhatHasNoCheckpointBeginsAnew) {
  run("touch \"$run/rest\"; exit 130");
  run("finish");
  EXPECT_FALSE(fs::exists(options_.folder.run(plan_.at(0).name) / "rest"));
}

TEST_F(Runner, ARunIsResumedWithTheNewPlaceOfItsData) {
  options_.data_dirs = {{"mnist", "/here"}};
  run("finish; rm \"$run/summary.json\"; exit 130");
  EXPECT_NE(text_of(options_.folder.config(plan_.at(0).name)).find("data-dir = \"/here\""), std::string::npos);
  options_.data_dirs = {{"mnist", "/there"}};
  run("finish");
  const std::string config = text_of(options_.folder.run(plan_.at(0).name) / "config.toml");
  EXPECT_NE(config.find("data-dir = \"/there\""), std::string::npos) << config;
}

}  // namespace
}  // namespace regroup
