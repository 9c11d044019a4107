// Which labels does Regroup Median Loss trust? Half of Fashion-MNIST's labels are made wrong; the plainest classifier
// there is, the distance to the mean image of each class as the labels have it, gives every image a loss; and RML turns
// losses into weights.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <exception>

#include "regroup/core/parallel.h"
#include "regroup/data/dataset.h"
#include "regroup/noise/noise.h"
#include "regroup/rml/regroup_median.h"

namespace {

using namespace regroup;

/// The cross-entropy of each label under softmax(-distance to the class means / temperature).
std::vector<float> losses_by_class_means(const ImageSet& images, const std::vector<std::int32_t>& labels, int classes) {
  const auto size = static_cast<std::size_t>(images.channels) * static_cast<std::size_t>(images.height) *
                    static_cast<std::size_t>(images.width);
  const auto class_count = static_cast<std::size_t>(classes);
  std::vector<double> means(class_count * size), counts(class_count);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto y = static_cast<std::size_t>(labels[i]);
    ++counts[y];
    for (std::size_t p = 0; p < size; ++p) means[y * size + p] += images.pixels[i * size + p];
  }
  for (std::size_t j = 0; j < means.size(); ++j) means[j] /= counts[j / size];

  std::vector<float> losses(labels.size());
  parallel_for(labels.size(), 512, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    std::vector<double> scores(class_count);
    for (std::size_t i = begin; i < end; ++i) {
      double largest = -1e300;
      for (std::size_t y = 0; y < class_count; ++y) {
        double square = 0;
        for (std::size_t p = 0; p < size; ++p) {
          const double difference = images.pixels[i * size + p] - means[y * size + p];
          square += difference * difference;
        }
        scores[y] = -square / (static_cast<double>(size) * 150);
        largest = std::max(largest, scores[y]);
      }
      double sum = 0;
      for (const double score : scores) sum += std::exp(score - largest);
      losses[i] = static_cast<float>(largest + std::log(sum) - scores[static_cast<std::size_t>(labels[i])]);
    }
  });
  return losses;
}

void run() {
  const Dataset data = load_dataset("fashion-mnist", {});
  const ImageSet& images = data.train;
  const NoisyLabels noisy =
      make_noisy(parse_noise("symmetric:0.5"), images.labels, data.classes(), {}, 1, hardware_threads());
  const auto losses = losses_by_class_means(images, noisy.labels, data.classes());

  std::vector<float> weights(losses.size());
  const RegroupMedian rml(ClassIndex(noisy.labels, data.classes()), {}, hardware_threads());
  const RegroupReport report = rml.weights(losses, 1, weights);

  struct Row {
    double count = 0, loss = 0, weight = 0;
  } rows[2];
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Row& row = rows[noisy.labels[i] != images.labels[i]];
    ++row.count;
    row.loss += static_cast<double>(losses[i]);
    row.weight += static_cast<double>(weights[i]);
  }
  fmt::print("Fashion-MNIST, {} images, {:.1f} % of the labels made wrong (RML is not told which, nor how many)\n\n",
             images.count, 100 * noisy.realised_rate);
  fmt::print("              images   mean loss   mean weight in training\n");
  for (int wrong = 0; wrong < 2; ++wrong)
    fmt::print("{:<12}{:>8}   {:>9.2f}   {:>11.2f}\n", wrong != 0 ? "wrong label" : "right label", rows[wrong].count,
               rows[wrong].loss / rows[wrong].count, rows[wrong].weight / rows[wrong].count);
  fmt::print("\nThe noise rate that the losses show: {:.2f}\n", report.noise_rate->rate);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "weigh_labels: {}\n", error.what());
    return 1;
  }
}
