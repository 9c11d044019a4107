#include "regroup/reproduce/grid.h"

#include <gtest/gtest.h>

#include "regroup/core/error.h"
#include "regroup/reproduce/plan.h"

namespace regroup {
namespace {

constexpr const char* small = R"toml(
title = "Small"
seeds = 2
settings = { data = "fashion-mnist", epochs = 3 }
[[block]]
label = "Fashion-MNIST"
settings = { width = 8 }
columns = [{ id = "sym", group = "Symmetric", label = "0.5", noise = "symmetric:0.5", k = "20" }, { label = "none" }]
rows = [{ label = "CE", method = "ce", paper = ["1.0 ± 0.1", "2.0"] }, { label = "RML", method = "rml", after = "ce" }]
)toml";

std::string message(const std::string& toml) {
  try {
    parse_grid(toml, "g");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string with(const std::string& what, const std::string& instead) {
  std::string text = small;
  return text.replace(text.find(what), what.size(), instead);
}

TEST(Grid, IsReadFromToml) {
  const Grid grid = parse_grid(small, "g");
  EXPECT_EQ(grid.title, "Small");
  EXPECT_EQ(grid.seeds, 2);
  EXPECT_EQ(grid.blocks[0].reference, "RML") << "the last row, since none was named";
  ASSERT_EQ(grid.shown, std::vector{Shown::accuracy});
  ASSERT_EQ(grid.blocks.size(), 1U);
  const GridBlock& block = grid.blocks.front();
  EXPECT_EQ(block.columns[0].id, "sym");
  EXPECT_EQ(block.columns[0].group, "Symmetric");
  EXPECT_EQ(block.columns[1].id, "none");
  EXPECT_EQ(block.rows[0].paper, (std::vector<std::string>{"1.0 ± 0.1", "2.0"}));
  EXPECT_EQ(block.rows[1].after, "ce");
}

TEST(Grid, ComparesWithTheRowThatIsNamed) {
  EXPECT_EQ(parse_grid(with("seeds = 2", "reference = \"CE\""), "g").blocks[0].reference, "CE");
  EXPECT_EQ(parse_grid(with("label = \"Fashion-MNIST\"", "label = \"F\"\nreference = \"CE\""), "g").blocks[0].reference,
            "CE");
  EXPECT_EQ(message(with("seeds = 2", "reference = \"PES\"")),
            "g, block Fashion-MNIST: reference: no row is called 'PES'");
}

TEST(Grid, SaysWhereItIsWrong) {
  EXPECT_EQ(message("title = "),
            "g, line 1: Error while parsing key-value pair: encountered end-of-file; write name = value");
  EXPECT_EQ(message("title = 1"), "g: title is not a text");
  EXPECT_EQ(message("title = \"x\""), "g: has no [[block]]");
  EXPECT_EQ(message(with("seeds = 2", "seeds = 0")), "g: seeds is not a whole number from 1 to 10000");
  EXPECT_EQ(message(with("seeds = 2", "epochs = 2")),
            "g: 'epochs' is not known here; settings of the runs stand in settings = { ... }");
  EXPECT_EQ(message(with("seeds = 2", "against = \"../train_loss\"")),
            "g: against = '../train_loss' is no column of metrics.csv; give one, or minutes");
  EXPECT_EQ(message(with("label = \"CE\", ", "")), "g: block 1: rows 1: label is missing");
  EXPECT_EQ(message(with(", \"2.0\"]", "]")),
            "g, block Fashion-MNIST: row CE has 1 figures of the paper for 2 columns");
  EXPECT_EQ(message(with("label = \"none\"", "label = \"none\", test = \"other\"")),
            "g, block Fashion-MNIST: column none: test = 'other' is no test set; give test or test-NAME");
  EXPECT_EQ(message(with("after = \"ce\"", "after = \"rml\"")),
            "g, block Fashion-MNIST: row RML comes after 'rml', which is no row before it");
  EXPECT_EQ(message(with("seeds = 2", "show = [\"pie\"]")),
            "g: show: unknown 'pie'; known: accuracy, curves, losses, cost, audit");
}

TEST(Grid, HasAllOfThePapersTablesAtEveryScale) {
  ASSERT_FALSE(built_in_grids().empty());
  for (const BuiltIn& scale_text : built_in_scales()) {
    const Scale scale = parse_scale(scale_text.text, std::string(scale_text.name));
    EXPECT_FALSE(scale.description.empty()) << scale.name;
    for (const BuiltIn& text : built_in_grids()) {
      const Grid grid = parse_grid(text.text, std::string(text.name));
      EXPECT_FALSE(grid.caption.empty()) << grid.name;
      EXPECT_FALSE(plan_runs({grid}, scale, {}).empty()) << grid.name << " has no row for cross-entropy or RML";
    }
  }
}

}  // namespace
}  // namespace regroup
