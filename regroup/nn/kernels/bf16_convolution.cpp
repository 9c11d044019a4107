#include "regroup/nn/kernels/bf16_convolution.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "regroup/core/simd.h"
#include "regroup/nn/kernels/bf16_kernels.h"

namespace regroup {
namespace {

using bf16::Missing;
using bf16::Tap;

bool cpu_has_amx() {
#if defined(__x86_64__)
  constexpr unsigned amx_bf16 = 1U << 22;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & amx_bf16) != 0;
#else
  return false;
#endif
}

/// Either product: each pixel of the result is a sum over pixels of the source, forward of x, backward of dy.
enum class Product { forward, backward_data };

/// The pixels of source and result along one side of the images.
struct Side {
  Product product;
  std::size_t sources, stride, padding;

  /// The pixel that a tap brings to this pixel of the result, unless it is beyond the border or between two strides.
  std::optional<std::size_t> source(std::size_t result, std::size_t tap) const {
    std::size_t pixel = 0;
    if (product == Product::forward) {
      if (result * stride + tap < padding) return {};
      pixel = result * stride + tap - padding;
    } else {
      if (result + padding < tap || (result + padding - tap) % stride != 0) return {};
      pixel = (result + padding - tap) / stride;
    }
    if (pixel >= sources) return {};
    return pixel;
  }

  /// The taps in the order of their sources: memory is read as it lies.
  std::size_t in_order(std::size_t i, std::size_t kernel) const {
    return product == Product::forward ? i : kernel - 1 - i;
  }

  /// Results that are so many pixels apart have the same taps, but for borders; so far apart are then their sources.
  std::size_t result_step() const { return product == Product::forward ? 1 : stride; }
  std::size_t source_step() const { return product == Product::forward ? stride : 1; }
};

struct Images {
  std::size_t height, width, channels;

  std::size_t values() const { return height * width * channels; }
};

/// Which pixels of an image are computed in which order, and what each is the sum of. Where a row has whole tiles of
/// pixels, a tile is a piece of a row; elsewhere it is the same pixel of several images, which needs no borders.
class Plan {
 public:
  Plan(const ConvolutionShape& shape, Product product)
      : count(shape.images),
        source(product == Product::forward ? Images{shape.height, shape.width, shape.in}
                                           : Images{shape.out_height(), shape.out_width(), shape.out}),
        result(product == Product::forward ? Images{shape.out_height(), shape.out_width(), shape.out}
                                           : Images{shape.height, shape.width, shape.in}),
        taps_(shape.kernel * shape.kernel),
        is_wide_(result.channels % bf16::wide_tile.channels == 0),
        tile_(is_wide_ ? bf16::wide_tile : bf16::narrow_tile),
        side_y_{product, source.height, shape.stride, shape.padding},
        side_x_{product, source.width, shape.stride, shape.padding} {
    along_rows_ = plan_tiles(shape.kernel, tile_.pixels);
    if (!along_rows_) plan_tiles(shape.kernel, 1);
  }

  std::size_t weight_words() const { return blocks() * block_words(); }

  /// Weights as the kernels read them: [block of result channels][tap][pair of source channels][result channel].
  void arrange(Product product, Bf16Span w, std::uint32_t* words, const Workers& workers) const {
    const std::size_t in = product == Product::forward ? source.channels : result.channels;
    const auto arrange_one = [&](std::size_t item, std::size_t) {
      const std::size_t first = item / taps_ * tile_.channels, tap = item % taps_;
      std::uint32_t* to = words + item * pairs() * tile_.channels;
      const auto weight = [&](std::size_t out_channel, std::size_t in_channel) {
        return w.data() + (out_channel * taps_ + tap) * in + in_channel;
      };
      for (std::size_t pair = 0; pair < pairs(); ++pair, to += tile_.channels) {
        if (product == Product::backward_data) {
          bf16::pair_up({1, tile_.channels, tile_.channels, 0}, weight(2 * pair, first), weight(2 * pair + 1, first),
                        to);
        } else {
          for (std::size_t channel = 0; channel < tile_.channels; ++channel)
            std::memcpy(to + channel, weight(first + channel, 2 * pair), sizeof *to);
        }
      }
    };
    constexpr std::size_t worth_sharing = 8192;
    if (weight_words() < worth_sharing) {
      for (std::size_t item = 0; item < blocks() * taps_; ++item) arrange_one(item, 0);
    } else {
      for_each(blocks() * taps_, workers, arrange_one);
    }
  }

  /// `addend` may be null.
  void convolve(const std::uint16_t* from, const std::uint32_t* words, const std::uint16_t* addend, std::uint16_t* to,
                const Workers& workers) const {
    const std::size_t at_once = along_rows_ ? 1 : tile_.pixels, groups = (count + at_once - 1) / at_once;
    const std::size_t pieces = along_rows_ ? 1 : std::min<std::size_t>(4, tiles_.size());
    for_each(groups * blocks() * pieces, workers, [&](std::size_t item, std::size_t) {
      const std::size_t piece = item % pieces, block = item / pieces % blocks(), group = item / pieces / blocks();
      const std::span<const Tile> tiles = std::span(tiles_).subspan(
          tiles_.size() * piece / pieces, tiles_.size() * (piece + 1) / pieces - tiles_.size() * piece / pieces);
      const std::size_t image = group * at_once;
      const auto compute = [&](bf16::Convolve* kernel, std::size_t first_image) {
        for (const Tile& tile : tiles) {
          const std::size_t place = first_image * result.values() + tile.result + block * tile_.channels;
          kernel(meeting(tile), from + first_image * source.values(), words + block * block_words(),
                 addend == nullptr ? nullptr : addend + place, to + place);
        }
      };
      if (image + at_once <= count) {
        compute(is_wide_ ? bf16::convolve_wide : bf16::convolve_narrow, image);
      } else {
        for (std::size_t alone = image; alone < count; ++alone)
          compute(is_wide_ ? bf16::convolve_one_wide : bf16::convolve_one_narrow, alone);
      }
    });
  }

  std::size_t count;
  Images source, result;

 private:
  /// Where the first of its pixels is, and its taps.
  struct Tile {
    std::size_t result, first_tap, last_tap;
  };

  std::size_t blocks() const { return result.channels / tile_.channels; }
  std::size_t pairs() const { return source.channels / 2; }
  std::size_t block_words() const { return taps_ * pairs() * tile_.channels; }

  bf16::Meeting meeting(const Tile& tile) const {
    return {tap_list_.data() + tile.first_tap, tile.last_tap - tile.first_tap, pairs(),
            along_rows_ ? side_x_.source_step() * source.channels : source.values(),
            along_rows_ ? side_x_.result_step() * result.channels : result.values()};
  }

  /// A tap and, along a row, where the first source that is there is.
  struct RowTap {
    std::size_t tap, source;
    Missing missing;
  };

  /// The taps of `pixels` results from `first` on in a row; nothing where more than one at an end has no source.
  std::optional<std::vector<RowTap>> row_taps(std::size_t kernel, std::size_t first, std::size_t pixels) const {
    std::vector<RowTap> taps;
    for (std::size_t i = 0; i < kernel; ++i) {
      const std::size_t tap = side_x_.in_order(i, kernel);
      std::size_t begin = 0, end = pixels;
      const auto at = [&](std::size_t pixel) { return side_x_.source(first + pixel * side_x_.result_step(), tap); };
      while (begin < end && !at(begin)) ++begin;
      while (begin < end && !at(end - 1)) --end;
      if (begin == end) continue;
      if (end - begin + 1 < pixels) return {};
      taps.push_back({tap, *at(begin), begin > 0 ? Missing::first : end < pixels ? Missing::last : Missing::none});
    }
    return taps;
  }

  /// Tiles of so many pixels in a row; false where rows do not have whole ones.
  bool plan_tiles(std::size_t kernel, std::size_t pixels) {
    struct RowTile {
      std::size_t result;
      std::vector<RowTap> taps;
    };
    std::vector<RowTile> row;
    const std::size_t step = side_x_.result_step(), length = step * pixels;
    for (std::size_t phase = 0; phase < std::min(step, result.width); ++phase) {
      if (pixels > 1 && ((result.width - phase - 1) / step + 1) % pixels != 0) return false;
      for (std::size_t first = phase; first < result.width; first += length) {
        const auto taps = row_taps(kernel, first, pixels);
        if (!taps) return false;
        row.push_back({first, *taps});
      }
    }
    for (std::size_t y = 0; y < result.height; ++y)
      for (const RowTile& tile : row) {
        const std::size_t first_tap = tap_list_.size();
        for (std::size_t i = 0; i < kernel; ++i) {
          const std::size_t tap_y = side_y_.in_order(i, kernel);
          if (const auto source_y = side_y_.source(y, tap_y))
            for (const RowTap& tap : tile.taps)
              tap_list_.push_back({(*source_y * source.width + tap.source) * source.channels,
                                   (tap_y * kernel + tap.tap) * pairs() * tile_.channels, tap.missing});
        }
        tiles_.push_back({(y * result.width + tile.result) * result.channels, first_tap, tap_list_.size()});
      }
    return true;
  }

  std::size_t taps_;
  bool is_wide_;
  bf16::ResultTile tile_;
  Side side_y_, side_x_;
  bool along_rows_ = false;
  std::vector<Tap> tap_list_;
  std::vector<Tile> tiles_;
};

void compute(const ConvolutionShape& shape, Product product, Bf16Span source, Bf16Span w, Bf16Span addend,
             std::span<std::uint16_t> result, Bf16Scratch& scratch, const Workers& workers) {
  if (!bf16_convolution_possible(shape)) throw std::invalid_argument("bf16 convolution: the shape is not possible");
  const Plan plan(shape, product);
  if (source.size() != plan.count * plan.source.values() || result.size() != plan.count * plan.result.values() ||
      w.size() != shape.out * shape.kernel * shape.kernel * shape.in ||
      (!addend.empty() && addend.size() != result.size()))
    throw std::invalid_argument("bf16 convolution: sizes do not fit the shape");
  scratch.words.resize(std::max(scratch.words.size(), plan.weight_words()));
  plan.arrange(product, w, scratch.words.data(), workers);
  plan.convolve(source.data(), scratch.words.data(), addend.data(), result.data(), workers);
}

}  // namespace

bool bf16_convolution_available() { return cpu_has_avx512_bf16(); }

bool bf16_convolution_possible(const ConvolutionShape& shape) {
  return shape.images > 0 && shape.kernel > 0 && shape.stride > 0 && shape.in > 0 && shape.out > 0 &&
         shape.in % 16 == 0 && shape.out % 16 == 0 && shape.height > 0 && shape.width > 0 &&
         shape.height + 2 * shape.padding >= shape.kernel && shape.width + 2 * shape.padding >= shape.kernel;
}

bool bf16_convolution_pays(const ConvolutionShape& shape) {
  static const bool is_fastest = bf16_convolution_available() && !cpu_has_amx();
  return is_fastest && bf16_convolution_possible(shape);
}

void bf16_forward(const ConvolutionShape& shape, Bf16Span x, Bf16Span w, std::span<std::uint16_t> y,
                  Bf16Scratch& scratch, const Workers& workers) {
  compute(shape, Product::forward, x, w, {}, y, scratch, workers);
}

void bf16_backward_data(const ConvolutionShape& shape, Bf16Span dy, Bf16Span w, Bf16Span addend,
                        std::span<std::uint16_t> dx, Bf16Scratch& scratch, const Workers& workers) {
  compute(shape, Product::backward_data, dy, w, addend, dx, scratch, workers);
}

}  // namespace regroup
