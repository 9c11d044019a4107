#pragma once

#include <string>
#include <vector>

#include "regroup/report/result_table.h"

namespace regroup {

/// A chart of charts.h with what is written under it.
struct PageFigure {
  std::string svg;  ///< goes into the page as it is
  std::string caption;
};

/// Runs that a figure comes from, with their folders beside the page.
struct PageRuns {
  struct Folder {
    std::string label;  ///< for instance "seed 1"
    std::string path;   ///< for instance "runs/ce-1/"
  };

  std::string label;  ///< for instance "CIFAR-10, Symmetric 0.5, CE"
  std::vector<Folder> folders;
};

/// A table with the figures that belong to it; either may be empty.
struct PageSection {
  ResultTable table;
  std::vector<PageFigure> figures;
  std::vector<std::string> files;  ///< the same in other forms, beside the page: "table1.md", "table1.csv"
  std::vector<PageRuns> runs = {};
};

struct ResultPage {
  std::string title;
  std::string scale;                  ///< a sentence about how large the runs were
  std::string state;                  ///< for instance "31 of 36 runs done, 1 failed"
  std::vector<std::string> failures;  ///< for instance "cifar10-ce-1: out of memory"
  std::vector<std::string> notes;     ///< about all tables
  std::vector<PageSection> sections;
};

/// One HTML file that needs no other, without scripts. It suits phones, and follows the reader's choice of light or
/// dark.
std::string result_page(const ResultPage& page);

}  // namespace regroup
