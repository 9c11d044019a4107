#include "regroup/train/trainer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>

#include "regroup/core/error.h"
#include "regroup/core/memory.h"
#include "regroup/io/safetensors.h"
#include "regroup/methods/schedule.h"
#include "regroup/train/checkpoint.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trained_predictor.h"
#include "support/user_error.h"
#include "train/run_files.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

/// Stops a run after so many steps.
class StopAfter : public Observer {
 public:
  explicit StopAfter(int steps) : steps_(steps) {}
  void step_done(const StepReport& /*report*/) override { stop = --steps_ <= 0; }

  std::atomic<bool> stop{false};

 private:
  int steps_;
};

class Train : public testing::Test {
 protected:
  Train() { write_tiny_mnist(folder_); }

  /// 162 training images in batches of 32: five steps per epoch.
  Settings settings(const Values& more = {}) const {
    Values values{{"data", "mnist"},
                  {"data-dir", folder_.path().string()},
                  {"width", "8"},
                  {"epochs", "3"},
                  {"batch-size", "32"},
                  {"noise", "symmetric:0.4"},
                  {"threads", "1"},
                  {"lr", "0.05"},
                  {"checkpoint-every", "1h"}};
    values.insert(values.end(), more.begin(), more.end());
    return run_settings(values);
  }

  std::filesystem::path run(const std::string& name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
};

TEST_F(Train, LeavesARunThatExplainsItself) {
  Observer nobody;
  const TrainResult result = train(settings(), {run("a")}, nobody);
  EXPECT_TRUE(result.finished);
  ASSERT_EQ(result.rows.size(), 3U);
  for (const char* file : {"config.toml", "metrics.csv", "summary.json", "labels.csv", "last/model.safetensors",
                           "last/ema.safetensors", "last/state.safetensors", "last/progress.json",
                           "best/ema.safetensors", "plots/accuracy.svg", "plots/losses.svg", "plots/confusion.svg"})
    EXPECT_TRUE(std::filesystem::exists(run("a") / file)) << file;
  EXPECT_EQ(result.summary.primary, "ema");
  EXPECT_NEAR(result.summary.noise_rate, 0.4, 0.1);
  EXPECT_EQ(result.summary.predictors.size(), 2U);
  EXPECT_TRUE(bytes_of(run("a") / "labels.csv").starts_with("index,label,clean\n0,"));
}

TEST_F(Train, ItsConfigurationRepeatsTheRun) {
  Observer nobody;
  train(settings(), {run("a")}, nobody);
  train(resolve_settings({read_config((run("a") / "config.toml").string())}), {run("b")}, nobody);
  EXPECT_EQ(bytes_of(run("a") / "last/model.safetensors"), bytes_of(run("b") / "last/model.safetensors"));
}

/// The step that a run begins with.
class FirstStep : public Observer {
 public:
  void step_done(const StepReport& report) override {
    if (!step) step = report.step;
  }
  std::optional<std::size_t> step;
};

TEST_F(Train, ARunGetsMoreEpochs) {
  // A run that is done, and one that was stopped in the second phase and is back in its first: that epoch begins again.
  for (const auto& [method, steps] : {std::pair{"rml", 100}, std::pair{"rml-semi", 8}}) {
    SCOPED_TRACE(method);
    const auto of = [&, name = method](const char* epochs) { return settings({{"method", name}, {"epochs", epochs}}); };
    StopAfter stopper(steps);
    const TrainResult shorter = train(of("2"), {run(method), false, &stopper.stop}, stopper);
    // A stop right after the run has become longer does not take that back.
    const std::atomic<bool> at_once{true};
    Observer nobody;
    EXPECT_FALSE(train(of("3"), {run(method), true, &at_once}, nobody).finished);
    EXPECT_FALSE(std::filesystem::exists(run(method) / "summary.json"));
    const Settings read = resolve_settings({read_config((run(method) / "config.toml").string())});
    EXPECT_EQ(read.integer("epochs"), 3);
    FirstStep first;
    const TrainResult longer = train(read, {run(method), true}, first);
    EXPECT_EQ(first.step, 1U);
    ASSERT_EQ(longer.rows.size(), 3U);
    EXPECT_EQ(longer.rows.front().value("train_loss"), shorter.rows.front().value("train_loss"));
    EXPECT_EQ(longer.rows.back().value("lr"), learning_rate(read, (2 + 4.0 / 5) / 3)) << "the last of five steps";
    EXPECT_EQ(longer.summary.epochs, 3);
  }
}

TEST_F(Train, TheLearningRateSurvivesAStop) {
  Observer nobody;
  const TrainResult whole = train(settings(), {}, nobody);
  StopAfter stopper(8);
  train(settings(), {run("a"), false, &stopper.stop}, stopper);
  const TrainResult resumed = train(settings(), {run("a"), true}, nobody);
  ASSERT_EQ(resumed.rows.size(), whole.rows.size());
  for (std::size_t i = 0; i < whole.rows.size(); ++i) {
    EXPECT_EQ(resumed.rows[i].value("lr"), whole.rows[i].value("lr"));
    EXPECT_EQ(resumed.rows[i].value("train_loss"), whole.rows[i].value("train_loss"));
    EXPECT_EQ(resumed.rows[i].value("test_ema"), whole.rows[i].value("test_ema"));
  }
}

TEST_F(Train, RmlTrustsRightLabelsMore) {
  write_tiny_mnist(folder_, 900);
  Observer nobody;
  const TrainResult result = train(settings({{"epochs", "8"}, {"k", "4"}}), {}, nobody);
  const EpochMetrics& last = result.rows.back();
  EXPECT_LT(last.value("weight_noisy"), 0.5 * last.value("weight_clean"));
  EXPECT_GT(last.value("test_model"), 0.9);
  EXPECT_LT(result.summary.memorised, 0.1);
}

/// Cross-entropy learns the wrong labels; RML-Semi drops them and guesses right ones.
TEST_F(Train, RmlSemiLearnsWhatCrossEntropyGetsWrong) {
  write_tiny_mnist(folder_, 270);
  Observer nobody;
  const Values same{{"epochs", "14"}, {"shift", "0"}, {"model", "resnet18"}, {"lr", "0.05"}, {"min-lr", "0.001"}};
  Values ce = same, semi = same;
  ce.emplace_back("method", "ce");
  semi.insert(semi.end(), {{"method", "rml-semi"}, {"k", "4"}, {"warmup-epochs", "4"}});
  const TrainResult taken_in = train(settings(ce), {}, nobody), result = train(settings(semi), {}, nobody);
  const EpochMetrics& last = result.rows.back();
  // Not by test accuracy: with so few and easy images the model that memorised may be right on all of them, by luck.
  EXPECT_GT(taken_in.summary.memorised, 0.9);
  EXPECT_LT(result.summary.memorised, 0.1);
  EXPECT_GT(last.value("test_model"), 0.95);
  EXPECT_GT(last.value("labelled_precision"), 0.95);
  EXPECT_GT(last.value("labelled_recall"), 0.9);
  EXPECT_GT(last.value("guess_accuracy"), 0.9);
  EXPECT_EQ(last.value("ramp"), 1);
  EXPECT_TRUE(std::isnan(result.rows.front().value("labelled"))) << "in the first epochs nothing is decided";
}

/// The schedule ends with the first phase, and the second has a rate of its own.
TEST_F(Train, RmlSemiMayHaveARateOfItsOwn) {
  Observer nobody;
  const Values same{{"k", "4"}, {"model", "resnet18"}, {"schedule", "linear"}, {"lr", "0.1"}, {"min-lr", "0.01"}};
  Values rml = same, semi = same;
  rml.insert(rml.end(), {{"method", "rml"}, {"epochs", "2"}});
  semi.insert(semi.end(), {{"method", "rml-semi"}, {"epochs", "4"}, {"warmup-epochs", "2"}, {"semi-lr", "0.003"}});
  const TrainResult first = train(settings(rml), {}, nobody), both = train(settings(semi), {}, nobody);
  for (std::size_t epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(both.rows[epoch].value("lr"), first.rows[epoch].value("lr"));
    EXPECT_EQ(both.rows[epoch].value("train_loss"), first.rows[epoch].value("train_loss"));
    EXPECT_EQ(both.rows[2 + epoch].value("lr"), 0.003);
  }
}

class Listener : public Observer {
 public:
  void message(const std::string& sentence) override { said += sentence + "\n"; }
  void note(const std::string& sentence) override { said += sentence + "\n"; }
  std::string said;
};

TEST_F(Train, TheMemoryOfAStepIsToldBeforeItIsTaken) {
  Listener listener;
  train(settings({{"epochs", "1"}}), {}, listener);
  EXPECT_NE(listener.said.find("a step of 32 images of 28x28 takes about 0."), std::string::npos) << listener.said;
  if (physical_memory() > 300e9) return;  // it would fit
  const std::string sentence = user_error([&] {
    train(settings({{"batch-size", "65536"}, {"width", "64"}}), {}, listener);
  });
  EXPECT_NE(sentence.find("; a smaller --batch-size or --image-size takes less"), std::string::npos) << sentence;
}

/// Labels that the network cannot know yet: some classes, or all, have no labelled sample.
TEST_F(Train, RmlSemiTrainsWithoutLabels) {
  Listener listener;
  const TrainResult result =
      train(settings({{"method", "rml-semi"}, {"k", "4"}, {"lr", "1e-9"}, {"min-lr", "0"}, {"noise", "symmetric:1"}}),
            {}, listener);
  EXPECT_TRUE(result.finished);
  EXPECT_TRUE(listener.said.find("classes have no labelled sample") != std::string::npos ||
              listener.said.find("no label agrees with both models") != std::string::npos)
      << listener.said;
}

/// Everything is labelled, or all but less than a batch holds.
TEST_F(Train, RmlSemiTrainsWithFewUnlabelled) {
  for (const int unlabelled : {0, 3}) {
    SCOPED_TRACE(unlabelled);
    std::string trusted;
    for (int i = 0; i < 180 - unlabelled; ++i) trusted += fmt::format("{}\n", i);
    Listener listener;
    const TrainResult result = train(settings({{"method", "rml-semi"},
                                               {"k", "4"},
                                               {"val-split", "0"},
                                               {"lr", "1e-9"},
                                               {"min-lr", "0"},
                                               {"noise", "symmetric:1"},
                                               {"trusted", folder_.write("trusted.txt", trusted).string()}}),
                                     {}, listener);
    ASSERT_TRUE(result.finished);
    const EpochMetrics& last = result.rows.back();
    EXPECT_GE(last.value("labelled"), 180 - unlabelled);
    EXPECT_GT(last.value("loss_labelled"), 0);
    EXPECT_EQ(last.value("loss_unlabelled") > 0, last.value("labelled") < 180);
    EXPECT_EQ(listener.said.find("none is guessed") != std::string::npos, last.value("labelled") == 180);
  }
}

TEST_F(Train, TrustedSamplesKeepTheirWeight) {
  std::string all;
  for (int i = 0; i < 180; ++i) all += fmt::format("{}\n", i);
  Observer nobody;
  const TrainResult result =
      train(settings({{"trusted", folder_.write("trusted.txt", all).string()}, {"k", "1"}}), {}, nobody);
  EXPECT_EQ(result.rows.back().value("weight"), 1);
}

TEST_F(Train, LossesCanBeRecordedAtTheEndOfAnEpoch) {
  Observer nobody;
  const TrainResult result = train(settings({{"record-losses", "epoch-end"}, {"k", "1"}}), {}, nobody);
  EXPECT_LT(result.rows.back().value("weight_noisy"), result.rows.back().value("weight_clean"));
}

TEST_F(Train, ABrokenLossStopsWithTheLastGoodCheckpoint) {
  Observer nobody;
  const Settings wild = settings({{"lr", "1000"}, {"epochs", "30"}, {"method", "ce"}, {"weight-decay", "1"}});
  const std::string sentence = user_error([&] { train(wild, {run("a")}, nobody); });
  EXPECT_NE(sentence.find("the checkpoint before is whole"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("epoch "), std::string::npos) << sentence;
  EXPECT_TRUE(std::filesystem::exists(run("a") / "last/progress.json"));
}

/// A kill, or a disk that is full, before the first checkpoint.
TEST_F(Train, AFolderWithoutACheckpointCanBeBegunAgainAndResumed) {
  Observer nobody;
  train(settings(), {run("whole")}, nobody);
  for (const bool resume : {false, true}) {
    std::filesystem::create_directories(run("cut") / "last.new");
    for (const char* file : {"config.toml", "labels.csv"})
      std::filesystem::copy(run("whole") / file, run("cut") / file);
    folder_.write("cut/last.new/model.safetensors", std::string("half"));
    folder_.write("cut/labels.csv.17.part", std::string("half"));
    EXPECT_TRUE(train(settings(), {run("cut"), resume}, nobody).finished);
    EXPECT_EQ(figures_of(run("whole")), figures_of(run("cut")));
    std::filesystem::remove_all(run("cut"));
  }
}

TEST_F(Train, NothingIsOverwritten) {
  Observer nobody;
  folder_.write("mine/notes.txt", std::string("mine"));
  EXPECT_NE(user_error([&] { train(settings(), {run("mine")}, nobody); }).find("is not empty"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run("mine")), {}), 1);

  StopAfter stopper(3);
  train(settings(), {run("a"), false, &stopper.stop}, stopper);
  EXPECT_NE(user_error([&] { train(settings(), {run("a")}, nobody); }).find("holds a run; continue it by --resume"),
            std::string::npos);
}

TEST_F(Train, AMistakeInTheDataLeavesNoFolder) {
  Observer nobody;
  EXPECT_NE(user_error([&] { train(settings({{"labels", "nowhere.csv"}}), {run("a")}, nobody); }), "");
  EXPECT_FALSE(std::filesystem::exists(run("a")));
}

TEST_F(Train, ARunHasOneOwnerAtATime) {
  /// Tries to resume the run from within.
  class Second : public Observer {
   public:
    explicit Second(std::function<void()> intrude) : intrude_(std::move(intrude)) {}
    void step_done(const StepReport& /*report*/) override {
      if (said.empty()) said = user_error(intrude_);
    }
    std::string said;

   private:
    std::function<void()> intrude_;
  };
  Observer nobody;
  Second second([&] { train(settings(), {run("a"), true}, nobody); });
  EXPECT_TRUE(train(settings(), {run("a")}, second).finished);
  EXPECT_NE(second.said.find(fmt::format("process {} on ", ::getpid())), std::string::npos) << second.said;
}

/// A kill between two renames, where the file system cannot exchange two folders.
TEST_F(Train, ACheckpointUnderItsSecondNameIsFound) {
  Observer nobody;
  train(settings(), {run("whole")}, nobody);
  StopAfter stopper(7);
  train(settings(), {run("a"), false, &stopper.stop}, stopper);
  std::filesystem::rename(run("a") / "last", run("a") / "last.old");
  EXPECT_EQ(read_progress(run("a") / "last").place.step, 2U);
  EXPECT_TRUE(train(settings(), {run("a"), true}, nobody).finished);
  EXPECT_EQ(figures_of(run("whole")), figures_of(run("a")));

  std::filesystem::rename(run("a") / "last", run("a") / "last.old");
  EXPECT_EQ(load_trained_predictor(run("a"), "last", at::kCPU).source, (run("a") / "last.old/ema").string());
}

/// A checkpoint may come from somebody else.
TEST_F(Train, WhatNoRunCanHaveSavedIsRefused) {
  const Values semi{{"method", "rml-semi"}, {"warmup-epochs", "1"}, {"model", "resnet18"}};
  StopAfter stopper(7);
  train(settings(semi), {run("a"), false, &stopper.stop}, stopper);
  const std::string state = bytes_of(run("a") / "last/state.safetensors");
  const std::string progress = bytes_of(run("a") / "last/progress.json");
  Observer nobody;
  const auto refused = [&] { return user_error([&] { train(settings(semi), {run("a"), true}, nobody); }); };

  const auto with = [&](const std::string& tensor, auto value) {
    folder_.write("a/last/state.safetensors", state);
    const SafetensorsFile file(run("a") / "last/state.safetensors");
    std::vector<TensorBytes> tensors(file.tensors().begin(), file.tensors().end());
    std::vector<std::byte> changed;
    for (TensorBytes& t : tensors) {
      if (t.name != tensor) continue;
      changed.assign(t.bytes.begin(), t.bytes.end());
      std::memcpy(changed.data(), &value, sizeof value);
      t.bytes = changed;
    }
    EXPECT_FALSE(changed.empty()) << tensor;
    write_safetensors(run("a") / "last/state.safetensors", tensors, {});
    const std::string sentence = refused();
    EXPECT_NE(sentence.find(tensor), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("damaged"), std::string::npos) << sentence;
  };
  with("labelled", std::int32_t{1'000'000});
  with("guesses", std::int32_t{10});
  with("predicted", std::int32_t{-2});
  with("weights", 2.0F);
  with("losses", std::numeric_limits<float>::infinity());
  with("model.steps", std::int64_t{-1});
  with("model.rate", std::numeric_limits<double>::quiet_NaN());

  folder_.write("a/last/state.safetensors", state);
  const auto says = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(progress.find(from), std::string::npos) << from;
    folder_.write("a/last/progress.json", std::string(progress).replace(progress.find(from), from.size(), to));
    const std::string sentence = refused();
    EXPECT_TRUE(sentence.find("damaged") != std::string::npos || sentence.find("progress") != std::string::npos)
        << to << ": " << sentence;
  };
  says("\"epoch\": 1,\n \"", "\"epoch\": -1,\n \"");
  says("\"epoch\": 1,\n \"", "\"epoch\": 1e300,\n \"");
  says("\"epoch\": 1,\n \"", "\"epoch\": 2000000,\n \"");
  says("\"epoch\": 1,\n \"", "\"epoch\": 2,\n \"");
  says("\"step\": 2", "\"step\": 1000000");
  says("\"step\": 2", "\"step\": -2");
  says("\"step\": 2", "\"step\": 1.5");
  says("\"step\": 2", "\"step\": \"two\"");
  says("\"best_validation\": ", "\"best_validation\": 7");
  says("{", "[");
}

TEST_F(Train, OtherLabelsAreNotResumedWith) {
  StopAfter stopper(3);
  train(settings(), {run("a"), false, &stopper.stop}, stopper);
  Observer nobody;
  const std::string sentence = user_error([&] { train(settings({{"seed", "2"}}), {run("a"), true}, nobody); });
  EXPECT_NE(sentence.find("the data is not what this run began with"), std::string::npos) << sentence;
}

/// A limit on the size of files stands in for a disk that is full.
TEST_F(Train, AFullDiskLeavesTheCheckpointBefore) {
  StopAfter stopper(3);
  train(settings(), {run("a"), false, &stopper.stop}, stopper);
  const std::string before = bytes_of(run("a") / "last/state.safetensors");

  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = 64 << 10;
  setrlimit(RLIMIT_FSIZE, &small);
  Observer nobody;
  const std::string sentence = user_error([&] { train(settings(), {run("a"), true}, nobody); });
  const std::string at_the_start = user_error([&] { train(settings(), {run("b")}, nobody); });
  setrlimit(RLIMIT_FSIZE, &old);

  EXPECT_NE(at_the_start.find("is the disk full?"), std::string::npos) << at_the_start;
  EXPECT_EQ(at_the_start.find("checkpoint before"), std::string::npos) << "there is none: " << at_the_start;
  EXPECT_TRUE(train(settings(), {run("b")}, nobody).finished) << "the same command works once there is room";
  EXPECT_NE(sentence.find("checkpoint before is whole"), std::string::npos) << sentence;
  EXPECT_EQ(before, bytes_of(run("a") / "last/state.safetensors"));
  EXPECT_TRUE(train(settings(), {run("a"), true}, nobody).finished);
}

TEST_F(Train, KnownTrueLabelsOfAFileAreUsedToReport) {
  std::string csv = "index,label,clean\n";
  for (int i = 0; i < 180; ++i) csv += fmt::format("{},{},{}\n", i, i % 4 == 0 ? (i + 1) % 10 : i % 10, i % 10);
  Observer nobody;
  const TrainResult result =
      train(settings({{"labels", folder_.write("labels.csv", csv).string()}, {"noise", "none"}, {"epochs", "1"}}), {},
            nobody);
  EXPECT_NEAR(result.summary.noise_rate, 0.25, 0.03);
}

TEST_F(Train, ReportsTopFiveWhereThatIsAskedFor) {
  Observer nobody;
  const TrainResult plain = train(settings({{"epochs", "1"}}), {}, nobody);
  EXPECT_TRUE(std::isnan(plain.rows.back().value("test_top5_ema")));
  EXPECT_TRUE(std::isnan(plain.summary.predictors.at("ema").top5));
  const TrainResult five = train(settings({{"epochs", "1"}, {"top5", "true"}}), {}, nobody);
  for (const std::string name : {"model", "ema"}) {
    const double top5 = five.rows.back().value("test_top5_" + name);
    EXPECT_GE(top5, five.rows.back().value("test_" + name));
    EXPECT_EQ(five.summary.predictors.at(name).top5, top5);
  }
}

}  // namespace
}  // namespace regroup
