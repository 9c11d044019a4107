#include "regroup/audit/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "regroup/core/random.h"
#include "support/user_error.h"

#if defined(__SANITIZE_THREAD__)
// hnswlib locks rows in any order. That is no deadlock where one thread inserts them, and searching takes no locks.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }
#endif

namespace regroup {
namespace {

/// Rows around 50 centres.
std::vector<float> clustered_rows(std::size_t count, std::size_t dimension) {
  constexpr std::uint32_t clusters = 50;
  std::vector<float> centres, rows;
  Stream random(1, Purpose::synthetic);
  for (std::size_t i = 0; i < clusters * dimension; ++i) centres.push_back(static_cast<float>(random.normal()));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t cluster = random.below(clusters);
    for (std::size_t d = 0; d < dimension; ++d)
      rows.push_back(centres[cluster * dimension + d] + 0.5F * static_cast<float>(random.normal()));
  }
  return rows;
}

TEST(Neighbours, AreThoseOfTheDefinition) {
  const std::vector<float> values = {1, 0, 0, 2, -3, 0, 1, 1};
  const NeighbourIndex index({values, 2});
  const std::vector<float> query = {5, 0};
  const auto found = index.nearest({query, 2}, 3, 1);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (Neighbour{0, 1}));
  EXPECT_EQ(found[1].id, 3U);
  EXPECT_NEAR(found[1].similarity, std::sqrt(0.5), 1e-6);
  EXPECT_EQ(found[2], (Neighbour{1, 0}));
}

TEST(Neighbours, TheGraphFindsNearlyAllThatComparingEachFinds) {
  constexpr std::size_t count = 3000, dimension = 19, k = 10;
  const std::vector<float> rows = clustered_rows(count, dimension);
  const auto graph = NeighbourIndex({rows, dimension}, {.exact_below = 0}).nearest({rows, dimension}, k, 2);
  const auto exact = NeighbourIndex({rows, dimension}, {.exact_below = count + 1}).nearest({rows, dimension}, k, 2);
  ASSERT_EQ(graph.size(), count * k);
  ASSERT_EQ(exact.size(), count * k);
  std::size_t common = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::set<std::uint32_t> ids;
    for (std::size_t j = 0; j < k; ++j) ids.insert(exact[i * k + j].id);
    for (std::size_t j = 0; j < k; ++j) common += ids.count(graph[i * k + j].id);
  }
  EXPECT_GE(static_cast<double>(common) / (count * k), 0.95);
}

TEST(Neighbours, DoNotDependOnThreadsAndRepeat) {
  constexpr std::size_t count = 2500, dimension = 8;
  const std::vector<float> rows = clustered_rows(count, dimension);
  const auto once = NeighbourIndex({rows, dimension}).nearest({rows, dimension}, 5, 1);
  EXPECT_EQ(once, NeighbourIndex({rows, dimension}).nearest({rows, dimension}, 5, 3));
}

TEST(Neighbours, EquallyNearOnesComeByNumber) {
  const std::vector<float> rows = {1, 0, 0, 1, 2, 0, 3, 0};
  const auto found = NeighbourIndex({rows, 2}).nearest({std::span(rows).first(2), 2}, 4, 1);
  EXPECT_EQ(found, (std::vector<Neighbour>{{0, 1}, {2, 1}, {3, 1}, {1, 0}}));
}

TEST(Neighbours, RowsOfZerosAreLikeNothing) {
  for (const std::size_t exact_below : {0, 100}) {
    const std::vector<float> rows = {1, 1, 0, 0, 1, 0};
    const auto found =
        NeighbourIndex({rows, 2}, {.exact_below = exact_below}).nearest({std::span(rows).subspan(2, 2), 2}, 3, 1);
    EXPECT_EQ(found, (std::vector<Neighbour>{{0, 0}, {1, 0}, {2, 0}}));
  }
}

TEST(Neighbours, ManyEqualRowsAreFound) {
  std::vector<float> rows;
  for (int i = 0; i < 600; ++i) rows.insert(rows.end(), {2, i < 300 ? -0.0F : 1.0F, 0});
  const NeighbourIndex graph({rows, 3}, {.exact_below = 0});
  EXPECT_EQ(graph.nearest({rows, 3}, 4, 2), NeighbourIndex({rows, 3}).nearest({rows, 3}, 4, 2));
  EXPECT_EQ(graph.nearest({std::span(rows).first(3), 3}, 500, 1).back().id, 499U);
}

TEST(Neighbours, TakeTheLargestAndTheSmallestFloats) {
  constexpr float huge = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> rows = {huge, huge, tiny, tiny};
  const auto found = NeighbourIndex({rows, 2}).nearest({rows, 2}, 2, 1);
  for (const Neighbour& neighbour : found) EXPECT_NEAR(neighbour.similarity, 1, 1e-6);
}

TEST(Neighbours, NameTheRowOfAValueThatIsNotFinite) {
  for (const std::size_t exact_below : {0, 100}) {
    std::vector<float> rows = {1, 2, 3, 4, std::numeric_limits<float>::quiet_NaN(), 6};
    const auto build = [&] { NeighbourIndex({rows, 2}, {.exact_below = exact_below}); };
    EXPECT_EQ(user_error(build), "row 2 of the features has the value nan; all must be finite");
    rows[4] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(user_error(build), "row 2 of the features has the value inf; all must be finite");
  }
}

TEST(Neighbours, SaysWhatDoesNotFit) {
  const std::vector<float> rows = {1, 2, 3, 4, 5};
  EXPECT_EQ(user_error([&] { NeighbourIndex({rows, 2}); }), "5 feature values are no whole number of rows of 2");
  const NeighbourIndex index({std::span(rows).first(4), 2});
  EXPECT_EQ(user_error([&] { index.nearest({rows, 5}, 1, 1); }), "queries have 5 values each, the rows 2");
}

TEST(Neighbours, OfNothingAreNone) {
  EXPECT_TRUE(NeighbourIndex({}).nearest({}, 3, 1).empty());
  EXPECT_TRUE(NeighbourIndex({{}, 2}, {.exact_below = 0}).nearest({}, 3, 1).empty());
  const std::vector<float> one = {3, 4};
  EXPECT_EQ(NeighbourIndex({one, 2}, {.exact_below = 0}).nearest({one, 2}, 5, 1).size(), 1U);
  EXPECT_TRUE(NeighbourIndex({one, 2}).nearest({one, 2}, 0, 1).empty());
}

}  // namespace
}  // namespace regroup
