#include "regroup/audit/neighbours.h"

#include <fmt/format.h>
// Its own vector code reads one link too many, and rounds in another way on another processor.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "regroup/audit/dot_kernels.h"
#include "regroup/core/error.h"
#include "regroup/core/hash.h"
#include "regroup/core/parallel.h"
#include "regroup/core/simd.h"

namespace regroup {
namespace {

constexpr std::size_t links = 16, effort_to_build = 120, effort_to_search = 80, seed = 1;

/// The row scaled to length 1, or zeros. Lengths are in double: squares of large floats overflow.
void copy_scaled(const FeatureRows& rows, std::size_t index, std::span<float> out) {
  const std::span<const float> row = rows.row(index);
  double squares = 0;
  for (const float value : row) {
    if (!std::isfinite(value))
      throw UserError(fmt::format("row {} of the features has the value {}; all must be finite", index, value));
    squares += double{value} * value;
  }
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  // 0 is added so that -0 becomes 0: equal rows have equal bytes.
  std::ranges::transform(row, out.begin(), [&](float value) { return static_cast<float>(value * scale) + 0.0F; });
}

const auto dot = REGROUP_BEST_KERNEL(dot);

float similarity(std::span<const float> left, std::span<const float> right) {
  return std::clamp(dot(left.data(), right.data(), left.size()), -1.0F, 1.0F);
}

/// Rows of length 1 for hnswlib, whose distance is 1 less the similarity.
class Directions final : public hnswlib::SpaceInterface<float> {
 public:
  explicit Directions(std::size_t dimension) : dimension_(dimension) {}

  size_t get_data_size() override { return dimension_ * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance; }
  void* get_dist_func_param() override { return &dimension_; }

 private:
  static float distance(const void* left, const void* right, const void* dimension) {
    return 1 - dot(static_cast<const float*>(left), static_cast<const float*>(right),
                   *static_cast<const std::size_t*>(dimension));
  }

  std::size_t dimension_;
};

std::span<const std::uint8_t> bytes_of(std::span<const float> row) {
  return {reinterpret_cast<const std::uint8_t*>(row.data()), row.size_bytes()};
}

bool nearer(const Neighbour& left, const Neighbour& right) {
  return left.similarity != right.similarity ? left.similarity > right.similarity : left.id < right.id;
}

}  // namespace

/// Equal rows are one node: linked to each other alone, many of them would be an island that no search leaves or
/// reaches.
class NeighbourIndex::Graph {
 public:
  explicit Graph(const FeatureRows& rows)
      : space_(rows.dimension), graph_(&space_, rows.size(), links, effort_to_build, seed) {
    graph_.setEf(effort_to_search);
    std::unordered_map<std::uint64_t, std::uint32_t> node_by_hash;
    std::vector<float> scaled(rows.dimension);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      copy_scaled(rows, i, scaled);
      const auto next = static_cast<std::uint32_t>(members_.size());
      const auto [known, is_new] = node_by_hash.try_emplace(hash_of(bytes_of(scaled)), next);
      if (is_new || !std::ranges::equal(scaled, values(known->second, rows.dimension))) {
        graph_.addPoint(scaled.data(), next);
        members_.emplace_back();
        nodes_.push_back(next);
      } else {
        nodes_.push_back(known->second);
      }
      members_[nodes_.back()].push_back(static_cast<std::uint32_t>(i));
    }
  }

  std::span<const float> row(std::size_t index, std::size_t dimension) const {
    return values(nodes_[index], dimension);
  }

  /// The rows of the `k` nodes that are nearest, and of each the first `k` at most. May find fewer than `k` rows: the
  /// graph need not hang together.
  void search(std::span<const float> query, std::size_t k, std::vector<Neighbour>& found) const {
    found.clear();
    for (auto queue = graph_.searchKnn(query.data(), k); !queue.empty(); queue.pop()) {
      const std::size_t node = queue.top().second;
      const float likeness = similarity(query, values(node, query.size()));
      const std::vector<std::uint32_t>& ids = members_[node];
      for (const std::uint32_t id : std::span(ids).first(std::min(k, ids.size()))) found.push_back({id, likeness});
    }
  }

 private:
  /// Nodes are numbered in the order in which they came.
  std::span<const float> values(std::size_t node, std::size_t dimension) const {
    const char* first = graph_.getDataByInternalId(static_cast<hnswlib::tableint>(node));
    return {reinterpret_cast<const float*>(first), dimension};
  }

  Directions space_;
  hnswlib::HierarchicalNSW<float> graph_;
  std::vector<std::uint32_t> nodes_;                 ///< of each row
  std::vector<std::vector<std::uint32_t>> members_;  ///< the rows of each node, by number
};

NeighbourIndex::NeighbourIndex(const FeatureRows& rows, const NeighbourOptions& options)
    : size_(rows.size()), dimension_(rows.dimension) {
  if (size_ * dimension_ != rows.values.size())
    throw UserError(fmt::format("{} feature values are no whole number of rows of {}", rows.values.size(), dimension_));
  if (size_ > std::numeric_limits<std::uint32_t>::max())
    throw UserError(fmt::format("{} rows of features; at most 4294967295 are supported", size_));
  if (size_ >= options.exact_below && size_ > 0) {
    graph_ = std::make_unique<Graph>(rows);
    return;
  }
  rows_.resize(rows.values.size());
  for (std::size_t i = 0; i < size_; ++i) copy_scaled(rows, i, std::span(rows_).subspan(i * dimension_, dimension_));
}

NeighbourIndex::~NeighbourIndex() = default;

std::span<const float> NeighbourIndex::row(std::size_t index) const {
  return graph_ ? graph_->row(index, dimension_) : std::span(rows_).subspan(index * dimension_, dimension_);
}

void NeighbourIndex::search(std::span<const float> query, std::vector<Neighbour>& scratch,
                            std::span<Neighbour> found) const {
  scratch.clear();
  if (graph_) graph_->search(query, found.size(), scratch);
  if (scratch.size() < found.size()) {
    scratch.resize(size_);
    for (std::size_t i = 0; i < size_; ++i) scratch[i] = {static_cast<std::uint32_t>(i), similarity(query, row(i))};
  }
  std::ranges::partial_sort_copy(scratch, found, nearer);
}

std::vector<Neighbour> NeighbourIndex::nearest(const FeatureRows& queries, std::size_t k, int threads) const {
  if (queries.size() > 0 && size_ > 0 && queries.dimension != dimension_)
    throw UserError(fmt::format("queries have {} values each, the rows {}", queries.dimension, dimension_));
  k = std::min(k, size_);
  std::vector<Neighbour> found(queries.size() * k);
  if (k == 0) return found;
  constexpr std::size_t grain = 64;
  parallel_for(queries.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> query(dimension_);
    std::vector<Neighbour> scratch;
    for (std::size_t i = begin; i < end; ++i) {
      copy_scaled(queries, i, query);
      search(query, scratch, std::span(found).subspan(i * k, k));
    }
  });
  return found;
}

}  // namespace regroup
