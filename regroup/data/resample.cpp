#include "regroup/data/resample.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "regroup/core/simd.h"
#include "regroup/data/resample_kernels.h"

namespace regroup {
namespace {

/// The taps of `to` new pixels in a row, which lie evenly on `length` old pixels from `start` on, of `from` old ones.
void find_taps(double start, double length, int from, int to, ResampleTaps& result) {
  const double step = length / to;
  const double reach = std::max(step, 1.0);
  const auto taps =
      std::min<std::size_t>(static_cast<std::size_t>(std::ceil(2 * reach)), static_cast<std::size_t>(from));
  result.taps = taps + taps % 2;
  result.first.resize(static_cast<std::size_t>(to));
  result.weights.assign(static_cast<std::size_t>(to) * result.taps, 0);
  std::int16_t* weights = result.weights.data();
  for (int i = 0; i < to; ++i, weights += result.taps) {
    const double centre = start + (i + 0.5) * step;
    // The pixels whose middle is nearer than `reach`, and at least one.
    const int first = std::clamp(static_cast<int>(std::floor(centre - reach + 0.5)), 0, from - 1);
    const int limit = std::min(from, first + static_cast<int>(taps));
    const int last = std::clamp(static_cast<int>(std::ceil(centre + reach - 0.5)), first + 1, limit);
    const auto weight = [&](int x) { return std::max(0.0, 1 - std::abs(x + 0.5 - centre) / reach); };
    double sum = 0;
    for (int x = first; x < last; ++x) sum += weight(x);
    // The running sum is rounded, not the weights: so they sum to exactly 1.
    const double scale = (1 << weight_bits) / sum;
    double running = 0.5;
    int before = 0;
    for (int x = first; x < last; ++x) {
      running += weight(x) * scale;
      const int rounded = x + 1 == last ? 1 << weight_bits : static_cast<int>(running);
      weights[x - first] = static_cast<std::int16_t>(rounded - before);
      before = rounded;
    }
    result.first[static_cast<std::size_t>(i)] = first;
  }
}

}  // namespace

void resample(const ImageView& image, const Rectangle& from, ImageSize size, std::span<std::uint8_t> out,
              ResampleScratch& scratch) {
  constexpr double slack = 1e-6;  // what sums of coordinates may be off
  const bool inside = from.top >= -slack && from.left >= -slack && from.height > 0 && from.width > 0 &&
                      from.top + from.height <= image.size.height + slack &&
                      from.left + from.width <= image.size.width + slack;
  if (!inside || image.size.pixels() == 0 || size.pixels() == 0 || out.size() != 3 * size.pixels())
    throw std::invalid_argument("resample: the rectangle is not in the image, or there is no room for it");
  auto& [rows, columns, row_pointers, sums] = scratch;
  find_taps(from.top, from.height, image.size.height, size.height, rows);
  find_taps(from.left, from.width, image.size.width, size.width, columns);

  // Only what the columns use is summed up over the rows.
  const auto begin = static_cast<std::size_t>(columns.first.front());
  const auto end = std::min(static_cast<std::size_t>(image.size.width),
                            static_cast<std::size_t>(columns.first.back()) + columns.taps);
  for (auto& first : columns.first) first -= static_cast<std::int32_t>(begin);
  sums.resize(3 * (end - begin + columns.taps) + sums_read_over);
  row_pointers.resize(rows.taps);

  const auto sum_rows = REGROUP_BEST_KERNEL(sum_rows);
  const auto sum_columns = REGROUP_BEST_KERNEL(sum_columns);
  for (std::size_t y = 0; y < rows.first.size(); ++y) {
    for (std::size_t tap = 0; tap < rows.taps; ++tap) {
      const auto row =
          std::min(static_cast<std::size_t>(rows.first[y]) + tap, static_cast<std::size_t>(image.size.height) - 1);
      row_pointers[tap] = image.pixels + row * image.stride + 3 * begin;
    }
    sum_rows(row_pointers.data(), &rows.weights[y * rows.taps], rows.taps, 3 * (end - begin), sums.data());
    sum_columns(sums.data(), columns.first.data(), columns.weights.data(), columns.taps, columns.first.size(),
                &out[3 * y * columns.first.size()]);
  }
}

}  // namespace regroup
