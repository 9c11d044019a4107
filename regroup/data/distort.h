#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regroup/core/random.h"

namespace regroup {

/// How the pixels of a view are changed beyond cutting out and mirroring.
struct Distortion {
  double jitter = 0;  ///< colour jitter: brightness, contrast and saturation change by at most this share, the hue by a
                      ///< quarter of it in turns
  int operations = 0;     ///< of RandAugment (Cubuk et al. 2020), one after the other
  double strength = 0.3;  ///< of these, 0 .. 1
  double cutout =
      0;  ///< the side of the square that is blotted out (DeVries and Taylor 2017), as a share of the image's

  bool any() const { return jitter > 0 || operations > 0 || cutout > 0; }
};

/// An image of 1 or 3 channels, side by side for each pixel, that is changed in place.
struct Pixels {
  std::span<std::uint8_t> values;
  int channels, height, width;
};

/// Draws what is random from `stream`. `fill` is the colour of what is blotted out or comes in from outside; `scratch`
/// is kept by the caller from image to image.
void distort(const Pixels& image, const Distortion& distortion, std::span<const std::uint8_t> fill, Stream& stream,
             std::vector<std::uint8_t>& scratch);

// The single changes. A factor of 1 leaves an image as it is.

void change_brightness(const Pixels& image, double factor);
void change_contrast(const Pixels& image, double factor);    ///< away from the mean brightness
void change_saturation(const Pixels& image, double factor);  ///< away from grey
void change_sharpness(const Pixels& image, double factor, std::vector<std::uint8_t>& scratch);  ///< away from a blur

/// Turns the hue by so many turns: the two colour axes of YIQ are rotated.
void turn_hue(const Pixels& image, double turns);

/// Stretches each channel to 0 .. 255.
void stretch_contrast(const Pixels& image);

/// Gives each channel as even a histogram as a mapping of its values can.
void equalise(const Pixels& image);

void posterise(const Pixels& image, int bits);      ///< keeps the upper bits of each value
void solarise(const Pixels& image, int threshold);  ///< inverts values from the threshold on

/// The pixel at offset (x, y) from the middle comes from (a x + b y + c, d x + e y + f), between four pixels by
/// bilinear interpolation; what comes from outside is `fill`.
struct Affine {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
};
void warp(const Pixels& image, const Affine& affine, std::span<const std::uint8_t> fill,
          std::vector<std::uint8_t>& scratch);

/// Fills a square around (x, y), as far as it lies in the image.
void blot_out(const Pixels& image, int x, int y, int side, std::span<const std::uint8_t> fill);

}  // namespace regroup
