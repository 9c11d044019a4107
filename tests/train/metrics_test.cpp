#include "regroup/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/temporary_folder.h"
#include "support/user_error.h"

namespace regroup {
namespace {

EpochMetrics row(int epoch, double validation, double test) {
  EpochMetrics metrics;
  metrics.epoch = epoch;
  metrics.add("val_model", validation);
  metrics.add("test_model", test);
  return metrics;
}

TEST(Metrics, LastAndTheTwoBestsAreToldApart) {
  const PredictorSummary summary =
      summarise({row(1, 0.3, 0.7), row(2, 0.5, 0.8), row(3, 0.4, 0.9), row(4, 0.4, 0.6)}, "model");
  EXPECT_EQ(summary.last, 0.6);
  EXPECT_EQ(summary.best_val, 0.8);
  EXPECT_EQ(summary.best_test, 0.9);
}

TEST(Metrics, EpochsWithoutMeasuresDoNotCount) {
  const double none = std::nan("");
  const PredictorSummary summary = summarise({row(1, none, none), row(2, 0.5, 0.8), row(3, none, none)}, "model");
  EXPECT_EQ(summary.last, 0.8);
  EXPECT_EQ(summary.best_val, 0.8);
}

TEST(Metrics, WithoutAValidationSplitTheLastEpochIsTheChoice) {
  const double none = std::nan("");
  EXPECT_EQ(summarise({row(1, none, 0.9), row(2, none, 0.7)}, "model").best_val, 0.7);
}

TEST(Metrics, EachTestSetHasASummary) {
  EpochMetrics first = row(1, 0.3, 0.7), second = row(2, 0.2, 0.8);
  first.add("test-other_model", 0.4);
  second.add("test-other_model", 0.6);
  const PredictorSummary summary = summarise({first, second}, "model", "test-other");
  EXPECT_EQ(summary.last, 0.6);
  EXPECT_EQ(summary.best_val, 0.4) << "the validation split is the same for all";
  EXPECT_EQ(summary.best_test, 0.6);
}

TEST(Metrics, TopFiveIsThatOfTheLastEpoch) {
  EpochMetrics first = row(1, 0.3, 0.7), second = row(2, 0.2, 0.8);
  first.add("test_top5_model", 0.9);
  second.add("test_top5_model", 0.85);
  EXPECT_EQ(summarise({first, second}, "model").top5, 0.85);
  EXPECT_TRUE(std::isnan(summarise({row(1, 0.3, 0.7)}, "model").top5));
}

TEST(Metrics, ACsvHasALineAnEpochAndGapsForWhatWasNotMeasured) {
  EXPECT_EQ(metrics_csv({row(1, std::nan(""), 0.25), row(2, 0.5, 0.75)}),
            "epoch,val_model,test_model\n1,,0.25\n2,0.5,0.75\n");
}

TEST(Metrics, TheSummaryIsJson) {
  RunSummary summary;
  summary.predictors["ema"] = {0.5, 0.6, 0.7};
  summary.primary = "ema";
  summary.memorised = std::nan("");
  const std::string json = summary_json(summary);
  EXPECT_NE(json.find("\"best_val\": 0.6"), std::string::npos);
  EXPECT_NE(json.find("\"memorised\": null"), std::string::npos);
}

TEST(Metrics, ASummaryIsReadBack) {
  RunSummary summary{{{"ema", {0.5, 0.6, std::nan("")}}},         "ema", 0.25, std::nan(""), 3, 4, 5, 6, 7,
                     {{"test-other", {{"ema", {0.1, 0.2, 0.3}}}}}};
  const TemporaryFolder folder;
  const RunSummary read = read_summary(folder.write("summary.json", summary_json(summary)));
  EXPECT_EQ(summary_json(read), summary_json(summary));
  EXPECT_EQ(read.more_tests.at("test-other").at("ema").best_val, 0.2);
  EXPECT_EQ(summary_json(summary).find("top5"), std::string::npos) << "nobody asked for it";
  summary.predictors["ema"].top5 = 0.75;
  const RunSummary more = read_summary(folder.write("more.json", summary_json(summary)));
  EXPECT_EQ(more.predictors.at("ema").top5, 0.75);
  EXPECT_TRUE(std::isnan(more.more_tests.at("test-other").at("ema").top5));
  for (const char* text : {"", "[]", "{}", R"({"predictors": {"ema": 3}, "primary": "ema"})", R"({"primary": 1})"}) {
    const auto file = folder.write("other.json", text);
    EXPECT_EQ(user_error([&] { read_summary(file); }), file.string() + ": is not the summary of a run");
  }
}

}  // namespace
}  // namespace regroup
