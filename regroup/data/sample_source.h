#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/core/hash.h"
#include "regroup/data/photo.h"
#include "regroup/io/mapped_rows.h"

namespace regroup {

/// What networks get of each sample of a source: images of one size, or vectors, whose numbers count as channels of a
/// single pixel.
struct SampleShape {
  int channels = 0, height = 0, width = 0;
  bool is_vector = false;

  static SampleShape vector(int numbers) { return {numbers, 1, 1, true}; }

  std::size_t values() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }
  bool operator==(const SampleShape&) const = default;
};

/// The bytes of a sample. Of an image: a byte per value, row by row, the channels of a pixel side by side. It has at
/// least the height and width of the shape of its source, from which networks get a part where it has more. Of a
/// vector: its numbers, as `type` says.
struct SampleView : std::span<const std::uint8_t> {
  int height = 0, width = 0;
  NumberType type = NumberType::float32;
};

/// Memory that whoever reads samples keeps from one to the next.
struct SampleScratch {
  PhotoScratch photo;
  Image image;
  std::vector<std::uint8_t> grey;
};

/// A sample that cannot be read, where such samples are to be left out. The source has told it already.
class UnreadableSample : public UserError {
  using UserError::UserError;
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

  /// A view of where the sample lies in memory, or of `scratch` where it has to be decoded: valid as long as both are
  /// and `scratch` is left alone. Throws UnreadableSample.
  virtual SampleView read(std::uint32_t index, SampleScratch& scratch) const = 0;

  /// Says that this sample will be read next, so that the processor may fetch it meanwhile.
  virtual void expect(std::uint32_t /*index*/) const {}

  /// Whether samples are decoded each time that they are read.
  virtual bool decodes() const { return false; }

  /// So many samples are in memory at a time, where not all are: whoever reads them in an order of their own reads them
  /// sooner if it stays among so many for a while. 0: any order will do.
  virtual std::size_t window() const { return 0; }

  /// A hash of what tells these samples from others, to notice that they have changed: `before`, continued (see
  /// core/hash.h). It takes as long as a look at all samples where they are in memory; it reads no files.
  virtual std::uint64_t digest(std::uint64_t before = hash_start) const = 0;
};

/// The middle of a sample, as large as the shape of its source: copied to `out`, which has room for that.
void copy_middle(const SampleView& sample, SampleShape shape, std::span<std::uint8_t> out);

/// Images that have just the size of their shape.
class ImagesInMemory final : public SampleSource {
 public:
  /// `pixels` has image after image, as `read` gives them.
  ImagesInMemory(SampleShape shape, std::vector<std::uint8_t> pixels);

  SampleShape shape() const override { return shape_; }
  std::size_t size() const override { return pixels_.size() / shape_.values(); }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override;
  std::uint64_t digest(std::uint64_t before = hash_start) const override { return hash_of(pixels_, before); }

 private:
  SampleShape shape_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace regroup
