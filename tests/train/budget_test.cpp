#include "regroup/train/budget.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "data/image_testing.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"
#include "train/tiny_data.h"

namespace regroup {
namespace {

/// Remembers what a run tells.
class Listener : public Observer {
 public:
  void note(const std::string& sentence) override { notes += sentence + "\n"; }
  void message(const std::string& sentence) override { messages += sentence + "\n"; }
  std::string notes, messages;
};

/// Twenty small photos in two classes.
class BudgetedRun : public ::testing::Test {
 protected:
  BudgetedRun() {
    for (std::uint32_t i = 0; i < 20; ++i) {
      const std::string place = (i % 2 == 0 ? "photos/a/" : "photos/b/") + std::to_string(i) + ".png";
      folder.write(place, png_bytes(random_image({40, 34}, i)));
    }
  }

  Settings settings(std::vector<std::pair<std::string, std::string>> more) const {
    std::vector<std::pair<std::string, std::string>> values{
        {"data", "folder:" + (folder.path() / "photos").string()}, {"width", "8"}, {"threads", "1"}};
    values.insert(values.end(), more.begin(), more.end());
    return run_settings(values);
  }

  TemporaryFolder folder;
  Listener listener;
};

TEST_F(BudgetedRun, ImageFilesOfOnesOwnHaveARecipeOfTheirOwn) {
  const Settings own = settings({});
  EXPECT_EQ(own.text("recipe"), "photos");
  EXPECT_EQ(own.text("method"), "rml");
  EXPECT_EQ(own.integer("epochs"), 0);
  EXPECT_EQ(run_settings({}).text("recipe"), "paper");
  EXPECT_EQ(run_settings({{"data", "cifar10"}}).integer("epochs"), 200);
  EXPECT_EQ(settings({{"recipe", "fast"}}).integer("epochs"), 16);
}

TEST_F(BudgetedRun, WhatIsDecidedStandsInTheConfigAndIsNotMeasuredAgain) {
  const auto run = folder.path() / "run";
  const std::atomic<bool> stop{true};
  train(settings({{"budget", "1h"}}), {run, false, &stop}, listener);
  const Settings written = resolve_settings({read_config((run / "config.toml").string())});
  EXPECT_EQ(written.text("budget"), "none");
  EXPECT_EQ(written.integer("image-size"), 32) << "the largest that is not larger than the files";
  EXPECT_GT(written.integer("epochs"), 20);
  EXPECT_NE(listener.notes.find(" epochs of the network fast by the method rml on images of 32x32"), std::string::npos)
      << listener.notes;
  Listener again;
  train(written, {folder.path() / "again", false, &stop}, again);
  EXPECT_EQ(again.notes.find("measuring"), std::string::npos) << again.notes;
  EXPECT_EQ(resolve_settings({read_config((folder.path() / "again/config.toml").string())}).integer("epochs"),
            written.integer("epochs"));
}

TEST_F(BudgetedRun, WhatIsGivenStays) {
  const auto run = folder.path() / "run";
  const std::atomic<bool> stop{true};
  train(settings({{"epochs", "3"}, {"image-size", "30"}, {"budget", "1h"}}), {run, false, &stop}, listener);
  const Settings written = resolve_settings({read_config((run / "config.toml").string())});
  EXPECT_EQ(written.integer("epochs"), 3);
  EXPECT_EQ(written.integer("image-size"), 30);
}

TEST_F(BudgetedRun, ABudgetThatIsTooShortIsToldAndGivesAtLeastOneEpoch) {
  const auto run = folder.path() / "run";
  const std::atomic<bool> stop{true};
  train(settings({{"budget", "0.001s"}}), {run, false, &stop}, listener);
  EXPECT_GE(resolve_settings({read_config((run / "config.toml").string())}).integer("epochs"), 1);
  EXPECT_NE(listener.messages.find("a longer --budget or a --limit gives better results"), std::string::npos);
}

/// Two thousand images that take three milliseconds each time that they are read.
class SlowImages final : public SampleSource {
 public:
  SampleShape shape() const override { return {3, 32, 32}; }
  std::size_t size() const override { return 2000; }
  bool decodes() const override { return true; }
  std::uint64_t digest(std::uint64_t before) const override { return before; }
  SampleView read(std::uint32_t /*index*/, SampleScratch& /*scratch*/) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return {pixels_, 32, 32};
  }

 private:
  std::vector<std::uint8_t> pixels_ = std::vector<std::uint8_t>(std::size_t{3} * 32 * 32, 100);
};

/// An epoch takes three seconds on two threads, and nine tenths of the budget are planned.
TEST_F(BudgetedRun, DecodingInEachEpochIsPartOfIt) {
  RunData data;
  data.dataset.class_names = {"a", "b"};
  data.dataset.train.source = std::make_shared<SlowImages>();
  data.split.train.resize(2000);
  Budget budget(settings({{"budget", "1m"}, {"workers", "2"}}), listener);
  EXPECT_LE(budget.decided(data).integer("epochs"), 18) << listener.notes;
}

TEST_F(BudgetedRun, TheSideFollowsFromHowLongItsImagesTakeToDecode) {
  const Settings five_epochs = settings({{"budget", "12s"}, {"epochs", "5"}, {"workers", "2"}});
  ImageSurvey survey{2000, 0, 0, 2, {64, 64}};
  survey.from_disk = [&](int side) { return side < 64 ? nullptr : std::make_shared<SlowImages>(); };
  EXPECT_LT(Budget(five_epochs, listener).choose_side(survey), 64) << "that would take 15 s";
}

TEST_F(BudgetedRun, WithoutABudgetEpochsMustBeGiven) {
  EXPECT_EQ(user_error([&] {
              train(settings({{"budget", "none"}}), {}, listener);
            }),
            "epochs is 0 and there is no budget; give the number of epochs");
}

}  // namespace
}  // namespace regroup
