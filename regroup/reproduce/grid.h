#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "regroup/train/run_settings.h"

namespace regroup {

// A grid is a table of runs: methods (rows) by noises (columns), in one or more blocks (datasets). It is a TOML file:
//
//   title = "My comparison"
//   seeds = 3
//   reference = "RML"                        # the row that differences are to; a block may have another; the last one
//   by default settings = { data = "fashion-mnist" }    # of every run, as regroup train names them
//
//   [[block]]
//   label = "Fashion-MNIST"
//   columns = [{ label = "Symmetric 0.5", noise = "symmetric:0.5" }]
//   rows = [{ label = "CE", method = "ce" }, { label = "RML", method = "rml", k = "auto" }]
//
// against = "threshold" shows test accuracies against that column of metrics.csv, the mean of the second half of the
// epochs, or against "minutes". Rows of one series = "Share drawn" are one line of that chart.
//
// A column may name the test set that its figures are of, as in test = "test-other": columns that differ in nothing
// else share their runs.
//
// A value of a row is stronger than one of a column, that than one of its block, and that than one of the grid. A value
// for a method's own setting is passed over by the other methods.

struct GridColumn {
  std::string id;  ///< what `--noise` calls it; its label where it has none
  std::string group, label;
  std::string test = "test";  ///< the test set that its figures are of
  std::string preset;         ///< what `regroup train --preset` calls it, in a built-in grid
  std::vector<GivenValue> values;
};

struct GridRow {
  std::string id;  ///< what `--only` calls it; its method where it has none
  std::string label;
  std::string method;
  std::string series;  ///< the line that it is a point of, where accuracies are shown against another figure; its label
  /// The id of a row of the same block: its trained model of the same column and seed comes first, and is what this
  /// row begins with, or its first phase (`ce-weights`) where its method has one that such a model stands in for.
  std::string after;
  std::vector<GivenValue> values;
  std::vector<std::string> paper;  ///< what the paper has, a text a column, or nothing
};

struct GridBlock {
  std::string label;
  std::string reference;  ///< the row that differences are to
  std::vector<GivenValue> values;
  std::vector<GridColumn> columns;
  std::vector<GridRow> rows;
};

/// What is shown of the runs.
enum class Shown {
  accuracy,  ///< a table of test accuracies
  curves,    ///< test accuracy by epoch, a chart per column
  losses,    ///< the losses of right and wrong labels in the end, a chart per run of the first seed
  cost,      ///< time and memory
  audit,     ///< tables of how well wrong labels are found
};

struct Grid {
  std::string name;  ///< table1
  std::string title, caption, source;
  std::vector<std::string> notes;
  std::map<std::string, std::string> needs;  ///< settings that name files, which a grid cannot carry, and why
  std::vector<Shown> shown;
  std::string against;  ///< a column of metrics.csv, or minutes; empty: nothing
  std::int64_t seeds = 1;
  std::vector<GivenValue> values;
  std::vector<GridBlock> blocks;
};

/// Throws UserError that names the place. `name` is the grid's and is for the messages.
Grid parse_grid(std::string_view toml, const std::string& name);

/// Sizes that fit a machine or a purpose. It never changes what is compared.
struct Scale {
  std::string name, description;
  std::int64_t seeds = 0;                         ///< at most so many; 0: the grid's
  std::map<std::string, std::int64_t> seeds_of;   ///< of a column: by "grid/dataset/id"
  std::vector<GivenValue> values;                 ///< stronger than all of the grid's
  std::map<std::string, std::int64_t> epochs_of;  ///< by method: stronger than these too

  /// All sizes are the grid's.
  bool is_grids_own() const { return values.empty() && epochs_of.empty(); }
};

Scale parse_scale(std::string_view toml, const std::string& name);

/// The grids and scales that are part of the program, by name.
struct BuiltIn {
  std::string_view name;
  std::string_view text;
};
const std::vector<BuiltIn>& built_in_grids();
const std::vector<BuiltIn>& built_in_scales();

/// A built-in grid by its name, or one from a file whose name ends with .toml; `text` gets its TOML.
Grid find_grid(const std::string& name_or_file, std::string* text = nullptr);
Scale find_scale(const std::string& name_or_file);

}  // namespace regroup
