// The estimator beside the straightforward PyTorch form of it, and how its time grows with the dataset.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "bench.h"
#include "regroup/core/random.h"
#include "regroup/rml/regroup_median.h"

namespace regroup::bench {
namespace {

constexpr int threads = 2;
constexpr int groups = 6;

struct Losses {
  std::vector<std::int32_t> labels;
  std::vector<float> losses;
  int classes;
};

/// Losses as they are in training: small and skewed where the label is right, around 4 where it is wrong.
Losses make_losses(std::size_t samples, int classes, double noise_rate) {
  Losses made{std::vector<std::int32_t>(samples), std::vector<float>(samples), classes};
  Stream stream(1, Purpose::synthetic);
  for (std::size_t i = 0; i < samples; ++i) {
    made.labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes));
    const double clean = -0.4 * std::log(1 - stream.uniform());
    const double noisy = std::abs(4 + stream.normal());
    made.losses[i] = static_cast<float>(stream.uniform() < noise_rate ? noisy : clean);
  }
  return made;
}

/// What the second of two calls takes: a core that slept is slow at first, and between two epochs of training none
/// sleeps.
double warm(const std::function<double()>& time) {
  time();
  return time();
}

/// Microseconds a sample of ours, over several epochs where the dataset is small.
double estimator_time(const Losses& data, int per_group) {
  const auto epochs = static_cast<std::uint32_t>(std::max<std::size_t>(1, 250'000 / data.losses.size()));
  RegroupOptions options;
  options.groups = groups;
  options.draw = DrawSize::per_group(per_group);
  RegroupMedian rml(ClassIndex(data.labels, data.classes), options, threads);
  std::vector<float> weights(data.losses.size());
  const double all = seconds([&] {
    for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) rml.weights(data.losses, epoch, weights);
  });
  return 1e6 * all / epochs / static_cast<double>(weights.size());
}

/// Microseconds a sample of the plain PyTorch form, measured on the first `samples`.
double pytorch_time(const Losses& data, int per_group, int samples) {
  const c10::InferenceMode no_grad;
  const auto count = static_cast<std::int64_t>(data.losses.size());
  const at::Tensor losses = at::from_blob(const_cast<float*>(data.losses.data()), {count}, at::kFloat);
  const at::Tensor labels = at::from_blob(const_cast<std::int32_t*>(data.labels.data()), {count}, at::kInt);
  std::vector<at::Tensor> members;
  for (int y = 0; y < data.classes; ++y) members.push_back(labels.eq(y).nonzero().squeeze(1));
  at::Tensor weights = at::ones({samples});
  return 1e6 / samples * seconds([&] {
           for (int i = 0; i < samples; ++i) {
             const at::Tensor of_class =
                 losses.index_select(0, members[static_cast<std::size_t>(data.labels[static_cast<std::size_t>(i)])]);
             const at::Tensor odds = at::exp(-of_class * (of_class + 1));
             const at::Tensor drawn = at::multinomial(odds, groups * per_group, /*replacement=*/false);
             const at::Tensor means = of_class.index_select(0, drawn).view({groups, per_group}).mean(1);
             const at::Tensor own = losses.narrow(0, i, 1);
             const at::Tensor estimate = at::cat({means, own}).median();
             weights[i] = at::minimum(estimate / own.squeeze(0), at::ones({}));
           }
         });
}

}  // namespace

void bench_estimator(Figures& figures) {
  at::set_num_threads(threads);

  struct Case {
    const char* name;
    int classes, per_group;
  };
  for (const Case& one : {Case{"c10_k200", 10, 200}, Case{"c10_k600", 10, 600}, Case{"c100_k20", 100, 20}}) {
    for (const double noise_rate : {0.0, 0.5}) {
      const Losses data = make_losses(50'000, one.classes, noise_rate);
      const std::string name = one.name + std::string(noise_rate > 0 ? "_noisy" : "");
      double ours = 0;
      report(figures, "pytorch_over_estimator." + name,
             time_ratio(
                 9, [&] { return warm([&] { return pytorch_time(data, one.per_group, 1000); }); },
                 [&] { return ours = warm([&] { return estimator_time(data, one.per_group); }); }));
      report(figures, "estimator_us_a_sample." + name, ours);
    }
  }

  for (const double noise_rate : {0.0, 0.5}) {
    const std::string suffix = noise_rate > 0 ? "_noisy" : "";
    const Losses small_classes = make_losses(50'000, 50, noise_rate);
    const Losses many_classes = make_losses(1'000'000, 1000, noise_rate);
    report(figures, "estimator_scaling.n1m_c1000_k20" + suffix,
           time_ratio(
               5, [&] { return estimator_time(many_classes, 20); }, [&] { return estimator_time(small_classes, 20); }));
    const Losses ten_classes = make_losses(50'000, 10, noise_rate);
    const Losses large_classes = make_losses(1'000'000, 10, noise_rate);
    report(
        figures, "estimator_scaling.n1m_c10_k200" + suffix,
        time_ratio(
            3, [&] { return estimator_time(large_classes, 200); }, [&] { return estimator_time(ten_classes, 200); }));
  }
}

}  // namespace regroup::bench
