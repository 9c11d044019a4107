#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "regroup/data/distort.h"
#include "regroup/data/resample.h"
#include "regroup/data/sample_source.h"

namespace regroup {

/// Mean and deviation of each channel, of pixel values in 0 .. 1.
struct Normalisation {
  std::vector<float> mean;
  std::vector<float> deviation;
};

/// Measured over the middle of each image, or of a few thousand spread over the source where they have to be decoded;
/// of vectors, over all of them. A channel without any variation gets the deviation 1.
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

enum class Crop {
  shift,    ///< the middle, shifted by at most `shift` pixels; what lies outside of the image is padded
  random,   ///< anywhere in the image
  resized,  ///< a part of random size and shape (Szegedy et al. 2015), scaled; of colour images
};

/// How a view is cut out of an image and changed. The default is the paper's: pad by `shift`, crop at random to the old
/// size, mirror.
struct Augmentation {
  int shift = 4;
  Padding padding = Padding::zero;
  Flip flip = Flip::random;
  Crop crop = Crop::shift;
  double smallest_part = 0.08;  ///< of the image's area, where the crop is resized
  Distortion distortion = {};
};

/// No change but normalisation: the middle of the image.
inline constexpr Augmentation no_augmentation{0, Padding::zero, Flip::none};

/// What a batch is written in. bf16 is the upper half of a float, rounded to nearest even.
enum class PixelType { float32, bfloat16 };
inline std::size_t bytes_of(PixelType type) { return type == PixelType::float32 ? 4 : 2; }

/// Reads, cuts out, mirrors, normalises and converts images, in one pass over their bytes where nothing else is asked
/// for. Vectors are normalised alone: all their views are the same.
class Augmenter {
 public:
  /// Memory that a thread keeps from image to image.
  struct Scratch {
    SampleScratch sample;
    ResampleScratch resample;
    std::vector<std::uint8_t> view, more;
  };

  /// `images` must outlive the augmenter.
  Augmenter(const SampleSource& images, const Normalisation& normalisation, PixelType type, std::uint64_t seed);

  const SampleSource& images() const { return *images_; }
  PixelType type() const { return type_; }

  /// Throws UserError unless the augmentation suits the images.
  void check(const Augmentation& augmentation) const;

  /// Writes views of image `sample` in `epoch`, which is read once: view v, changed as views[v] has it, to out[v], row
  /// by row, the channels of a pixel side by side (channels last), in the pixel type. A view is a function of seed,
  /// epoch, sample, v and views[v] alone. False: the sample is to be left out, and nothing is written.
  bool write(std::uint32_t sample, std::uint32_t epoch, std::span<const Augmentation> views,
             std::span<std::byte* const> out, Scratch& scratch) const;

  /// The bytes that a view takes.
  std::size_t output_bytes() const { return shape_.values() * bytes_of(type_); }

 private:
  void prepare_vectors(const Normalisation& normalisation);
  struct Cut;
  Cut cut_of(const Augmentation& augmentation, const SampleView& image, std::uint32_t sample, std::uint32_t epoch,
             std::size_t view, Stream& more) const;
  void write_view(const SampleView& image, const Augmentation& augmentation, const Cut& cut, Stream& more,
                  std::byte* out, Scratch& scratch) const;
  void scale_part(const SampleView& image, const Cut& cut, Scratch& scratch) const;
  void copy_row(const SampleView& image, int y, const Cut& cut, Padding padding, std::uint8_t* out) const;
  void copy_pixels(const std::uint8_t* from, int pixels, bool mirrored, std::uint8_t* out) const;

  const SampleSource* images_;
  SampleShape shape_;
  PixelType type_;
  std::uint64_t seed_;
  // normalised = byte * scale + offset; the channels in turn, over and over.
  std::array<float, 24> scale_{};
  std::array<float, 24> offset_{};
  std::array<std::uint8_t, 4> mean_colour_{};
  std::vector<float> number_scale_, number_offset_;  ///< of vectors
};

}  // namespace regroup
