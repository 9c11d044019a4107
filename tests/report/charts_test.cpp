#include "regroup/report/charts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

namespace regroup {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Whether tags are balanced, attributes quoted and & and < escaped; a sentence about the first place where not.
std::string xml_problem(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    const auto c = static_cast<unsigned char>(xml[at]);
    if (c < 0x20 && c != '\n') return "a control character";
    if (c == '>') return "a stray >";
    if (c == '&') {
      const std::string entity = xml.substr(at, xml.find(';', at) - at + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") return "entity " + entity;
    }
    if (c != '<') continue;
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "a tag without end";
    std::string tag = xml.substr(at + 1, end - at - 1);
    at = end;
    if (tag.find('<') != std::string::npos) return "a tag in the tag " + tag;
    if (count(tag, "\"") % 2 != 0) return "quotes in the tag " + tag;
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) return "</> " + tag;
      open.pop_back();
      if (open.empty() && xml.find_first_not_of('\n', end + 1) != std::string::npos) return "more than one root";
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

/// What every chart keeps to.
void expect_chart(const std::string& svg) {
  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_EQ(svg.rfind("<svg xmlns=\"http://www.w3.org/2000/svg\"", 0), 0U);
  EXPECT_EQ(count(svg, "prefers-color-scheme:dark"), 1U);
  EXPECT_EQ(count(svg, "<script"), 0U);
  EXPECT_EQ(count(svg, "http"), 1U);  // nothing is fetched
  const std::string drawn = svg.substr(svg.find("</style>"));
  for (const std::string bad : {"nan", "inf"}) EXPECT_EQ(count(drawn, bad), 0U) << bad;
}

/// The attribute `d` of the path with this class.
std::string path_of(const std::string& svg, const std::string& style) {
  const auto at = svg.find("<path class=\"" + style + "\" d=\"");
  if (at == std::string::npos) return "";
  const auto start = svg.find("d=\"", at) + 3;
  return svg.substr(start, svg.find('"', start) - start);
}

TEST(XmlProblem, SeesWhatIsWrong) {
  EXPECT_EQ(xml_problem("<a b=\"1\"><c/>x &amp; y</a>\n"), "");
  for (const std::string bad :
       {"<a>", "<a></b>", "<a>&</a>", "<a b=\"1></a>", "<a></a><b></b>", "<a><b</a>", "<a>\x01</a>"}) {
    EXPECT_NE(xml_problem(bad), "") << bad;
  }
}

TEST(LineChart, HasALineForEachSeriesAndAPointForEachValue) {
  const std::vector<Series> series = {{"train", {1, 2, 3, 4}, {2.3, 1.1, 0.7, 0.6}}, {"val", {1, 2, 3}, {2, 1, 0.9}}};
  const auto svg = line_chart({"Loss", "epoch", "loss"}, series);
  expect_chart(svg);
  const auto first = path_of(svg, "line s0");
  EXPECT_EQ(count(first, "M"), 1U);
  EXPECT_EQ(count(first, "L"), 3U);
  EXPECT_EQ(count(path_of(svg, "line s1"), "L"), 2U);
  EXPECT_EQ(count(svg, "<circle"), 7U);
  for (const std::string part : {">Loss<", ">epoch<", ">loss<", ">train<", ">val<"})
    EXPECT_GE(count(svg, part), 1U) << part;
  // Whole epochs have whole ticks, and a loss that comes near zero has an axis that starts there.
  for (const std::string tick : {">1<", ">2<", ">3<", ">4<", ">0.0<", ">0.5<", ">2.5<"})
    EXPECT_EQ(count(svg, tick), 1U) << tick;
  EXPECT_EQ(count(svg, ">1.5<"), 1U);
}

TEST(LineChart, LongLinesHaveNoDots) {
  Series line{"a", {}, {}};
  for (int i = 0; i < 100; ++i) {
    line.x.push_back(i);
    line.y.push_back(std::sqrt(i));
  }
  const auto svg = line_chart({}, std::span(&line, 1));
  EXPECT_EQ(count(path_of(svg, "line s0"), "L"), 99U);
  EXPECT_EQ(count(svg, "<circle"), 0U);
}

TEST(LineChart, WhatIsNotANumberIsAGap) {
  const std::vector<Series> series = {{"a", {1, 2, 3, 4, 5, 6, 7}, {1, 2, nan, 4, infinity, 6, 1e200}}};
  const auto svg = line_chart({}, series);
  expect_chart(svg);
  EXPECT_EQ(count(path_of(svg, "line s0"), "M"), 3U);
  EXPECT_EQ(count(path_of(svg, "line s0"), "L"), 1U);
  EXPECT_EQ(count(svg, "<circle"), 4U);
}

TEST(LineChart, OnePointIsShownInTheMiddle) {
  const std::vector<Series> series = {{"val/top1", {1}, {0.83}}};
  const auto svg = line_chart({"One", "epoch", "accuracy"}, series, Unit::percent);
  expect_chart(svg);
  EXPECT_EQ(count(svg, "<circle"), 1U);
  EXPECT_EQ(count(svg, ">1<"), 1U);
  EXPECT_EQ(count(svg, ">80%<"), 1U);
}

TEST(LineChart, AnyRangeHasAFewTicksThatDiffer) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{0, 0},
                                                                        {1, 1},
                                                                        {-5, -5},
                                                                        {0, 1e-9},
                                                                        {1e-300, 2e-300},
                                                                        {1e20, 1e20},
                                                                        {-1e99, 1e99},
                                                                        {0.9871, 0.9874},
                                                                        {123456, 123457},
                                                                        {-0.3, 0.7},
                                                                        {5, 1e6}}) {
    const std::vector<Series> series = {{"a", {0, 1}, {low, high}}};
    const auto svg = line_chart({}, series);
    expect_chart(svg);
    const auto lines = count(path_of(svg, "grid"), "M");
    EXPECT_GE(lines, 3U) << low << ' ' << high;
    EXPECT_LE(lines, 10U) << low << ' ' << high;
    EXPECT_EQ(count(svg, ">-0<") + count(svg, ">-0.0<"), 0U);
  }
  const std::vector<Series> large = {{"a", {0, 1}, {5, 1'200'000}}};
  EXPECT_EQ(count(line_chart({}, large), ">1,200,000<"), 1U);
}

TEST(LineChart, NothingIsAChartToo) {
  expect_chart(line_chart({"Nothing", "", ""}, {}));
  const std::vector<Series> series = {{"a", {}, {}}, {"b", {1, 2}, {nan, nan}}};
  const auto svg = line_chart({}, series);
  expect_chart(svg);
  EXPECT_EQ(count(svg, ">no data<"), 1U);
  const std::vector<Series> bad = {{"a", {1, 2}, {1}}};
  EXPECT_THROW(line_chart({}, bad), std::invalid_argument);
}

TEST(LineChart, TextIsEscapedAndCut) {
  const std::string hostile = "<b>&\"'</b>\x1b[31m\xff\xc3\xed\xa0\x80 \u00fc\u732b";
  const std::vector<Series> series = {{hostile, {1, 2}, {1, 2}}, {std::string(500, 'm'), {1}, {1}}};
  const auto svg = line_chart({hostile, hostile, hostile}, series);
  expect_chart(svg);
  EXPECT_EQ(count(svg, "&lt;b&gt;&amp;&quot;'&lt;/b&gt;"), 5U);
  EXPECT_EQ(count(svg, "\u00fc\u732b"), 5U);
  EXPECT_EQ(count(svg, "mm\u2026<"), 1U);
  EXPECT_LT(count(svg, "m"), 200U);
}

TEST(LineChart, ManySeriesDifferInColourOrDashes) {
  std::vector<Series> series;
  for (int i = 0; i < 21; ++i) series.push_back({"name " + std::to_string(i), {0, 1}, {0, static_cast<double>(i)}});
  const auto svg = line_chart({}, series);
  expect_chart(svg);
  for (const std::string style :
       {"line s0", "line s6", "line s0 dash1", "line s6 dash1", "line s0 dash2", "line s6 dash2"}) {
    EXPECT_EQ(count(path_of(svg, style), "L"), 1U) << style;
  }
}

TEST(CountBins, EveryNumberIsInOneBin) {
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed, cert-msc51-cpp): the same numbers every time
  std::gamma_distribution<double> draw(1.0, 1.0);
  std::vector<Histogram> histograms(2);
  for (int i = 0; i < 2000; ++i) histograms[0].values.push_back(draw(random));
  for (int i = 0; i < 500; ++i) histograms[1].values.push_back(2 + draw(random));
  histograms[1].values.insert(histograms[1].values.end(), {1000, infinity, nan, -0.0});
  const Bins bins = count_bins(histograms, 37);
  EXPECT_TRUE(bins.is_cut);
  EXPECT_LT(bins.high, 20);
  ASSERT_EQ(bins.counts.size(), 2U);
  // By comparison with the edges, one bin after another; values within an ulp of an edge are not drawn.
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(bins.counts[i].size(), 37U);
    for (std::size_t bin = 0; bin < 37; ++bin) {
      const double left = bins.low + static_cast<double>(bin) * bins.width();
      std::size_t expected = 0;
      for (const double value : histograms[i].values) {
        if (value >= left && (bin == 36 || value < left + bins.width())) ++expected;
      }
      EXPECT_EQ(bins.counts[i][bin], expected) << bin;
    }
  }
}

TEST(CountBins, TheTailIsCutAtThe99AndAHalfPercentile) {
  Histogram histogram;
  for (int i = 0; i <= 1000; ++i) histogram.values.push_back(i <= 995 ? i / 995.0 : 50);
  const Bins bins = count_bins(std::span(&histogram, 1), 10);
  EXPECT_TRUE(bins.is_cut);
  EXPECT_DOUBLE_EQ(bins.high, 1);
  EXPECT_EQ(bins.low, 0);
  histogram.values.assign({0, 1, 2, 50});
  const Bins few = count_bins(std::span(&histogram, 1), 10);
  EXPECT_FALSE(few.is_cut);
  EXPECT_EQ(few.high, 50);
}

TEST(CountBins, OddValuesAreCountedToo) {
  for (const std::vector<double>& values : std::vector<std::vector<double>>{{3},
                                                                            {1e20, 1e20},
                                                                            {0, 0},
                                                                            {5e-324},
                                                                            {infinity},
                                                                            {infinity, 1},
                                                                            {-infinity, 1, 2},
                                                                            {-1e300, 1e300},
                                                                            {-7, -3}}) {
    const Histogram histogram{"a", values};
    const Bins bins = count_bins(std::span(&histogram, 1), 4);
    std::size_t sum = 0;
    for (const std::size_t n : bins.counts[0]) sum += n;
    EXPECT_EQ(sum, values.size());
    EXPECT_LT(bins.low, bins.high);
    expect_chart(histogram_chart({}, std::span(&histogram, 1), 4));
  }
  EXPECT_THROW(count_bins({}, 0), std::invalid_argument);
}

TEST(HistogramChart, ShowsEachHistogramAndSaysWhatIsCut) {
  std::vector<Histogram> histograms = {{"clean", {}}, {"wrong", {3, 3, 3}}};
  for (int i = 0; i < 3000; ++i) histograms[0].values.push_back(i / 1000.0);
  const auto whole = histogram_chart({"Losses", "loss", "samples"}, histograms);
  expect_chart(whole);
  EXPECT_EQ(count(path_of(whole, "fill s0"), "H"), 60U);
  EXPECT_EQ(count(path_of(whole, "fill s1"), "H"), 1U);
  EXPECT_EQ(count(whole, "and above"), 0U);
  histograms[1].values.push_back(1000);
  const auto cut = histogram_chart({"Losses", "loss", "samples"}, histograms);
  expect_chart(cut);
  EXPECT_EQ(count(cut, ">last bin: 2.94 and above<"), 1U);
}

TEST(HistogramChart, NothingIsAChartToo) {
  expect_chart(histogram_chart({"Nothing", "", ""}, {}));
  const std::vector<Histogram> empty = {{"a", {}}, {"b", {nan}}};
  expect_chart(histogram_chart({}, empty));
}

/// The widths of the bars, in the order of the chart.
std::vector<double> bar_widths(const std::string& svg) {
  std::vector<double> widths;
  for (auto at = svg.find("<rect class=\"fill"); at != std::string::npos; at = svg.find("<rect class=\"fill", at + 1))
    widths.push_back(std::stod(svg.substr(svg.find("width=\"", at) + 7)));
  return widths;
}

TEST(BarChart, BarsAreAsLongAsTheirValues) {
  const std::vector<Bar> bars = {{"CE", 2, 0}, {"RML", 4, 0.5}, {"not run", nan, 0}, {"RML-Semi", 10, 1}};
  const auto svg = bar_chart({"Time", "minutes", ""}, bars);
  expect_chart(svg);
  const auto widths = bar_widths(svg);
  ASSERT_EQ(widths.size(), 3U);
  EXPECT_NEAR(widths[1] / widths[0], 2, 0.01);
  EXPECT_NEAR(widths[2] / widths[0], 5, 0.01);
  for (const std::string part : {">Time<", ">minutes<", ">CE<", ">not run<", ">2<", ">4 ± 0.5<", ">10 ± 1<"})
    EXPECT_GE(count(svg, part), 1U) << part;
}

TEST(BarChart, OddValuesAndNoneAreChartsToo) {
  expect_chart(bar_chart({"Nothing", "", ""}, {}));
  const std::vector<Bar> odd = {{"<a>", 0, 0}, {std::string(500, 'm'), 1e-9, 0}, {"", infinity, 1}, {"b", 1, nan}};
  const auto svg = bar_chart({"&", "<", ""}, odd);
  expect_chart(svg);
  EXPECT_EQ(bar_widths(svg).size(), 2U);
  const std::vector<Bar> negative = {{"a", -1, 0}};
  EXPECT_THROW(bar_chart({}, negative), std::invalid_argument);
}

TEST(ConfusionChart, PrintsTheSharesOfEachRow) {
  const std::vector<std::string> names = {"cat", "dog", "bird"};
  const std::vector<double> counts = {90, 10, 0, 1, 2, 1, 0, 0, 0};
  const auto svg = confusion_chart({"Confusion", "predicted", "true"}, names, counts);
  expect_chart(svg);
  EXPECT_EQ(count(svg, ">90.0<"), 1U);
  EXPECT_EQ(count(svg, ">10.0<"), 1U);
  EXPECT_EQ(count(svg, ">25.0<"), 2U);
  EXPECT_EQ(count(svg, ">50.0<"), 1U);
  EXPECT_EQ(count(svg, ">0.0<"), 0U);
  for (const std::string name : {">cat<", ">dog<", ">bird<"}) EXPECT_EQ(count(svg, name), 2U);
  // Every cell that is not zero is one square.
  EXPECT_EQ(count(svg, "h1v1h-1z"), 5U);
}

TEST(ConfusionChart, ManyClassesAreColoursOnly) {
  for (const std::size_t classes : {1, 12, 13, 20, 21, 40, 41, 100, 250}) {
    const std::vector<std::string> names(classes, "a class with a name that is far too long");
    const std::vector<double> counts(classes * classes, 1);
    const auto svg = confusion_chart({"Confusion", "predicted", "true"}, names, counts);
    expect_chart(svg);
    EXPECT_EQ(count(svg, "h1v1h-1z"), classes * classes);
    EXPECT_EQ(count(svg, "class=\"small") > 0, classes <= 20) << classes;
    EXPECT_EQ(count(svg, "\u2026<"), classes <= 40 ? 2 * classes : 0) << classes;
    EXPECT_LT(svg.size(), 2'000'000U);
  }
}

TEST(ConfusionChart, OddCountsAndNoneAreChartsToo) {
  expect_chart(confusion_chart({}, {}, {}));
  const std::vector<std::string> names = {"<a>", ""};
  const std::vector<double> counts = {nan, -1, infinity, 1e308};
  const auto svg = confusion_chart({"&", "<", ">"}, names, counts);
  expect_chart(svg);
  EXPECT_EQ(count(svg, "h1v1h-1z"), 1U);
  EXPECT_THROW(confusion_chart({}, names, std::span(counts).first(3)), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
