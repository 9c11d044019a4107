#include "regroup/methods/mixing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace regroup {
namespace {

/// log of a number from Gamma(alpha, 1), by Marsaglia and Tsang's method; in logarithms, since for a small alpha the
/// number itself may be 0.
double log_gamma_variate(Stream& random, double alpha) {
  // Gamma(alpha) is Gamma(alpha + 1) times u^(1 / alpha).
  if (alpha < 1) return log_gamma_variate(random, alpha + 1) + std::log(1 - random.uniform()) / alpha;
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - random.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

}  // namespace

Stream mixing_stream(std::uint64_t seed, const Step& step) {
  // The passes of an epoch have numbers of their own.
  constexpr std::size_t steps = std::size_t{1} << 24;
  return {seed, Purpose::mixing, static_cast<std::uint32_t>(step.epoch),
          static_cast<std::uint32_t>(step.pass * steps + step.number)};
}

double symmetric_beta(Stream& random, double alpha) {
  const double a = log_gamma_variate(random, alpha), b = log_gamma_variate(random, alpha);
  return 1 / (1 + std::exp(b - a));
}

std::vector<std::int64_t> permutation(Stream& random, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
  return order;
}

at::Tensor one_hot_rows(const at::Tensor& labels, std::int64_t classes) {
  return at::zeros({labels.size(0), classes}, labels.options().dtype(at::kFloat)).scatter_(1, labels.unsqueeze(1), 1.0);
}

at::Tensor smoothed(const at::Tensor& targets, double share) {
  return targets * (1 - share) + share / static_cast<double>(targets.size(1));
}

at::Tensor mixed(const at::Tensor& x, const at::Tensor& partners, double share) {
  // By rows of memory: the layout of images, channels last, stays.
  const at::Tensor stored = x.dim() == 4 ? x.permute({0, 2, 3, 1}) : x;
  const at::Tensor rows = stored.reshape({x.size(0), -1});
  const at::Tensor result = (rows * share).add_(rows.index_select(0, partners), 1 - share).view(stored.sizes());
  return x.dim() == 4 ? result.permute({0, 3, 1, 2}) : result;
}

MixedView mix_view(const at::Tensor& images, double alpha, Stream& random) {
  const double lambda = symmetric_beta(random, alpha), share = std::max(lambda, 1 - lambda);
  const at::Tensor partners = at::tensor(permutation(random, images.size(0)), at::kLong).to(images.device());
  return {mixed(images, partners, share), partners, share};
}

at::Tensor soft_cross_entropy(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& class_weights) {
  at::Tensor terms = at::log_softmax(logits, 1) * targets;
  if (class_weights.defined()) terms = terms * class_weights;
  return -terms.sum(1);
}

}  // namespace regroup
