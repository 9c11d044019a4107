#include <regroup/rml/regroup_median.h>

#include <vector>

int main() {
  const std::vector<std::int32_t> labels(12, 0);
  std::vector<float> losses(12, 0.5F), weights(12);
  losses[3] = 6;
  regroup::RegroupOptions options;
  options.draw = regroup::DrawSize::per_group(1);
  regroup::RegroupMedian(regroup::ClassIndex(labels, 1), options).weights(losses, 1, weights);
  return weights[0] == 1 && weights[3] < 0.1F ? 0 : 1;
}
