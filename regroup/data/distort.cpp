#include "regroup/data/distort.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

namespace regroup {
namespace {

using Table = std::array<std::uint8_t, 256>;

std::uint8_t rounded(double value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

std::size_t channels_of(const Pixels& image) { return static_cast<std::size_t>(image.channels); }

template <class Function>
Table table_of(const Function& function) {
  Table table;
  for (int value = 0; value < 256; ++value) table[static_cast<std::size_t>(value)] = function(value);
  return table;
}

void map_values(const Pixels& image, const Table& table) {
  for (auto& value : image.values) value = table[value];
}

void map_channel(const Pixels& image, std::size_t channel, const Table& table) {
  for (std::size_t i = channel; i < image.values.size(); i += channels_of(image))
    image.values[i] = table[image.values[i]];
}

std::array<std::size_t, 256> histogram(const Pixels& image, std::size_t channel) {
  std::array<std::size_t, 256> counts{};
  for (std::size_t i = channel; i < image.values.size(); i += channels_of(image)) ++counts[image.values[i]];
  return counts;
}

/// Of an RGB pixel, in thousandths.
int brightness_of(const std::uint8_t* rgb) { return 299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]; }

double mean_brightness(const Pixels& image) {
  const auto count = static_cast<double>(image.values.size());
  std::uint64_t sum = 0;
  if (image.channels != 3) {
    for (const auto value : image.values) sum += value;
    return static_cast<double>(sum) / count;
  }
  for (std::size_t i = 0; i < image.values.size(); i += 3)
    sum += static_cast<std::uint64_t>(brightness_of(&image.values[i]));
  return static_cast<double>(sum) / (1000 * count / 3);
}

double between(Stream& stream, double low, double high) { return low + (high - low) * stream.uniform(); }

void jitter_colours(const Pixels& image, double jitter, Stream& stream) {
  // All four are drawn, whatever the image has, so that one choice does not change another.
  const double brightness = between(stream, 1 - jitter, 1 + jitter);
  const double contrast = between(stream, 1 - jitter, 1 + jitter);
  const double saturation = between(stream, 1 - jitter, 1 + jitter);
  const double hue = between(stream, -jitter / 4, jitter / 4);
  change_brightness(image, std::max(0.0, brightness));
  change_contrast(image, std::max(0.0, contrast));
  change_saturation(image, std::max(0.0, saturation));
  turn_hue(image, hue);
}

/// One operation of RandAugment, with the ranges that its paper has at full strength.
void take_operation(const Pixels& image, double strength, std::span<const std::uint8_t> fill, Stream& stream,
                    std::vector<std::uint8_t>& scratch) {
  const std::uint32_t operation = stream.below(14);
  const double sign = stream.below(2) == 0 ? 1 : -1;
  const double factor = 1 + sign * 0.9 * strength;
  const double shear = sign * 0.3 * strength;
  const double shift = sign * 0.45 * strength;
  switch (operation) {
    case 0:
      return;
    case 1:
      return stretch_contrast(image);
    case 2:
      return equalise(image);
    case 3: {
      const double angle = sign * strength * std::numbers::pi / 6;
      const double cosine = std::cos(angle), sine = std::sin(angle);
      return warp(image, {cosine, sine, 0, -sine, cosine, 0}, fill, scratch);
    }
    case 4:
      return warp(image, {.b = shear}, fill, scratch);
    case 5:
      return warp(image, {.d = shear}, fill, scratch);
    case 6:
      return warp(image, {.c = shift * image.width}, fill, scratch);
    case 7:
      return warp(image, {.f = shift * image.height}, fill, scratch);
    case 8:
      return change_brightness(image, factor);
    case 9:
      return change_contrast(image, factor);
    case 10:
      return change_saturation(image, factor);
    case 11:
      return change_sharpness(image, factor, scratch);
    case 12:
      return posterise(image, 8 - static_cast<int>(std::lround(4 * strength)));
    default:
      return solarise(image, 256 - static_cast<int>(std::lround(256 * strength)));
  }
}

}  // namespace

void change_brightness(const Pixels& image, double factor) {
  map_values(image, table_of([&](int value) { return rounded(value * factor); }));
}

void change_contrast(const Pixels& image, double factor) {
  const double mean = mean_brightness(image);
  map_values(image, table_of([&](int value) { return rounded(mean + (value - mean) * factor); }));
}

void change_saturation(const Pixels& image, double factor) {
  if (image.channels != 3) return;
  for (std::size_t i = 0; i < image.values.size(); i += 3) {
    const double grey = brightness_of(&image.values[i]) / 1000.0;
    for (std::size_t c = i; c < i + 3; ++c) image.values[c] = rounded(grey + (image.values[c] - grey) * factor);
  }
}

void change_sharpness(const Pixels& image, double factor, std::vector<std::uint8_t>& scratch) {
  if (image.height < 3 || image.width < 3) return;
  scratch.assign(image.values.begin(), image.values.end());
  const std::size_t pixel = channels_of(image), row = static_cast<std::size_t>(image.width) * pixel;
  // The border has no neighbours all around, and stays.
  for (std::size_t y = 1; y + 1 < static_cast<std::size_t>(image.height); ++y) {
    for (std::size_t i = y * row + pixel; i < (y + 1) * row - pixel; ++i) {
      int sum = 4 * scratch[i];  // the middle counts five times
      for (const std::size_t line : {i - row, i, i + row})
        sum += scratch[line - pixel] + scratch[line] + scratch[line + pixel];
      const double blurred = sum / 13.0;
      image.values[i] = rounded(blurred + (scratch[i] - blurred) * factor);
    }
  }
}

void turn_hue(const Pixels& image, double turns) {
  if (image.channels != 3 || turns == 0) return;
  // RGB to YIQ, a rotation of I and Q, and back: one matrix.
  const double angle = 2 * std::numbers::pi * turns, cosine = std::cos(angle), sine = std::sin(angle);
  constexpr double to_yiq[3][3] = {{0.299, 0.587, 0.114}, {0.596, -0.274, -0.322}, {0.211, -0.523, 0.312}};
  constexpr double to_rgb[3][3] = {{1, 0.956, 0.621}, {1, -0.272, -0.647}, {1, -1.106, 1.703}};
  float matrix[3][3];
  for (int c = 0; c < 3; ++c) {
    for (int k = 0; k < 3; ++k) {
      const double i = cosine * to_yiq[1][k] - sine * to_yiq[2][k], q = sine * to_yiq[1][k] + cosine * to_yiq[2][k];
      matrix[c][k] = static_cast<float>(to_rgb[c][0] * to_yiq[0][k] + to_rgb[c][1] * i + to_rgb[c][2] * q);
    }
  }
  for (std::size_t i = 0; i < image.values.size(); i += 3) {
    const float red = image.values[i], green = image.values[i + 1], blue = image.values[i + 2];
    for (std::size_t c = 0; c < 3; ++c)
      image.values[i + c] = rounded(double{matrix[c][0] * red + matrix[c][1] * green + matrix[c][2] * blue});
  }
}

void stretch_contrast(const Pixels& image) {
  for (std::size_t channel = 0; channel < channels_of(image); ++channel) {
    const auto counts = histogram(image, channel);
    const auto is_there = [](std::size_t count) { return count > 0; };
    const auto low = std::find_if(counts.begin(), counts.end(), is_there) - counts.begin();
    const auto high = 255 - (std::find_if(counts.rbegin(), counts.rend(), is_there) - counts.rbegin());
    if (low >= high) continue;
    const double scale = 255.0 / static_cast<double>(high - low);
    map_channel(image, channel, table_of([&](int value) { return rounded(static_cast<double>(value - low) * scale); }));
  }
}

void equalise(const Pixels& image) {
  for (std::size_t channel = 0; channel < channels_of(image); ++channel) {
    const auto counts = histogram(image, channel);
    std::size_t total = 0, last = 0;
    for (const std::size_t count : counts) {
      total += count;
      if (count > 0) last = count;
    }
    const std::size_t step = (total - last) / 255;
    if (step == 0) continue;
    std::size_t before = step / 2;  // so many pixels are darker
    map_channel(image, channel, table_of([&](int value) {
                  const auto mapped = static_cast<std::uint8_t>(std::min<std::size_t>(before / step, 255));
                  before += counts[static_cast<std::size_t>(value)];
                  return mapped;
                }));
  }
}

void posterise(const Pixels& image, int bits) {
  const int mask = 0xff00 >> bits & 0xff;
  map_values(image, table_of([&](int value) { return static_cast<std::uint8_t>(value & mask); }));
}

void solarise(const Pixels& image, int threshold) {
  map_values(image,
             table_of([&](int value) { return static_cast<std::uint8_t>(value < threshold ? value : 255 - value); }));
}

void warp(const Pixels& image, const Affine& affine, std::span<const std::uint8_t> fill,
          std::vector<std::uint8_t>& scratch) {
  const int height = image.height, width = image.width;
  const std::size_t channels = channels_of(image);
  // A border of fill, so that the four neighbours of every point that counts are there.
  const auto row = static_cast<std::size_t>(width + 2) * channels;
  scratch.resize(static_cast<std::size_t>(height + 2) * row);
  for (std::size_t i = 0; i < scratch.size(); ++i) scratch[i] = fill[i % channels];
  for (int y = 0; y < height; ++y)
    std::memcpy(&scratch[static_cast<std::size_t>(y + 1) * row + channels],
                &image.values[static_cast<std::size_t>(y * width) * channels],
                static_cast<std::size_t>(width) * channels);
  const double middle_x = (width - 1) / 2.0, middle_y = (height - 1) / 2.0;
  std::uint8_t* out = image.values.data();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x, out += channels) {
      const double dx = x - middle_x, dy = y - middle_y;
      const double from_x = affine.a * dx + affine.b * dy + affine.c + middle_x + 1;
      const double from_y = affine.d * dx + affine.e * dy + affine.f + middle_y + 1;
      if (!(from_x >= 0 && from_y >= 0 && from_x < width + 1 && from_y < height + 1)) {
        std::memcpy(out, fill.data(), channels);
        continue;
      }
      const auto left = static_cast<std::size_t>(from_x), top = static_cast<std::size_t>(from_y);
      const auto right_share = static_cast<float>(from_x - static_cast<double>(left));
      const auto low_share = static_cast<float>(from_y - static_cast<double>(top));
      const std::uint8_t* upper = &scratch[top * row + left * channels];
      const std::uint8_t* lower = upper + row;
      for (std::size_t c = 0; c < channels; ++c) {
        const auto mixed = [&](const std::uint8_t* line) {
          return static_cast<float>(line[c]) + right_share * static_cast<float>(int{line[c + channels]} - int{line[c]});
        };
        const float above = mixed(upper);
        out[c] = rounded(double{above + low_share * (mixed(lower) - above)});
      }
    }
  }
}

void blot_out(const Pixels& image, int x, int y, int side, std::span<const std::uint8_t> fill) {
  const std::size_t channels = channels_of(image);
  const int left = std::max(0, x - side / 2), right = std::min(image.width, x - side / 2 + side);
  const int top = std::max(0, y - side / 2), bottom = std::min(image.height, y - side / 2 + side);
  for (int row = top; row < bottom; ++row)
    for (int column = left; column < right; ++column)
      std::memcpy(&image.values[static_cast<std::size_t>(row * image.width + column) * channels], fill.data(),
                  channels);
}

void distort(const Pixels& image, const Distortion& distortion, std::span<const std::uint8_t> fill, Stream& stream,
             std::vector<std::uint8_t>& scratch) {
  if (distortion.jitter > 0) jitter_colours(image, distortion.jitter, stream);
  for (int i = 0; i < distortion.operations; ++i) take_operation(image, distortion.strength, fill, stream, scratch);
  if (distortion.cutout > 0) {
    const auto x = static_cast<int>(stream.below(static_cast<std::uint32_t>(image.width)));
    const auto y = static_cast<int>(stream.below(static_cast<std::uint32_t>(image.height)));
    blot_out(image, x, y, static_cast<int>(std::lround(distortion.cutout * std::min(image.height, image.width))), fill);
  }
}

}  // namespace regroup
