#include "regroup/methods/neighbours.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "regroup/methods/class_selection.h"
#include "regroup/methods/heads.h"

namespace regroup {

at::Tensor nearest_rows(const at::Tensor& features, std::int64_t k, Itself itself, std::int64_t products_at_once) {
  constexpr double farther_than_any = -2;
  const at::Tensor unit = unit_rows(features.detach().to(at::kFloat)).contiguous(), columns = unit.t();
  const std::int64_t rows = unit.size(0), others = itself == Itself::is_none ? rows - 1 : rows;
  const std::int64_t count = std::min(k, others), block = std::max<std::int64_t>(1, products_at_once / rows);
  std::vector<at::Tensor> found;
  for (std::int64_t begin = 0; begin < rows; begin += block) {
    const std::int64_t end = std::min(rows, begin + block);
    at::Tensor similarities = at::matmul(unit.slice(0, begin, end), columns);
    if (itself == Itself::is_none) similarities.diagonal(begin).fill_(farther_than_any);
    found.push_back(std::get<1>(similarities.topk(count, 1)));
  }
  return at::cat(found);
}

at::Tensor neighbour_votes(const at::Tensor& neighbours, const at::Tensor& labels, std::int64_t classes) {
  const at::Tensor votes = labels.index_select(0, neighbours.flatten()).view(neighbours.sizes());
  return at::zeros({neighbours.size(0), classes}, labels.options().dtype(at::kFloat))
      .scatter_add_(1, votes, at::ones(votes.sizes(), labels.options().dtype(at::kFloat)));
}

at::Tensor corrected_votes(const at::Tensor& neighbours, const at::Tensor& labels, std::int64_t classes) {
  const at::Tensor voted = neighbour_votes(neighbours, labels, classes).argmax(1);
  const at::Tensor votes = neighbour_votes(neighbours, voted, classes);
  return votes / votes.sum(1, /*keepdim=*/true);
}

std::vector<std::int32_t> select_balanced(const at::Tensor& probabilities, std::span<const std::int32_t> labels,
                                          double quantile) {
  const at::Tensor p = probabilities.to(at::kCPU, at::kFloat).contiguous(), likeliest = p.argmax(1).contiguous();
  const auto classes = static_cast<std::size_t>(p.size(1));
  std::vector<float> doubts;
  std::vector<double> agreeing(classes, 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    doubts.push_back(-p.data_ptr<float>()[i * classes + label]);
    if (likeliest.data_ptr<std::int64_t>()[i] == labels[i]) ++agreeing[label];
  }
  std::sort(agreeing.begin(), agreeing.end());
  const double place = quantile * static_cast<double>(classes - 1);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  // Of an even number of classes, the median that is meant is the lower of the two middle ones.
  const bool is_median = quantile == 0.5;
  const double between = share > 0 && !is_median ? share * (agreeing[below + 1] - agreeing[below]) : 0;
  const auto wanted = static_cast<std::size_t>(agreeing[below] + between);
  return smallest_of_each_class(doubts, labels, static_cast<int>(classes), wanted);
}

}  // namespace regroup
