// Regroup Median Loss in a training loop of your own: here softmax regression on the pixels, in plain libtorch.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>

#include "regroup/data/dataset.h"
#include "regroup/noise/noise.h"
#include "regroup/rml/loss_book.h"
#include "regroup/rml/regroup_median.h"

namespace {

at::Tensor matrix_of(const regroup::SampleSource& images) {
  const std::size_t count = images.size(), values = images.shape().values();
  const at::Tensor matrix = at::empty({static_cast<std::int64_t>(count), static_cast<std::int64_t>(values)}, at::kByte);
  regroup::SampleScratch scratch;
  for (std::uint32_t i = 0; i < count; ++i)
    std::ranges::copy(images.read(i, scratch), matrix.data_ptr<std::uint8_t>() + i * values);
  return matrix.to(at::kFloat) / 255 - 0.3;
}

at::Tensor labels_of(const std::vector<std::int32_t>& labels) { return at::tensor(labels).to(at::kLong); }

void run(int epochs) {
  const regroup::Dataset data = regroup::load_dataset("fashion-mnist");
  const auto noisy = regroup::make_noisy(regroup::parse_noise("symmetric:0.5"), data.train.labels, 10, {}, 1, 2).labels;
  const at::Tensor images = matrix_of(*data.train.source), labels = labels_of(noisy);
  at::Tensor weight = at::zeros({images.size(1), 10}).requires_grad_();

  regroup::LossBook book(noisy.size());
  regroup::RegroupMedian rml(regroup::ClassIndex(noisy, 10), {}, /*threads=*/2);
  std::vector<float> weights(noisy.size(), 1);
  std::vector<std::uint32_t> batch(600);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    if (epoch > 0) rml.weights(book.losses(), static_cast<std::uint32_t>(epoch), weights);
    for (std::int64_t start = 0; start < images.size(0); start += 600) {
      std::iota(batch.begin(), batch.end(), static_cast<std::uint32_t>(start));
      const at::Tensor logits = images.narrow(0, start, 600).mm(weight);
      const at::Tensor losses = at::cross_entropy_loss(logits, labels.narrow(0, start, 600), {}, at::Reduction::None);
      book.record(batch, {losses.data_ptr<float>(), batch.size()});
      (losses * at::from_blob(&weights[batch[0]], {600})).mean().backward();
      const at::NoGradGuard no_grad;
      weight.sub_(weight.grad(), 0.1);
      weight.mutable_grad().reset();
    }
  }
  const at::Tensor right = matrix_of(*data.test().source).mm(weight).argmax(1) == labels_of(data.test().labels);
  fmt::print("test accuracy {:.1f} %\n", 100 * right.to(at::kFloat).mean().item<double>());
}

}  // namespace

int main(int argc, char** argv) try { run(argc > 1 ? std::atoi(argv[1]) : 5); } catch (const std::exception& error) {
  fmt::print(stderr, "own_loop: {}\n", error.what());
  return 1;
}
