#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/data/sample_source.h"

namespace regroup {

/// Mean and deviation of each channel, of pixel values in 0 .. 1.
struct Normalisation {
  std::vector<float> mean;
  std::vector<float> deviation;
};

/// Measured over all pixels of a set. A channel without any variation gets the deviation 1.
Normalisation measure_normalisation(const SampleSource& images, int threads);

enum class Padding {
  zero,     ///< black, before normalisation
  reflect,  ///< mirrored at the edge, which is not repeated
};
enum class Flip {
  none,
  random,     ///< each time with probability 1/2
  alternate,  ///< a random half of the images in even epochs, the other half in odd ones
};

/// The paper's augmentation: pad by `shift`, crop at random to the old size, mirror.
struct Augmentation {
  int shift = 4;
  Padding padding = Padding::zero;
  Flip flip = Flip::random;
};

/// No change but normalisation.
inline constexpr Augmentation no_augmentation{0, Padding::zero, Flip::none};

/// What a batch is written in. bf16 is the upper half of a float, rounded to nearest even.
enum class PixelType { float32, bfloat16 };
inline std::size_t bytes_of(PixelType type) { return type == PixelType::float32 ? 4 : 2; }

/// Reads, shifts, mirrors, normalises and converts images in one pass over their bytes.
class Augmenter {
 public:
  /// `images` must outlive the augmenter.
  Augmenter(const SampleSource& images, const Normalisation& normalisation, PixelType type, std::uint64_t seed);

  const SampleSource& images() const { return *images_; }

  /// Throws UserError unless the shift is less than the images' height and width: something of an image stays.
  void check(const Augmentation& augmentation) const;

  /// Writes views of image `sample` in `epoch`, which is read once: view v, changed as views[v] has it, to out[v], row
  /// by row, the channels of a pixel side by side (channels last), in the pixel type. A view is a function of seed,
  /// epoch, sample, v and views[v] alone. `scratch` is for the source.
  void write(std::uint32_t sample, std::uint32_t epoch, std::span<const Augmentation> views,
             std::span<std::byte* const> out, std::vector<std::uint8_t>& scratch) const;

  /// The bytes that a view takes.
  std::size_t output_bytes() const { return shape_.bytes() * bytes_of(type_); }

 private:
  struct Change;
  Change change_of(const Augmentation& augmentation, std::uint32_t sample, std::uint32_t epoch, std::size_t view) const;
  void write_view(const std::uint8_t* image, const Change& change, Padding padding, std::byte* out) const;
  void copy_row(const std::uint8_t* row, const Change& change, Padding padding, std::uint8_t* out) const;
  void copy_pixels(const std::uint8_t* from, int pixels, bool mirrored, std::uint8_t* out) const;

  const SampleSource* images_;
  SampleShape shape_;
  PixelType type_;
  std::uint64_t seed_;
  // normalised = byte * scale + offset; the channels in turn, over and over.
  std::array<float, 24> scale_{};
  std::array<float, 24> offset_{};
};

}  // namespace regroup
