#include "regroup/data/resize.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace regroup {
namespace {

/// The old pixels that one new pixel is made of, and their weights, which sum to 1.
struct Taps {
  std::size_t first;
  std::vector<float> weights;
};

/// The taps of `to` new pixels in a row, `step` old pixels apart, in the middle of `from` old pixels.
std::vector<Taps> find_taps(int from, int to, double step) {
  const double start = (from - to * step) / 2;
  const double reach = std::max(step, 1.0);
  std::vector<Taps> taps(static_cast<std::size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double centre = start + (i + 0.5) * step;
    const int first = std::clamp(static_cast<int>(std::floor(centre - reach)), 0, from - 1);
    const int last = std::clamp(static_cast<int>(std::ceil(centre + reach)), first + 1, from);
    const auto weight = [&](int x) { return std::max(0.0, 1 - std::abs(x + 0.5 - centre) / reach); };
    double sum = 0;
    for (int x = first; x < last; ++x) sum += weight(x);
    Taps& tap = taps[static_cast<std::size_t>(i)];
    tap.first = static_cast<std::size_t>(first);
    for (int x = first; x < last; ++x) tap.weights.push_back(static_cast<float>(weight(x) / sum));
  }
  return taps;
}

std::uint8_t rounded(float value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F)); }

}  // namespace

void resize_to_cover(const Image& image, ImageSize size, std::span<std::uint8_t> out) {
  if (image.size.pixels() == 0 || size.pixels() == 0 || image.pixels.size() != 3 * image.size.pixels() ||
      out.size() != 3 * size.pixels())
    throw std::invalid_argument("resize_to_cover: an image is empty or has another size than it says");
  if (image.size == size) {
    std::copy(image.pixels.begin(), image.pixels.end(), out.begin());
    return;
  }
  const double step = std::min(static_cast<double>(image.size.height) / size.height,
                               static_cast<double>(image.size.width) / size.width);
  const auto rows = find_taps(image.size.height, size.height, step);
  const auto columns = find_taps(image.size.width, size.width, step);

  // Only what the columns use is summed up over the rows: [begin, end) of the values of a row.
  const auto row_values = static_cast<std::size_t>(image.size.width) * 3;
  const std::size_t begin = columns.front().first * 3;
  const std::size_t end = (columns.back().first + columns.back().weights.size()) * 3;
  std::vector<float> sums(row_values);
  auto* pixel = out.data();
  for (const Taps& row : rows) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const std::uint8_t* values = image.pixels.data() + row.first * row_values;
    for (const float weight : row.weights) {
      for (std::size_t i = begin; i < end; ++i) sums[i] += weight * static_cast<float>(values[i]);
      values += row_values;
    }
    for (const Taps& column : columns) {
      float rgb[3] = {};
      const float* sum = &sums[column.first * 3];
      for (const float weight : column.weights) {
        for (int c = 0; c < 3; ++c) rgb[c] += weight * sum[c];
        sum += 3;
      }
      for (const float value : rgb) *pixel++ = rounded(value);
    }
  }
}

}  // namespace regroup
