#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace regroup {

/// Vectors of one dimension, one after the other, in memory that somebody else owns.
struct FeatureRows {
  std::span<const float> values;
  std::size_t dimension = 0;

  std::size_t size() const { return dimension == 0 ? 0 : values.size() / dimension; }
  std::span<const float> row(std::size_t index) const { return values.subspan(index * dimension, dimension); }
};

struct Neighbour {
  std::uint32_t id = 0;  ///< the number of the row
  float similarity = 0;  ///< the cosine of the angle between the two rows; 0 if one of them is all zeros

  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

struct NeighbourOptions {
  std::size_t exact_below = 2000;  ///< so few rows are compared one by one
};

/// Finds the rows that point in nearly the same direction as a query. Few rows are compared one by one; of many rows, a
/// graph of neighbours (hnswlib) leads to nearly all of the nearest. The graph is built by one thread, row by row, so
/// that the same rows give the same answers each time.
class NeighbourIndex {
 public:
  /// Copies the rows. A value that is not finite is a UserError that names its row.
  explicit NeighbourIndex(const FeatureRows& rows, const NeighbourOptions& options = {});
  NeighbourIndex(const NeighbourIndex&) = delete;
  NeighbourIndex& operator=(const NeighbourIndex&) = delete;
  ~NeighbourIndex();

  std::size_t size() const { return size_; }

  /// The `k` nearest rows of each query, or all rows if there are fewer, query after query: the nearest first, equally
  /// near ones by number. A query that is one of the rows finds itself too, unless `k` others are equal to it. Does not
  /// depend on the number of threads.
  std::vector<Neighbour> nearest(const FeatureRows& queries, std::size_t k, int threads) const;

 private:
  class Graph;

  std::span<const float> row(std::size_t index) const;
  void search(std::span<const float> query, std::vector<Neighbour>& scratch, std::span<Neighbour> found) const;

  std::size_t size_ = 0, dimension_ = 0;
  std::vector<float> rows_;       ///< of length 1 or 0; empty where there is a graph, which has its own copy
  std::unique_ptr<Graph> graph_;  ///< null: rows are compared one by one
};

}  // namespace regroup
