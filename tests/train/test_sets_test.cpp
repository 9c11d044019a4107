#include <gtest/gtest.h>

#include "data/image_testing.h"
#include "regroup/io/text_file.h"
#include "regroup/train/run_report.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trainer.h"
#include "support/user_error.h"

namespace regroup {
namespace {

/// Red and blue squares; in test-turned/ the colours are exchanged, so that who learns well is wrong there.
class TestSets : public testing::Test {
 protected:
  TestSets() {
    for (int i = 0; i < 20; ++i) add("train", i, false);
    for (int i = 0; i < 6; ++i) add("test", i, false);
    for (int i = 0; i < 4; ++i) add("test-turned", i, true);
  }

  void add(const std::string& part, int i, bool turned) const {
    const auto shade = static_cast<std::uint8_t>(150 + 2 * i);
    const auto red = png_bytes(plain_image({32, 32}, shade, 40, 30)),
               blue = png_bytes(plain_image({32, 32}, 20, 40, shade));
    folder_.write(fmt::format("photos/{}/red/{:02}.png", part, i), turned ? blue : red);
    folder_.write(fmt::format("photos/{}/blue/{:02}.png", part, i), turned ? red : blue);
  }

  Settings settings() const {
    return run_settings({{"data", "folder:" + (folder_.path() / "photos").string()},
                         {"recipe", "paper"},
                         {"width", "8"},
                         {"epochs", "6"},
                         {"batch-size", "8"},
                         {"lr", "0.02"},
                         {"threads", "1"}});
  }

  std::filesystem::path run() const { return folder_.path() / "run"; }

  TemporaryFolder folder_;
};

TEST_F(TestSets, EachHasFiguresAndFilesOfItsOwn) {
  Observer nobody;
  const TrainResult result = train(settings(), {run()}, nobody);
  EXPECT_EQ(result.summary.predictors.at("ema").last, 1);
  EXPECT_EQ(result.summary.more_tests.at("test-turned").at("ema").last, 0);
  EXPECT_EQ(result.rows.back().value("test_model"), 1);
  EXPECT_EQ(result.rows.back().value("test-turned_model"), 0);
  EXPECT_EQ(read_summary(run() / "summary.json").more_tests.at("test-turned").size(), 2U);
  EXPECT_EQ(lines(read_text(run() / "outcome" / "test.csv")).size(), 13U);
  EXPECT_TRUE(read_text(run() / "outcome" / "test-turned.csv").starts_with("index,label,ema,model\n0,0,1,1\n"));
  EXPECT_TRUE(std::filesystem::exists(run() / "plots" / "confusion-turned.svg"));
  EXPECT_NE(read_text(run() / "metrics.csv").find("val_model,test_model,test-turned_model,"), std::string::npos);
}

TEST_F(TestSets, ARunGoesOnWithThoseThatItBeganWith) {
  Observer nobody;
  const std::atomic<bool> stop{true};
  train(settings(), {run(), false, &stop}, nobody);
  add("test-late", 1, false);
  EXPECT_EQ(
      user_error([&] {
        train(settings(), {run(), true, &stop}, nobody);
      }),
      run().string() +
          ": the data is not what this run began with: the list of images and their labels is the same, but files "
          "or test sets have changed; put it back, or begin a new run with --config " +
          (run() / "config.toml").string());
}

TEST(EventTag, NamesTestSetAndPredictor) {
  EXPECT_EQ(event_tag("test_ema", "ema"), "test/top1");
  EXPECT_EQ(event_tag("test_model", "ema"), "test/top1_model");
  EXPECT_EQ(event_tag("test-a.b-c_ema", "ema"), "test-a.b-c/top1");
  EXPECT_EQ(event_tag("test_top5_ema", "ema"), "test/top5");
  EXPECT_EQ(event_tag("test-b_top5_model", "ema"), "test-b/top5_model");
  EXPECT_EQ(event_tag("train_loss", "ema"), "train/loss");
  EXPECT_EQ(event_tag("weight", "ema"), "train/weight");
}

}  // namespace
}  // namespace regroup
