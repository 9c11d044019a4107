#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "regroup/data/augment.h"
#include "regroup/data/sample_source.h"
#include "regroup/io/mapped_rows.h"

namespace regroup {

/// Vectors that somebody else has computed, one per sample: the rows of an NPY file, which stay on disk.
class VectorFile final : public SampleSource {
 public:
  /// At most about `most_memory` bytes of the file are in memory at a time. A number that is not finite is a UserError
  /// that names its row: all rows are looked at once. `progress` is told how many were.
  VectorFile(const std::filesystem::path& file, double most_memory, int threads,
             const std::function<void(std::size_t done, std::size_t total)>& progress);

  SampleShape shape() const override { return SampleShape::vector(static_cast<int>(rows_.header().columns)); }
  std::size_t size() const override { return rows_.header().rows; }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override;
  void expect(std::uint32_t index) const override;
  std::size_t window() const override { return window_; }

  /// Of the size, and of a few thousand rows that are spread over the file.
  std::uint64_t digest(std::uint64_t before = hash_start) const override;

 private:
  MappedRows rows_;
  std::size_t window_ = 0;
  std::size_t most_bytes_ = 0;  ///< that are looked at before memory is given back; 0: any number
  mutable std::atomic<std::size_t> looked_at_ = 0;
};

/// Vectors in memory.
class VectorsInMemory final : public SampleSource {
 public:
  VectorsInMemory(int numbers, std::vector<float> values);

  SampleShape shape() const override { return SampleShape::vector(numbers_); }
  std::size_t size() const override { return values_.size() / static_cast<std::size_t>(numbers_); }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override;
  void expect(std::uint32_t index) const override;
  std::uint64_t digest(std::uint64_t before = hash_start) const override;

 private:
  int numbers_;
  std::vector<float> values_;
};

/// The numbers of a vector, times `scale` plus `offset`, one of each per number.
void standardise(const SampleView& vector, std::span<const float> scale, std::span<const float> offset,
                 std::span<float> out);

/// The same, rounded to bf16, nearest and ties to even.
void standardise_rounded(const SampleView& vector, std::span<const float> scale, std::span<const float> offset,
                         std::span<std::uint16_t> out);

/// The numbers of a vector as they are.
void read_numbers(const SampleView& vector, std::span<float> out);

/// Mean and deviation of each number, over all samples. One that never varies gets the deviation 1.
Normalisation measure_vectors(const SampleSource& vectors, int threads);

}  // namespace regroup
