#pragma once

#include <filesystem>

#include "regroup/data/dataset.h"

namespace regroup {

/// MNIST and datasets in its form: four IDX files, each plain or with .gz,
/// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte.
Dataset load_mnist(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);
Dataset load_fashion_mnist(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

}  // namespace regroup
