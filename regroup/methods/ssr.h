#pragma once

#include "regroup/methods/method.h"

namespace regroup {

/// SSR (Feng, Tzimiropoulos and Patras, BMVC 2022).
MethodInfo ssr_method();

/// Which labels the votes of the neighbours, rows by classes, are for: those whose share of the votes, divided by how
/// frequent the label is, is at least `least` of the largest such share. 1 or 0.
std::vector<std::int32_t> select_by_votes(const at::Tensor& votes, std::span<const std::int32_t> labels, double least);

/// Samples several times each, so that all classes have as many as the largest; in the order of the classes.
std::vector<std::uint32_t> oversampled(std::span<const std::uint32_t> slots, std::span<const std::int32_t> labels,
                                       int classes);

}  // namespace regroup
