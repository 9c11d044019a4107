#include "regroup/data/mnist.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/data/idx.h"

namespace regroup {
namespace {

std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& name, const DatasetInfo& info) {
  for (const auto& candidate : {folder / name, folder / (name + ".gz")}) {
    std::error_code unreadable_is_missing;
    if (std::filesystem::exists(candidate, unreadable_is_missing)) return candidate;
  }
  throw UserError(fmt::format("{}: no {} and no {}.gz in {}; {}", info.name, name, name, folder.string(), info.advice));
}

LabelledSet load_images(const std::filesystem::path& folder, const std::string& prefix, int classes,
                        const DatasetInfo& info) {
  const auto image_file = find_file(folder, prefix + "-images-idx3-ubyte", info);
  const auto label_file = find_file(folder, prefix + "-labels-idx1-ubyte", info);
  const auto labels = read_idx(label_file, 1);
  auto images = read_idx(image_file, 3);
  if (labels.shape[0] != images.shape[0]) {
    throw UserError(fmt::format("{}: {} labels for the {} images of {}; both files must be of one dataset",
                                label_file.string(), labels.shape[0], images.shape[0], image_file.string()));
  }
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    if (labels.values[i] >= classes) {
      throw UserError(fmt::format("{}: label {} of image {} is outside 0 .. {}", label_file.string(), labels.values[i],
                                  i, classes - 1));
    }
  }
  LabelledSet set;
  set.source =
      std::make_shared<ImagesInMemory>(SampleShape{1, images.shape[1], images.shape[2]}, std::move(images.values));
  set.labels.assign(labels.values.begin(), labels.values.end());
  return set;
}

Dataset load(const std::filesystem::path& folder, const DatasetInfo& info, std::vector<std::string> class_names) {
  Dataset dataset;
  dataset.name = info.name;
  dataset.class_names = std::move(class_names);
  dataset.train = load_images(folder, "train", dataset.classes(), info);
  dataset.test() = load_images(folder, "t10k", dataset.classes(), info);
  const SampleShape train = dataset.train.source->shape(), test = dataset.test().source->shape();
  if (train != test) {
    throw UserError(fmt::format("{}: the training images are {}x{}, the test images {}x{}; they must be of one dataset",
                                folder.string(), train.width, train.height, test.width, test.height));
  }
  return dataset;
}

}  // namespace

Dataset load_mnist(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions&) {
  Dataset dataset = load(folder, info, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
  dataset.mirrored_is_same = false;
  return dataset;
}

Dataset load_fashion_mnist(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions&) {
  return load(
      folder, info,
      {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"});
}

}  // namespace regroup
