#include "regroup/train/run_report.h"

#include <gtest/gtest.h>

#include "regroup/io/text_file.h"
#include "support/temporary_folder.h"

namespace regroup {
namespace {

/// outcome/train.csv of a run on the second and third of three images.
std::string train_outcome(const std::vector<std::string>& paths) {
  RunData data;
  data.dataset.class_names = {"cat", "dog"};
  data.dataset.train.paths = paths;
  data.observed = {0, 1, 0};
  data.clean = {0, 0, -1};
  data.split.train = {1, 2};
  EpochMetrics row;
  row.epoch = 1;
  for (const char* name : {"train_loss", "weight", "test_model"}) row.add(name, 0.5);
  RunSummary summary;
  summary.predictors["model"] = {};
  const TemporaryFolder folder;
  write_report(folder.path(), data, {{{0, 1}, {2.5F, 0.25F}, {0, 0}}, {}}, {row}, summary);
  return read_text(folder.path() / "outcome/train.csv");
}

TEST(RunReport, TheOutcomeHasTheLossOfEveryTrainingLabel) {
  EXPECT_EQ(train_outcome({}), "index,label,clean,loss,predicted\n1,1,0,2.5,0\n2,0,,0.25,0\n");
}

TEST(RunReport, WrongLabelsAreMemorisedWherePredicted) {
  RunData data;
  data.observed = {0, 1, 1, 0};
  data.clean = {0, 0, 0, 1};
  data.split.train = {0, 1, 2, 3};
  EXPECT_EQ(memorised_share(data, {{1, 3}, {}, {1, 1}}), 0.5) << "two of the slots, both wrong, the first memorised";
}

TEST(RunReport, TheOutcomeNamesImageFiles) {
  EXPECT_EQ(train_outcome({"cat/1.png", "dog/2, old.png", "cat/3.png"}),
            "index,label,clean,loss,predicted,path\n1,1,0,2.5,0,\"dog/2, old.png\"\n2,0,,0.25,0,cat/3.png\n");
}

}  // namespace
}  // namespace regroup
