#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "regroup/data/dataset.h"
#include "regroup/io/byte_source.h"

namespace regroup {

/// CIFAR-10's binary version: data_batch_1.bin .. data_batch_5.bin, test_batch.bin, and batches.meta.txt for the names
/// of the classes, in the folder or in its cifar-10-batches-bin. Without names the classes are called 0, 1, ...
Dataset load_cifar10(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

/// CIFAR-100's binary version: train.bin, test.bin, and fine_label_names.txt, in the folder or in its cifar-100-binary.
/// The labels are the fine ones.
Dataset load_cifar100(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

/// The same images with their coarse labels: 20 superclasses of five classes each, by coarse_label_names.txt. The files
/// may also be in the folder's cifar100.
Dataset load_cifar100_coarse(const std::filesystem::path& folder, const DatasetInfo& info, const LoadOptions& options);

struct CifarImages {
  std::vector<std::uint8_t> pixels;  ///< as a SampleSource gives them
  std::vector<std::int32_t> labels;
};
inline constexpr SampleShape cifar_shape{3, 32, 32};

/// The labels of a record, a byte each, and which of them counts.
struct CifarLabels {
  std::size_t count;
  std::size_t used;
};

/// Appends the images of one such file: records of labels and 32x32 values of red, of green and of blue. `name` is for
/// the messages.
void append_cifar(ByteSource& source, const std::string& name, CifarLabels labels, int classes, CifarImages& images);

}  // namespace regroup
