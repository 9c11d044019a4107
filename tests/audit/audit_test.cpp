#include "regroup/audit/audit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "audit/small_audit.h"
#include "regroup/audit/audit_files.h"
#include "regroup/audit/sort_into.h"
#include "regroup/core/error.h"
#include "regroup/data/labels_file.h"

namespace regroup {
namespace {

TEST(Audit, ListsTheWorstLabelFirst) {
  Audit audit = small_audit();
  EXPECT_EQ(audit.worst_first(), (std::vector<std::uint32_t>{1, 2, 4, 3, 0}));
  audit.samples[2].listed = false;
  EXPECT_EQ(audit.worst_first(), (std::vector<std::uint32_t>{1, 4, 3, 0}));
  const std::string csv = issues_csv(audit);
  EXPECT_TRUE(csv.starts_with("index,part,path,given_label,predicted_label,label_score,is_label_issue,"));
  EXPECT_NE(csv.find("\n1,train,a/1.jpg,\"dog, big\",cat,0.02000,True,cat,0.98000,"), std::string::npos) << csv;
}

TEST(Audit, CorrectsOnlyWhatIsMoreProbable) {
  const Audit audit = small_audit();
  const std::string corrected = corrected_csv(audit, {0, 1, 0, 1, 1}, {}, {});
  // The test image has index 0 in its own set: it must not touch the training image.
  EXPECT_EQ(corrected, "index,label\n0,0\n1,0\n2,1\n3,1\n4,1\n");
  EXPECT_EQ(trusted_csv(audit), "index\n0\n3\n");
  Dataset dataset;
  dataset.class_names = audit.class_names;
  dataset.train.labels = {0, 0, 0, 0, 0};
  EXPECT_EQ(parse_labels(corrected, "corrected.csv", dataset).labels, (std::vector<std::int32_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(parse_trusted(trusted_csv(audit), "trusted.csv", dataset), (std::vector<std::uint32_t>{0, 3}));
}

// What another tool predicted has one part, which is called `all`.
TEST(Audit, CorrectsLabelsThatAreOfNoPartOfARun) {
  Audit audit = small_audit();
  audit.samples.resize(4);
  audit.parts = {"all"};
  for (AuditedSample& sample : audit.samples) sample.part = 0;
  EXPECT_EQ(corrected_csv(audit, {0, 1, 0, 1}, {}, {}), "index,label\n0,0\n1,0\n2,1\n3,1\n");
  EXPECT_EQ(trusted_csv(audit), "index\n0\n3\n");
  EXPECT_THROW(corrected_csv(audit, {0, 1}, {}, {}), UserError) << "labels of fewer images";
}

TEST(Audit, NoNameIsAFormulaOfASpreadsheet) {
  Audit audit = small_audit();
  audit.class_names[1] = "=cmd|' /C calc'!A0";
  audit.samples[1].path = "-1+1.jpg";
  const std::string issues = issues_csv(audit);
  EXPECT_NE(issues.find(",'-1+1.jpg,'=cmd|"), std::string::npos) << issues;
  // Programs open what is named here, and a path with ./ before it is the same.
  EXPECT_NE(metadata_csv(audit).find("\n./-1+1.jpg,'=cmd|"), std::string::npos);
  const std::vector<std::string> paths{"a/0.jpg", "-1+1.jpg", "a/2.jpg", "a/3.jpg"};
  const std::string corrected = corrected_csv(audit, {0, 1, 0, 1}, {}, paths);
  EXPECT_NE(corrected.find("\n1,0,./-1+1.jpg\n"), std::string::npos) << corrected;
  Dataset dataset;
  dataset.class_names = audit.class_names;
  dataset.train.labels = {0, 0, 0, 0};
  dataset.train.paths = paths;
  EXPECT_EQ(parse_labels(corrected, "corrected.csv", dataset).labels, (std::vector<std::int32_t>{0, 0, 1, 1}));
}

TEST(Audit, SaysHowGoodTheListIsWhereTheTruthIsKnown) {
  const Audit audit = small_audit();
  const auto quality = audit_quality(audit, audit.labels[0]);
  ASSERT_TRUE(quality.has_value());
  EXPECT_EQ(quality->wrong, 1U);
  EXPECT_EQ(quality->average_precision, 1);
  EXPECT_EQ(quality->recall, 1);
  EXPECT_FALSE(audit_quality(audit, audit.labels[1]).has_value());
  const auto json = nlohmann::json::parse(summary_json(audit));
  EXPECT_EQ(json["noise_rate"]["low"], 0.1);
  EXPECT_EQ(json["label_issues"], 2);
  EXPECT_EQ(json["truth"]["average_precision"], 1);
  EXPECT_EQ(json["tests"]["labels of test"]["labels"], 1);
}

// Written out by hand: found, not, found, found of five, two of them equal.
TEST(Audit, AveragePrecisionIsThatOfTheDefinition) {
  const std::vector<float> scores{0.1F, 0.2F, 0.3F, 0.3F, 0.9F};
  const std::vector<std::uint8_t> found{1, 0, 1, 1, 0};
  EXPECT_NEAR(average_precision(scores, found), (1.0 + 2 * 3.0 / 4) / 3, 1e-12);
}

TEST(Audit, FilesForOtherToolsAreWhatTheyRead) {
  Audit audit = small_audit();
  audit.samples[1].path = "a/caf\xe9.jpg";  // no UTF-8
  const auto tasks = nlohmann::json::parse(label_studio_json(audit, "/photos"));
  ASSERT_EQ(tasks.size(), 5U);
  EXPECT_EQ(tasks[0]["predictions"][0]["result"][0]["value"]["choices"][0], "cat");
  EXPECT_EQ(tasks[1]["data"]["image"], "/photos/a/2.jpg");
  EXPECT_TRUE(metadata_csv(audit).starts_with("file_name,given_label,"));
}

TEST(Audit, PicturesThatContradictEachOtherAreCounted) {
  Audit audit = small_audit();
  audit.samples[0].duplicates = audit.samples[1].duplicates = 0;
  audit.samples[2].duplicates = audit.samples[4].duplicates = 1;
  EXPECT_EQ(audit.contradictions(), 1U);
}

TEST(Audit, SuspectsAreSortedIntoFoldersAndNothingIsMoved) {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / "regroup-sort-into";
  fs::remove_all(top);
  fs::create_directories(top / "images/a");
  for (int i = 0; i < 5; ++i) std::ofstream(top / "images/a" / (std::to_string(i) + ".jpg")) << i;
  const Audit audit = small_audit();
  EXPECT_EQ(sort_into(audit, top / "images", top / "copies", SortBy::copy), 2U);
  EXPECT_TRUE(fs::is_regular_file(top / "copies/dog, big/cat/000001-1.jpg"));
  EXPECT_EQ(sort_into(audit, top / "images", top / "links", SortBy::link), 2U);
  EXPECT_TRUE(fs::is_symlink(top / "links/cat/dog, big/000002-2.jpg"));
  EXPECT_THROW(sort_into(audit, top / "images", top / "copies", SortBy::copy), UserError) << "never over something";
  fs::remove(top / "images/a/1.jpg");
  EXPECT_THROW(sort_into(audit, top / "images", top / "again", SortBy::copy), UserError);
  fs::remove_all(top);
}

}  // namespace
}  // namespace regroup
