#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace regroup {

/// The numbers of the `k` rows that are nearest to each row by cosine, nearest first, exactly: products of all rows
/// with all, block by block. At most as many as there are. A row is its own nearest one, or left out.
enum class Itself { is_a_neighbour, is_none };
at::Tensor nearest_rows(const at::Tensor& features, std::int64_t k, Itself itself,
                        std::int64_t products_at_once = 1 << 24);

/// How many neighbours of each row have each label: rows by classes, as float.
at::Tensor neighbour_votes(const at::Tensor& neighbours, const at::Tensor& labels, std::int64_t classes);

/// How likely each label is among the neighbours (MOIT, Sel-CL): they vote with their labels, and then again with what
/// they were voted to be. Rows sum to 1.
at::Tensor corrected_votes(const at::Tensor& neighbours, const at::Tensor& labels, std::int64_t classes);

/// Which labels are believed (MOIT, Sel-CL): of each class the same number, those with the highest probability of their
/// label. The number is a quantile, over the classes, of how many labels are what their neighbours vote for; of the
/// median, 0.5, the lower of two middle values. 1 or 0.
std::vector<std::int32_t> select_balanced(const at::Tensor& probabilities, std::span<const std::int32_t> labels,
                                          double quantile);

}  // namespace regroup
