#include "console.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "regroup/train/metrics.h"

namespace regroup {
namespace {

using namespace std::chrono_literals;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Reading, measuring and long steps say nothing by themselves.
TEST(Console, ALogIsNeverSilentForLong) {
  testing::internal::CaptureStderr();
  {
    Console console(false, 20ms);
    std::this_thread::sleep_for(70ms);
    console.loading(30, 120);
    std::this_thread::sleep_for(200ms);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_GE(count(said, "working\n"), 1U) << said;
  EXPECT_GE(count(said, " 25 %  reading, 30 of 120\n"), 2U) << said;
  EXPECT_EQ(count(said, "\x1b"), 0U) << "no bar without a terminal";
}

TEST(Console, WhoWantsItQuietHearsWarningsOnly) {
  testing::internal::CaptureStderr();
  {
    Console console(true, 5ms);
    console.note("found");
    console.loading(1, 2);
    std::this_thread::sleep_for(30ms);
    console.message("careful");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "careful\n");
}

TEST(Console, AnEpochNamesTheLastOneAlsoWithoutASingleStep) {
  testing::internal::CaptureStderr();
  EpochMetrics metrics;
  metrics.epoch = 229;
  metrics.add("train_loss", 0.5);
  metrics.add("seconds", 1);
  Console(false).epoch_done(metrics, 300);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "epoch 229/300  loss 0.500  1.0 s\n");
}

TEST(Console, AFolderIsOneWordOfACommand) {
  EXPECT_EQ(shell_word("runs/photos-rml-1"), "runs/photos-rml-1");
  EXPECT_EQ(shell_word("my photos"), "'my photos'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace regroup
