#include "regroup/reproduce/results.h"

#include <gtest/gtest.h>

#include "regroup/io/text_file.h"
#include "regroup/train/metrics.h"
#include "reproduce/reproduce_testing.h"
#include "support/temporary_folder.h"

namespace regroup {
namespace {

const std::string two_rows = R"({ label = "CE", method = "ce" }, { label = "RML", method = "rml" })";

class Results : public testing::Test {
 protected:
  /// Every run of the grid is done: cross-entropy gets two of four test images right, RML three.
  void has_run(const Grid& grid, const Scale& scale = {}) const {
    for (const PlannedRun& run : plan_runs({grid}, scale, {})) {
      const bool is_rml = run.settings.text("method") == "rml";
      RunSummary summary;
      summary.predictors["model"] = {is_rml ? 0.75 : 0.5, 0.5, 0.75};
      summary.primary = "model";
      summary.seconds = 60;
      summary.peak_memory_mb = 512;
      const auto folder = grid_folder_.run(run.name);
      std::filesystem::create_directories(folder / "outcome");
      write_file(folder / "summary.json", summary_json(summary));
      write_file(folder / "outcome" / "test.csv", is_rml ? "index,label,model\n0,1,1\n1,2,2\n2,3,3\n3,4,5\n"
                                                         : "index,label,model\n0,1,1\n1,2,2\n2,3,4\n3,4,5\n");
      write_file(folder / "outcome" / "train.csv", "index,label,clean,loss\n0,1,1,0.1\n1,1,2,2.5\n");
      write_file(folder / "metrics.csv", "epoch,test_model\n1,0.25\n2,0.5\n");
    }
  }

  std::string text_of(const std::string& file) const { return read_text(grid_folder_.path / file); }

  TemporaryFolder folder_;
  GridFolder grid_folder_{folder_.path()};
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Results, TheTableHasTheMeanOverSeedsAndTheDifference) {
  const Grid grid = small_grid(two_rows, "seeds = 2\nreference = \"CE\"");
  has_run(grid);
  write_results(grid_folder_, {grid}, {});
  EXPECT_TRUE(has(text_of("tables/small.csv"), "Digits,Symmetric 0.5,CE,50.0000,0.0000,2,,,\n"))
      << text_of("tables/small.csv");
  EXPECT_TRUE(has(text_of("tables/small.csv"), "Digits,Symmetric 0.5,RML,75.0000,0.0000,2,25.0000,"));
  EXPECT_TRUE(has(text_of("tables/small-runs.csv"), "Digits,Symmetric 0.5,CE,1,model,1,0.5000,"));
}

TEST_F(Results, AccuraciesAreShownAgainstAnotherFigure) {
  const Grid grid = small_grid(R"({ label = "CE", method = "ce", series = "both" },
    { label = "RML", method = "rml", series = "both" })",
                               "against = \"threshold\"");
  has_run(grid);
  for (const PlannedRun& run : plan_runs({grid}, {}, {}))
    write_file(grid_folder_.run(run.name) / "metrics.csv",
               run.settings.text("method") == "rml" ? "epoch,threshold\n1,9\n2,8\n3,0.25\n4,0.5\n5,\n" : "epoch\n1\n");
  write_results(grid_folder_, {grid}, {});
  // The mean of epochs 3 to 5, as far as it is known; cross-entropy has no threshold.
  EXPECT_TRUE(has(text_of("tables/small-threshold.csv"), "Digits,Symmetric 0.5,RML,0.3750,"))
      << text_of("tables/small-threshold.csv");
  EXPECT_FALSE(has(text_of("tables/small-threshold.csv"), ",CE,0"));
  EXPECT_TRUE(has(text_of("figures/small-against-threshold-Digits--Symmetric-0.5.svg"), ">both<"));
}

TEST_F(Results, AGridOfOnesOwnHasItsOwnPage) {
  const Grid grid = small_grid(two_rows, "title = \"My photos\"\nshow = [\"accuracy\", \"cost\"]");
  has_run(grid);
  write_results(grid_folder_, {grid}, {});
  const std::string page = text_of("index.html");
  EXPECT_TRUE(has(page, "<h1>My photos</h1>"));
  EXPECT_TRUE(has(page, "Test accuracy (%) after the last epoch")) << "what is measured";
  EXPECT_TRUE(has(page, "2 of 2 runs done"));
  for (const std::string word : {"the paper", "Scale", "scale", "Ours"})
    EXPECT_FALSE(has(page.substr(page.find("</style>")), word)) << word;
  EXPECT_FALSE(has(text_of("tables/small.csv"), "paper"));
  for (const PlannedRun& run : plan_runs({grid}, {}, {}))
    EXPECT_TRUE(has(page, "<a href=\"./runs/" + run.name + "/\">seed 1</a>")) << page;
}

TEST_F(Results, AColumnMayBeOfAnotherTestSet) {
  const Grid grid = parse_grid(R"(
show = ["accuracy", "curves"]
settings = { data = "mnist", epochs = 10 }
[[block]]
label = "Digits"
columns = [{ label = "own" }, { label = "other", test = "test-other" }, { label = "none", test = "test-none" }]
rows = [{ label = "CE", method = "ce" }]
)",
                               "small");
  const auto plan = plan_runs({grid}, {}, {});
  ASSERT_EQ(plan.size(), 1U);
  has_run(grid);
  const auto folder = grid_folder_.run(plan[0].name);
  RunSummary summary = read_summary(folder / "summary.json");
  summary.more_tests["test-other"]["model"] = {0.25, 0.25, 0.5};
  write_file(folder / "summary.json", summary_json(summary));
  write_file(folder / "outcome" / "test-other.csv", "index,label,model\n0,1,1\n1,2,1\n2,3,4\n3,4,5\n");
  write_file(folder / "metrics.csv", "epoch,test_model,test-other_model\n1,0.25,0.125\n2,0.5,0.25\n");
  write_results(grid_folder_, {grid}, {});
  const std::string table = text_of("tables/small.csv");
  EXPECT_TRUE(has(table, "Digits,own,CE,50.0000,")) << table;
  EXPECT_TRUE(has(table, "Digits,other,CE,25.0000,")) << table;
  EXPECT_TRUE(has(text_of("tables/small-runs.csv"), "Digits,other,CE,1,model,1,0.2500,0.2500,0.5000,"));
  EXPECT_TRUE(has(text_of("tables/small.md"), plan[0].name + " has no test set test-none"));
  EXPECT_TRUE(has(text_of("index.html"), "1 of 1 runs done"));
  EXPECT_NE(text_of("figures/small-curves-Digits--own.svg"), text_of("figures/small-curves-Digits--other.svg"));
}

TEST_F(Results, TopFiveIsATableOfItsOwnWhereRunsHaveIt) {
  const Grid grid = small_grid(two_rows);
  has_run(grid);
  write_results(grid_folder_, {grid}, {});
  EXPECT_FALSE(std::filesystem::exists(grid_folder_.path / "tables/small-top5.csv"));
  for (const PlannedRun& run : plan_runs({grid}, {}, {})) {
    const auto file = grid_folder_.run(run.name) / "summary.json";
    RunSummary summary = read_summary(file);
    if (run.settings.text("method") == "rml") summary.predictors.at("model").top5 = 0.875;
    write_file(file, summary_json(summary));
  }
  write_results(grid_folder_, {grid}, {});
  EXPECT_TRUE(has(text_of("tables/small-top5.csv"), "Digits,Symmetric 0.5,RML,87.5000,"))
      << text_of("tables/small-top5.csv");
  EXPECT_TRUE(has(text_of("tables/small-runs.csv"), "RML,1,model,1,0.7500,0.5000,0.7500,0.8750,"));
  EXPECT_TRUE(has(text_of("tables/small-runs.csv"), "CE,1,model,1,0.5000,0.5000,0.7500,,"));
}

TEST_F(Results, APageSaysItsScaleOnce) {
  const Grid grid = small_grid(two_rows);
  const Scale scale = parse_scale("description = \"very short\"\nsettings = { epochs = 1 }", "tiny");
  has_run(grid, scale);
  write_results(grid_folder_, {grid}, scale);
  const std::string page = text_of("index.html");
  EXPECT_TRUE(has(page, "Scale tiny: very short.")) << page;
  EXPECT_EQ(page.find("very short"), page.rfind("very short"));
  EXPECT_TRUE(has(text_of("tables/small.md"), "The runs are of scale tiny: very short."));
}

TEST_F(Results, ThePapersFiguresStandBesideOurs) {
  const Grid grid =
      small_grid(R"({ label = "CE", method = "ce", paper = ["84.00 ± 0.66"] })", "source = \"Table 1 of the paper\"");
  has_run(grid);
  write_results(grid_folder_, {grid}, {});
  EXPECT_TRUE(has(text_of("index.html"), "our figures beside the paper's"));
  EXPECT_TRUE(has(text_of("tables/small.md"), "50.00 (84.00 ± 0.66)")) << text_of("tables/small.md");
  EXPECT_TRUE(has(text_of("tables/small.md"), "The paper's figures: Table 1 of the paper."));
}

TEST_F(Results, WhatIsMissingIsSaid) {
  const Grid grid = small_grid(two_rows);
  const auto plan = plan_runs({grid}, {}, {});
  std::filesystem::create_directories(grid_folder_.path / "runs");
  write_file(grid_folder_.failure(plan.at(0).name), "out of memory\n");
  write_results(grid_folder_, {grid}, {});
  EXPECT_TRUE(has(text_of("tables/small.md"), "failed: out of memory"));
  EXPECT_TRUE(has(text_of("tables/small.md"), "0 of 1 runs done"));
  EXPECT_TRUE(has(text_of("index.html"), "0 of 2 runs done, 1 failed"));
}

TEST_F(Results, FiguresAreAChartEach) {
  const Grid grid = small_grid(two_rows, "show = [\"curves\", \"losses\", \"cost\"]");
  has_run(grid);
  write_results(grid_folder_, {grid}, {});
  std::size_t charts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(grid_folder_.path / "figures"))
    charts += entry.path().extension() == ".svg" ? 1 : 0;
  EXPECT_EQ(charts, 5U) << "one of curves, two of losses, time and memory";
  EXPECT_FALSE(has(text_of("tables/small.md"), "hours")) << "the paper's unit";
}

}  // namespace
}  // namespace regroup
