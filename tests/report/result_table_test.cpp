#include "regroup/report/result_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "result_testing.h"

namespace regroup {
namespace {

TEST(MarkdownTable, HasOursAndThePapersInOneCell) {
  EXPECT_EQ(markdown_table(small_table()), R"(## Table 1

Test accuracy (%)

Scale: 2 epochs of 100 images.

Ours is mean ± standard deviation over 3 seeds; the paper's is in brackets. Bold: the best of its column.

### CIFAR-10

|  | Symmetric 0.2 | Symmetric 0.5 | Pairflip 0.45 |
| --- | ---: | ---: | ---: |
| CE | 84.10 ± 0.50 (84.00 ± 0.66) | 75.00 ± 1.00<sup>a</sup> (75.51 ± 1.24) | –<sup>b</sup> (63.34 ± 6.03) |
| PES | –<sup>c</sup> (92.38 ± 0.40) | –<sup>c</sup> (87.45 ± 0.35) | –<sup>c</sup> (88.43 ± 1.08) |
| RML | **92.35 ± 0.10** (**92.89 ± 0.42**) | **89.00**<sup>d</sup> (**89.13 ± 0.21**) | 90.00 ± 0.30 (**90.54 ± 0.34**) |

Difference to RML in points, with its 95 % interval. Bold: beyond chance, the interval leaves out 0.

|  | Symmetric 0.2 | Symmetric 0.5 | Pairflip 0.45 |
| --- | ---: | ---: | ---: |
| CE | **−8.25 \[−9.10, −7.40\]** | −0.40 \[−1.00, +0.20\] | – |

<sup>a</sup> 2 of 3 seeds

<sup>b</sup> failed: out of memory

<sup>c</sup> not built yet

<sup>d</sup> 1 of 3 runs done

- The paper disagrees with itself.
)");
}

TEST(CsvTable, HasALineForEachCell) {
  EXPECT_EQ(csv_table(small_table()), R"(block,column,row,mean,deviation,seeds,paper,difference,low,high
CIFAR-10,Symmetric 0.2,CE,84.1000,0.5000,3,84.00 ± 0.66,-8.2500,-9.1000,-7.4000
CIFAR-10,Symmetric 0.5,CE,75.0000,1.0000,2,75.51 ± 1.24,-0.4000,-1.0000,0.2000
CIFAR-10,Pairflip 0.45,CE,,,0,63.34 ± 6.03,,,
CIFAR-10,Symmetric 0.2,PES,,,0,92.38 ± 0.40,,,
CIFAR-10,Symmetric 0.5,PES,,,0,87.45 ± 0.35,,,
CIFAR-10,Pairflip 0.45,PES,,,0,88.43 ± 1.08,,,
CIFAR-10,Symmetric 0.2,RML,92.3500,0.1000,3,92.89 ± 0.42,,,
CIFAR-10,Symmetric 0.5,RML,89.0000,,1,89.13 ± 0.21,,,
CIFAR-10,Pairflip 0.45,RML,90.0000,0.3000,3,90.54 ± 0.34,,,
)");
}

TEST(LatexTable, HasThePapersUnderOurs) {
  EXPECT_EQ(latex_table(small_table()), R"(\begin{table}[htbp]
\centering
\footnotesize
\setlength{\tabcolsep}{3pt}
\caption{Test accuracy (\%). Scale: 2 epochs of 100 images. Ours is mean\,$\pm$\,standard deviation over 3 seeds; the paper's is below it in brackets. Bold: the best of its column.}
\label{tab:table1}
\begin{tabular}{@{}lccc@{}}
\toprule
 & \multicolumn{2}{c}{Symmetric} & \multicolumn{1}{c}{Pairflip} \\
\cmidrule(lr){2-3}\cmidrule(lr){4-4}
CIFAR-10 & 0.2 & 0.5 & 0.45 \\
\midrule
CE & 84.10\,$\pm$\,0.50 & 75.00\,$\pm$\,1.00\textsuperscript{a} & --\textsuperscript{b} \\
 & {\scriptsize (84.00\,$\pm$\,0.66)} & {\scriptsize (75.51\,$\pm$\,1.24)} & {\scriptsize (63.34\,$\pm$\,6.03)} \\
\addlinespace[2pt]
PES & --\textsuperscript{c} & --\textsuperscript{c} & --\textsuperscript{c} \\
 & {\scriptsize (92.38\,$\pm$\,0.40)} & {\scriptsize (87.45\,$\pm$\,0.35)} & {\scriptsize (88.43\,$\pm$\,1.08)} \\
\addlinespace[2pt]
RML & \textbf{92.35\,$\pm$\,0.10} & \textbf{89.00}\textsuperscript{d} & 90.00\,$\pm$\,0.30 \\
 & {\scriptsize \textbf{(92.89\,$\pm$\,0.42)}} & {\scriptsize \textbf{(89.13\,$\pm$\,0.21)}} & {\scriptsize \textbf{(90.54\,$\pm$\,0.34)}} \\
\bottomrule
\end{tabular}

\par\medskip
\raggedright \textsuperscript{a}~2 of 3 seeds. \textsuperscript{b}~failed: out of memory. \textsuperscript{c}~not built yet. \textsuperscript{d}~1 of 3 runs done. The paper disagrees with itself.\par
\end{table}

\begin{table}[htbp]
\centering
\footnotesize
\setlength{\tabcolsep}{3pt}
\caption{Test accuracy (\%): differences.}
\label{tab:table1-differences}
Difference to RML in points, with its 95 \% interval. Bold: beyond chance, the interval leaves out 0.
\par\smallskip
\begin{tabular}{@{}lccc@{}}
\toprule
 & \multicolumn{2}{c}{Symmetric} & \multicolumn{1}{c}{Pairflip} \\
\cmidrule(lr){2-3}\cmidrule(lr){4-4}
CIFAR-10 & 0.2 & 0.5 & 0.45 \\
\midrule
CE & \textbf{$-$8.25} & $-$0.40 & -- \\
 & {\scriptsize {[}$-$9.10, $-$7.40{]}} & {\scriptsize {[}$-$1.00, +0.20{]}} &  \\
\bottomrule
\end{tabular}
\end{table}
)");
}

TEST(HtmlTable, HasAReasonForWhatIsMissing) {
  EXPECT_EQ(html_table(small_table()), R"(<h2>Table 1</h2>
<p class="caption">Test accuracy (%)</p>
<p class="scale">Scale: 2 epochs of 100 images.</p>
<p class="legend">Ours is mean ± standard deviation over 3 seeds; the paper's is below it in small print. Bold: the best of its column.</p>
<h3>CIFAR-10</h3>
<div class="scroll" tabindex="0">
<table class="figures">
<thead>
<tr><td rowspan="2"></td><th scope="colgroup" colspan="2">Symmetric</th><th scope="colgroup" colspan="1">Pairflip</th></tr>
<tr><th scope="col">0.2</th><th scope="col">0.5</th><th scope="col">0.45</th></tr>
</thead>
<tbody>
<tr><th scope="row">CE</th><td>84.10 ± 0.50<span class="paper">84.00 ± 0.66</span></td><td><span title="2 of 3 seeds">75.00 ± 1.00<sup>a</sup></span><span class="paper">75.51 ± 1.24</span></td><td class="missing"><span title="failed: out of memory">–<sup>b</sup></span><span class="paper">63.34 ± 6.03</span></td></tr>
<tr><th scope="row">PES</th><td class="missing"><span title="not built yet">–<sup>c</sup></span><span class="paper">92.38 ± 0.40</span></td><td class="missing"><span title="not built yet">–<sup>c</sup></span><span class="paper">87.45 ± 0.35</span></td><td class="missing"><span title="not built yet">–<sup>c</sup></span><span class="paper">88.43 ± 1.08</span></td></tr>
<tr class="reference"><th scope="row">RML</th><td><b>92.35 ± 0.10</b><span class="paper"><b>92.89 ± 0.42</b></span></td><td><span title="1 of 3 runs done"><b>89.00</b><sup>d</sup></span><span class="paper"><b>89.13 ± 0.21</b></span></td><td>90.00 ± 0.30<span class="paper"><b>90.54 ± 0.34</b></span></td></tr>
</tbody>
</table>
</div>
<p class="legend">Difference to RML in points, with its 95 % interval. Bold: beyond chance, the interval leaves out 0.</p>
<div class="scroll" tabindex="0">
<table class="differences">
<thead>
<tr><td rowspan="2"></td><th scope="colgroup" colspan="2">Symmetric</th><th scope="colgroup" colspan="1">Pairflip</th></tr>
<tr><th scope="col">0.2</th><th scope="col">0.5</th><th scope="col">0.45</th></tr>
</thead>
<tbody>
<tr><th scope="row">CE</th><td><b>−8.25</b><span class="paper">[−9.10, −7.40]</span></td><td>−0.40<span class="paper">[−1.00, +0.20]</span></td><td class="missing">–</td></tr>
</tbody>
</table>
</div>
<p class="legend"><sup>a</sup> 2 of 3 seeds</p>
<p class="legend"><sup>b</sup> failed: out of memory</p>
<p class="legend"><sup>c</sup> not built yet</p>
<p class="legend"><sup>d</sup> 1 of 3 runs done</p>
<ul class="notes">
<li>The paper disagrees with itself.</li>
</ul>
)");
}

/// A table of one column, a row for each figure.
ResultTable one_column(const std::vector<ResultCell>& cells) {
  ResultTable table;
  table.blocks.push_back({"", {{"", "x", false}}, {}, ""});
  for (std::size_t i = 0; i < cells.size(); ++i)
    table.blocks[0].rows.push_back({"row" + std::to_string(i), {cells[i]}});
  return table;
}

ResultCell ours(double mean) { return {Measured{mean, 0.5, 3}, "", "", std::nullopt}; }

ResultCell paper(const std::string& text) { return {std::nullopt, text, "", std::nullopt}; }

TEST(ResultTable, FiguresThatReadTheSameAreEquallyGood) {
  const std::string text = markdown_table(one_column({ours(90.001), ours(89.998), ours(89.99), ours(-1)}));
  EXPECT_EQ(count(text, "| **90.00 ± 0.50** |"), 2U);
  EXPECT_EQ(count(text, "| 89.99 ± 0.50 |"), 1U);
}

TEST(ResultTable, ThePapersBestIsFoundByTheNumberThatItStartsWith) {
  const std::string text = markdown_table(one_column({paper("9.5 ± 80"), paper("74.6"), paper("74.60"), paper("n/a")}));
  EXPECT_EQ(count(text, "(**74.6**)"), 1U);
  EXPECT_EQ(count(text, "(**74.60**)"), 1U);
  EXPECT_EQ(count(text, "(9.5 ± 80)"), 1U);
  EXPECT_EQ(count(text, "(n/a)"), 1U);
}

TEST(ResultTable, TheOnlyFigureOfAColumnIsNotTheBest) {
  EXPECT_EQ(count(markdown_table(one_column({ours(90), paper("1")})), "**"), 0U);
}

TEST(ResultTable, TheLowestIsTheBestWhereThatIsBetter) {
  ResultTable hours = one_column({ours(2.4), ours(1), ours(5)});
  hours.blocks[0].columns[0].lower_is_better = true;
  EXPECT_EQ(count(markdown_table(hours), "**1.00 ± 0.50**"), 1U);
  EXPECT_EQ(count(markdown_table(hours), "**"), 2U);
}

TEST(ResultTable, WhatIsNotANumberIsNeverTheBest) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::string text = markdown_table(one_column({ours(nan), ours(1), ours(2), ours(infinity)}));
  EXPECT_EQ(count(text, "**2.00 ± 0.50**"), 1U);
  EXPECT_EQ(count(text, "**"), 2U);
}

TEST(ResultTable, ADifferenceThatRoundsToNothingHasNoSign) {
  ResultCell cell = ours(1);
  cell.difference = ResultDifference{-0.001, -0.004, 0.006};
  EXPECT_EQ(count(markdown_table(one_column({cell})), "| 0.00 \\[0.00, +0.01\\] |"), 1U);
  // What decides is the interval and not how it reads.
  cell.difference = ResultDifference{0.01, 0.004, 0.02};
  EXPECT_EQ(count(markdown_table(one_column({cell})), "| **+0.01 \\[0.00, +0.02\\]** |"), 1U);
}

TEST(ResultTable, ThePaperIsMentionedWhereItHasAFigure) {
  EXPECT_EQ(count(markdown_table(one_column({ours(1)})), "paper"), 0U);
  EXPECT_EQ(count(markdown_table(one_column({ours(1), paper("2")})), "the paper's is in brackets"), 1U);
}

TEST(ResultTable, ABlockHasAReferenceOfItsOwn) {
  ResultTable table = small_table();
  table.blocks.push_back(table.blocks[0]);
  table.blocks[1].reference = "PES";
  for (const std::string& text : {markdown_table(table), latex_table(table), html_table(table)}) {
    EXPECT_EQ(count(text, "Difference to RML"), 1U);
    EXPECT_EQ(count(text, "Difference to PES"), 1U);
  }
}

TEST(ResultTable, ManyRemarksHaveLettersToo) {
  std::vector<ResultCell> cells;
  for (int i = 0; i < 30; ++i) cells.push_back({std::nullopt, "", "reason " + std::to_string(i), std::nullopt});
  const std::string text = markdown_table(one_column(cells));
  EXPECT_EQ(count(text, "<sup>z</sup> reason 25\n"), 1U);
  EXPECT_EQ(count(text, "<sup>aa</sup> reason 26\n"), 1U);
  EXPECT_EQ(count(text, "–<sup>ad</sup>"), 1U);
}

TEST(ResultTable, MarkdownShowsAnyTextAsItIs) {
  ResultTable table = one_column({paper("1 | 2\n\n# x")});
  table.title = "a\nb";
  table.notes = {R"(<script>*x* _y_ [z](w) `v` ~u~ \ ! $t$ & "q" &lt;)"};
  const std::string text = markdown_table(table);
  EXPECT_EQ(text.rfind("## a b\n", 0), 0U);
  EXPECT_EQ(count(text, R"((1 \| 2  \# x))"), 1U);
  EXPECT_EQ(count(text, R"(- &lt;script&gt;\*x\* \_y\_ \[z\](w) \`v\` \~u\~ \\ \! \$t\$ &amp; "q" &amp;lt;)"), 1U);
}

TEST(ResultTable, CsvQuotesWhatNeedsIt) {
  ResultTable table = one_column({paper("1,5 \"about\"")});
  table.blocks[0].label = "a\nb";
  EXPECT_EQ(csv_table(table),
            "block,column,row,mean,deviation,seeds,paper,difference,low,high\n"
            "\"a\nb\",x,row0,,,0,\"1,5 \"\"about\"\"\",,,\n");
}

TEST(ResultTable, LatexShowsAnyTextThatItsFontsHave) {
  ResultTable table;
  table.notes = {"\\ ~ ^ ` & % $ # _ { } [ ] * < > | \" --- \u00e9\u00df\u00d7 \u00fe \u732b \xff\n\nx"};
  EXPECT_EQ(count(latex_table(table),
                  "\\textbackslash{} \\textasciitilde{} \\textasciicircum{} \\`{} \\& \\% \\$ \\# \\_ \\{ \\} "
                  "{[} {]} {*} $<$ $>$ $|$ '' -{}-{}- \u00e9\u00df$\\times$ ? ? ?  x."),
            1U);
}

TEST(ResultTable, HtmlShowsAnyTextAsItIs) {
  ResultTable table = hostile_table();
  const std::string text = html_table(table);
  EXPECT_EQ(count(text, "<script"), 0U);
  EXPECT_EQ(count(text, "onmouseover=\"x"), 0U);
  EXPECT_EQ(count(text, "&lt;script&gt;"), count(text, "&lt;/script&gt;"));
  EXPECT_GE(count(text, "&lt;script&gt;"), 9U);
}

TEST(ResultTable, NothingIsATableToo) {
  for (const ResultTable& table : {ResultTable{}, one_column({})}) {
    EXPECT_NO_THROW(markdown_table(table));
    EXPECT_NO_THROW(csv_table(table));
    EXPECT_NO_THROW(latex_table(table));
    EXPECT_NO_THROW(html_table(table));
  }
}

TEST(ResultTable, ARowThatDoesNotFitIsRefused) {
  ResultTable table = small_table();
  table.blocks[0].rows[1].cells.pop_back();
  EXPECT_THROW(markdown_table(table), std::invalid_argument);
  EXPECT_THROW(csv_table(table), std::invalid_argument);
  EXPECT_THROW(latex_table(table), std::invalid_argument);
  EXPECT_THROW(html_table(table), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
