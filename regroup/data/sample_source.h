#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/hash.h"

namespace regroup {

/// What all samples of a source are: images of one size.
struct SampleShape {
  int channels = 0, height = 0, width = 0;

  std::size_t bytes() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }
  bool operator==(const SampleShape&) const = default;
};

/// Where samples come from, without their labels. They may be more than fit into memory. May be used by several threads
/// at once.
class SampleSource {
 public:
  SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  virtual ~SampleSource() = default;

  virtual SampleShape shape() const = 0;
  virtual std::size_t size() const = 0;

  /// shape().bytes() values, row by row, the channels of a pixel side by side: a view of where they lie in memory, or
  /// of `scratch`, which the caller keeps from call to call, where they have to be decoded. It is valid as long as both
  /// are and `scratch` is left alone.
  virtual std::span<const std::uint8_t> read(std::uint32_t index, std::vector<std::uint8_t>& scratch) const = 0;

  /// A hash of what tells these samples from others, to notice that they have changed: `before`, continued (see
  /// core/hash.h). It takes as long as a look at all samples where they are in memory; it reads no files.
  virtual std::uint64_t digest(std::uint64_t before = hash_start) const = 0;
};

class ImagesInMemory final : public SampleSource {
 public:
  /// `pixels` has image after image, as `read` gives them.
  ImagesInMemory(SampleShape shape, std::vector<std::uint8_t> pixels);

  SampleShape shape() const override { return shape_; }
  std::size_t size() const override { return pixels_.size() / shape_.bytes(); }
  std::span<const std::uint8_t> read(std::uint32_t index, std::vector<std::uint8_t>& scratch) const override;
  std::uint64_t digest(std::uint64_t before = hash_start) const override { return hash_of(pixels_, before); }

 private:
  SampleShape shape_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace regroup
