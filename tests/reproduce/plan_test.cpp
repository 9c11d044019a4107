#include "regroup/reproduce/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "support/temporary_folder.h"

namespace regroup {
namespace {

Grid grid_with(const std::string& row, const std::string& settings = "") {
  return parse_grid(std::string("seeds = 3\nsettings = { data = \"fashion-mnist\"") +
                        (settings.find("epochs") == std::string::npos ? ", epochs = 3" : "") + settings +
                        " }\n[[block]]\nlabel = \"F\"\n"
                        "columns = [{ id = \"sym\", label = \"a\", noise = \"symmetric:0.5\", k = \"20\" },\n"
                        "           { id = \"pair\", label = \"b\", noise = \"pairflip:0.45\", k = \"30\" }]\n"
                        "rows = [{ label = \"CE\", method = \"ce\" }, " +
                        row + "]\n",
                    "g");
}

const std::string rml = "{ label = \"RML\", method = \"rml\" }";

std::set<std::string> names(const std::vector<PlannedRun>& plan) {
  std::set<std::string> result;
  for (const PlannedRun& run : plan) result.insert(run.name);
  return result;
}

TEST(Plan, HasARunForEachCellAndSeed) {
  const auto plan = plan_runs({grid_with(rml)}, {}, {});
  EXPECT_EQ(plan.size(), 12U);
  EXPECT_EQ(names(plan).size(), 12U);
  EXPECT_TRUE(std::is_sorted(plan.begin(), plan.end(), [](const PlannedRun& a, const PlannedRun& b) {
    return a.settings.integer("seed") < b.settings.integer("seed");
  })) << "every cell has a figure early";
  for (const PlannedRun& run : plan) {
    if (run.settings.text("method") != "rml") continue;
    EXPECT_EQ(run.settings.text("k"), run.settings.text("noise") == "symmetric:0.5" ? "20" : "30");
  }
}

TEST(Plan, RunsWhoseLengthATimeBudgetWouldDecideAreRefused) {
  try {
    plan_runs({grid_with(rml, ", recipe = \"photos\", epochs = 0")}, {}, {});
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("a time budget would give each run epochs of its own"), std::string::npos);
  }
}

TEST(Plan, AMethodThatDoesNotExistYetHasNoRuns) {
  const Grid grid = grid_with("{ label = \"X\", method = \"not-yet\" }");
  EXPECT_EQ(plan_runs({grid}, {}, {}).size(), 6U);
  EXPECT_TRUE(cell_runs(grid, {}, grid.blocks[0], grid.blocks[0].rows[1], grid.blocks[0].columns[0]).empty());
}

TEST(Plan, ARunIsNamedByWhatDecidesItsOutcome) {
  const auto before = names(plan_runs({grid_with(rml)}, {}, {}));
  EXPECT_EQ(names(plan_runs({grid_with(rml, ", threads = 1, data-dir = \"there\", device = \"cpu\"")}, {}, {})),
            before);
  for (const std::string other : {", width = 8", ", lr = 0.2", ", n = 4"}) {
    const auto after = names(plan_runs({grid_with(rml, other)}, {}, {}));
    std::vector<std::string> common;
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(common));
    // The number of groups is nothing to cross-entropy.
    EXPECT_EQ(common.size(), other == ", n = 4" ? 6U : 0U) << other;
  }
}

class PlanWithFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    write_file(folder_.path() / name, content);
    return (folder_.path() / name).string();
  }

  /// The names of cross-entropy's runs under one noise, with one more setting.
  static std::set<std::string> with(const std::string& setting, const std::string& value) {
    const Grid grid = parse_grid("seeds = 2\nsettings = { " + setting + " = \"" + value +
                                     "\" }\n[[block]]\nlabel = \"F\"\ncolumns = [{ label = \"a\" }]\n"
                                     "rows = [{ label = \"CE\", method = \"ce\" }]\n",
                                 "g");
    return names(plan_runs({grid}, {}, {}));
  }

  TemporaryFolder folder_;
};

TEST_F(PlanWithFiles, AFileCountsByItsContent) {
  for (const auto& [setting, kind] :
       {std::pair{"init-weights", ""}, {"labels", ""}, {"trusted", ""}, {"noise", "matrix:"}, {"data", "csv:"}}) {
    const auto before = with(setting, kind + file("a", "some content"));
    EXPECT_EQ(before.size(), 2U);
    EXPECT_EQ(with(setting, kind + file("moved", "some content")), before) << setting;
    EXPECT_NE(with(setting, kind + file("a", "other content")), before) << setting;
    EXPECT_NE(with(setting, kind + file("a", "")), before) << setting;
  }
}

TEST_F(PlanWithFiles, AFileOfManyPiecesCountsToItsLastByte) {
  const std::string large(200'000, 'x');
  EXPECT_NE(with("labels", file("a", large + "1")), with("labels", file("b", large + "2")));
}

TEST_F(PlanWithFiles, AFileThatIsNotThereIsAMistake) {
  try {
    with("labels", "nowhere.csv");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "g, CE, a: nowhere.csv: is not a file that can be read");
  }
  EXPECT_THROW(with("init-weights", folder_.path().string()), UserError) << "a folder";
}

TEST(Plan, GridsShareTheirRuns) {
  EXPECT_EQ(plan_runs({grid_with(rml), grid_with("{ label = \"Ours\", method = \"rml\" }")}, {}, {}).size(), 12U);
}

TEST(Plan, ColumnsThatDifferInTheTestSetShareTheirRuns) {
  const Grid grid = parse_grid(
      "seeds = 2\nsettings = { data = \"fashion-mnist\", epochs = 3 }\n[[block]]\nlabel = \"F\"\n"
      "columns = [{ label = \"a\" }, { label = \"b\", test = \"test-other\" }]\n"
      "rows = [{ label = \"CE\", method = \"ce\" }]\n",
      "g");
  const GridBlock& block = grid.blocks[0];
  EXPECT_EQ(plan_runs({grid}, {}, {}).size(), 2U) << "two seeds";
  EXPECT_EQ(plan_runs({grid}, {}, {{}, {"b"}, {}}).size(), 2U) << "also where one column is asked for";
  EXPECT_EQ(cell_runs(grid, {}, block, block.rows[0], block.columns[0])[0].name,
            cell_runs(grid, {}, block, block.rows[0], block.columns[1])[0].name);
}

TEST(Plan, Table5TrainsOnceForBothOfItsTestSets) {
  for (const std::string method : {"rml", "rml-semi"})
    EXPECT_EQ(plan_runs({find_grid("table5")}, {}, {{method}, {}, {}}).size(), 1U) << method;
}

TEST(Plan, AScaleIsStrongerThanTheGrid) {
  const Scale scale = parse_scale(
      "seeds = 2\nseeds-of = { \"g/fashion-mnist/pair\" = 1, \"g/cifar10/sym\" = 9 }\nsettings = { epochs = 1, width = "
      "4 }",
      "s");
  const auto plan = plan_runs({grid_with(rml)}, scale, {});
  EXPECT_EQ(plan.size(), 6U);
  for (const PlannedRun& run : plan) {
    EXPECT_EQ(run.settings.integer("epochs"), 1);
    EXPECT_EQ(run.settings.integer("width"), 4);
  }
}

TEST(Plan, AScaleMayGiveAMethodMoreEpochs) {
  const Scale scale = parse_scale("settings = { epochs = 1 }\nepochs-of = { rml = 3, rml-semi = 5 }", "s");
  for (const PlannedRun& run : plan_runs({grid_with(rml)}, scale, {}))
    EXPECT_EQ(run.settings.integer("epochs"), run.settings.text("method") == "rml" ? 3 : 1);
}

TEST(Plan, AScaleMakesPhasesShorterInProportion) {
  const auto warmup = [](const std::string& scale) {
    const Grid grid = grid_with("{ label = \"Semi\", method = \"rml-semi\", epochs = 300, warmup-epochs = 200 }");
    return plan_runs({grid}, parse_scale(scale, "s"), {{"rml-semi"}, {}, {}}).front().settings.integer("warmup-epochs");
  };
  EXPECT_EQ(warmup(""), 200);
  EXPECT_EQ(warmup("settings = { epochs = 24 }"), 16);
  EXPECT_EQ(warmup("settings = { epochs = 16 }\nepochs-of = { rml-semi = 30 }"), 20);
  EXPECT_EQ(warmup("settings = { epochs = 1 }"), 1);
  EXPECT_EQ(warmup("settings = { epochs = 24, warmup-epochs = 3 }"), 3) << "the scale's own is stronger";
}

TEST(Plan, CanBeNarrowed) {
  EXPECT_EQ(plan_runs({grid_with(rml)}, {}, {{"rml"}, {}, {}}).size(), 6U);
  EXPECT_EQ(plan_runs({grid_with(rml)}, {}, {{"rml"}, {"sym"}, {"fashion-mnist"}}).size(), 3U);
  try {
    plan_runs({grid_with(rml)}, {}, {{}, {"sin"}, {}});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--noise sin: not in what was asked for; there are pair, sym");
  }
}

TEST(Plan, WhatARunStartsFromComesFirst) {
  const Grid grid = grid_with("{ label = \"After\", id = \"after\", method = \"rml\", after = \"ce\" }");
  const auto plan = plan_runs({grid}, {}, {{"after"}, {"sym"}, {}});
  ASSERT_EQ(plan.size(), 6U) << "the runs that it builds on are planned too";
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].after.empty()) continue;
    const auto before =
        std::find_if(plan.begin(), plan.end(), [&](const auto& run) { return run.name == plan[i].after; });
    ASSERT_LT(before - plan.begin(), static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(before->settings.text("method"), "ce");
    EXPECT_EQ(before->settings.integer("seed"), plan[i].settings.integer("seed"));
  }
}

}  // namespace
}  // namespace regroup
