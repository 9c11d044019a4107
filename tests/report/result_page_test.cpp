#include "regroup/report/result_page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "regroup/report/charts.h"
#include "result_testing.h"

namespace regroup {
namespace {

PageFigure accuracy_figure() {
  const std::vector<Series> series = {{"CE", {1, 2, 3}, {0.5, 0.6, 0.55}}, {"RML", {1, 2, 3}, {0.5, 0.7, 0.8}}};
  return {line_chart({"Accuracy", "epoch", "accuracy"}, series, Unit::percent), "Accuracy by epoch."};
}

ResultPage small_page() {
  ResultPage page;
  page.title = "The paper's tables";
  page.scale = "At the scale 'smoke': 2 epochs of 100 images.";
  page.state = "31 of 36 runs done, 1 failed";
  page.failures = {"table1-ce-sym-0.2-1: out of memory"};
  page.notes = {"Accuracy is that of the last epoch."};
  PageSection second{small_table(), {accuracy_figure(), accuracy_figure()}, {}};
  second.table.id = "figure3";
  second.table.title = "Figure 3";
  second.table.blocks.clear();
  page.sections = {{small_table(), {}, {"table1.md", "table1.csv", "table1.tex"}}, second};
  return page;
}

TEST(ResultPage, HasEverythingInOneFile) {
  const std::string page = result_page(small_page());
  EXPECT_EQ(page.rfind("<!DOCTYPE html>\n<html lang=\"en\">\n", 0), 0U);
  EXPECT_TRUE(page.ends_with("</main>\n</body>\n</html>\n"));
  for (const std::string part :
       {"<title>The paper's tables</title>", "<h1>The paper's tables</h1>", "initial-scale=1",
        "<p class=\"scale\">At the scale 'smoke': 2 epochs of 100 images.</p>",
        "<p class=\"state\">31 of 36 runs done, 1 failed</p>", "<li>table1-ce-sym-0.2-1: out of memory</li>",
        "<li>Accuracy is that of the last epoch.</li>", "<li><a href=\"#table1\">Table 1</a></li>",
        "<li><a href=\"#figure3\">Figure 3</a></li>", "<section id=\"table1\">", "<section id=\"figure3\">",
        "<a href=\"./table1.csv\">table1.csv</a>"}) {
    EXPECT_EQ(count(page, part), 1U) << part;
  }
  EXPECT_EQ(count(page, html_table(small_table())), 1U);
  EXPECT_EQ(count(page, accuracy_figure().svg), 2U);
  EXPECT_EQ(count(page, "<figcaption>Accuracy by epoch.</figcaption>"), 2U);
}

TEST(ResultPage, FetchesNothingAndRunsNothing) {
  const std::string page = result_page(small_page());
  EXPECT_EQ(count(page, "<script"), 0U);
  EXPECT_EQ(count(page, " src="), 0U);
  EXPECT_EQ(count(page, "@import"), 0U);
  EXPECT_EQ(count(page, "url("), 0U);
  // The name of SVG, once a chart.
  EXPECT_EQ(count(page, "http://") + count(page, "https://"), 2U);
}

TEST(ResultPage, TheTagsAreBalanced) {
  ResultPage hostile = small_page();
  hostile.sections.push_back({hostile_table(), {}, {"a b.md"}});
  for (const std::string& page : {result_page(small_page()), result_page(hostile), result_page({})}) {
    for (const std::string tag : {"main", "section", "table", "tbody", "thead", "tr", "th", "td",     "div", "span",
                                  "b",    "sup",     "ul",    "li",    "nav",   "p",  "a",  "figure", "svg", "style"}) {
      EXPECT_EQ(count(page, "<" + tag + ">") + count(page, "<" + tag + " "), count(page, "</" + tag + ">")) << tag;
    }
  }
}

TEST(ResultPage, AnyTextIsText) {
  ResultPage page = small_page();
  const std::string hostile = hostile_table().title;
  page.title = page.scale = page.state = hostile;
  page.failures = page.notes = {hostile};
  page.sections = {{hostile_table(), {{"", hostile}}, {"javascript:alert(1)", "//example.org/\"><script>", "a b.md"}},
                   {small_table(), {}, {}}};
  const std::string text = result_page(page);
  EXPECT_EQ(count(text, "<script"), 0U);
  EXPECT_EQ(count(text, " onmouseover=\"x"), 0U);
  EXPECT_EQ(count(text, "<section id=\"------script-\">"), 1U);
  EXPECT_EQ(count(text, "href=\"./javascript%3Aalert%281%29\""), 1U);
  EXPECT_EQ(count(text, "href=\".///example.org/%22%3E%3Cscript%3E\""), 1U);
  EXPECT_EQ(count(text, "href=\"./a%20b.md\""), 1U);
}

TEST(ResultPage, OneSectionNeedsNoContents) {
  ResultPage page = small_page();
  page.sections.resize(1);
  EXPECT_EQ(count(result_page(page), "<nav"), 0U);
}

// What page_test.sh and latex_test.sh look at: REGROUP_SAMPLES names a folder.
TEST(ResultPage, SamplesAreWrittenWhereAFolderIsNamed) {
  const char* const folder = std::getenv("REGROUP_SAMPLES");  // NOLINT(concurrency-mt-unsafe): one thread
  if (folder == nullptr) GTEST_SKIP() << "REGROUP_SAMPLES is not set";
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream file(std::string(folder) + "/" + name);
    file << text;
    ASSERT_TRUE(file.flush()) << name;
  };
  ResultPage page = small_page();
  ResultTable hostile = hostile_table();
  page.sections.push_back({hostile, {}, {"hostile.md"}});
  write("page.html", result_page(page));
  write("table.tex", latex_table(small_table()));
  write("hostile.tex", latex_table(hostile));
  write("empty.tex", latex_table({}));
}

}  // namespace
}  // namespace regroup
