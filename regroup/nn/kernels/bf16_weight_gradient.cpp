#include <algorithm>
#include <stdexcept>

#include "regroup/nn/kernels/bf16_convolution.h"
#include "regroup/nn/kernels/bf16_kernels.h"

namespace regroup {
namespace {

using bf16::ImagePairs;
using bf16::Sums;
using bf16::WeightTile;

/// The outputs, along one side, that a tap meets inside of the image.
struct Range {
  std::size_t begin, end, first_input;

  Range(std::size_t tap, std::size_t inputs, std::size_t outputs, const ConvolutionShape& shape)
      : begin(tap >= shape.padding ? 0 : (shape.padding - tap + shape.stride - 1) / shape.stride),
        end(std::max(begin, inputs + shape.padding <= tap
                                ? 0
                                : std::min(outputs, (inputs - 1 + shape.padding - tap) / shape.stride + 1))),
        first_input(begin * shape.stride + tap - shape.padding) {}

  std::size_t size() const { return end - begin; }
};

/// The batch goes in blocks of a few pairs of images, which stay in a cache as words. Where the sums are small, the
/// pairs are shared out in parts, each with sums of its own; where they are large, the workers share the channels.
struct Plan {
  explicit Plan(const ConvolutionShape& shape)
      : pairs((shape.images + 1) / 2),
        x_words(shape.height * shape.width * shape.in),
        dy_words(shape.out_height() * shape.out_width() * shape.out),
        weights(shape.out * shape.kernel * shape.kernel * shape.in),
        shared(shape.in * shape.out > most_sums),
        parts(shared ? 1 : std::min(pairs, most_parts)),
        block(std::clamp<std::size_t>((shared ? shared_words : own_words) / (x_words + dy_words), 1,
                                      (pairs + parts - 1) / parts)) {}

  static constexpr std::size_t most_sums = 4096, most_parts = 16, own_words = 65'536, shared_words = 1'048'576;

  std::size_t pairs, x_words, dy_words, weights;
  bool shared;
  std::size_t parts, block;
};

struct Gradient {
  const ConvolutionShape& shape;
  const Plan& plan;
  const std::uint16_t *x, *dy;
  bool is_wide = shape.in % bf16::wide_weights.in == 0;
  WeightTile tile = is_wide ? bf16::wide_weights : bf16::narrow_weights;

  /// The channels that a tile reads lie together: a plane holds those of all pairs of a block.
  std::size_t x_pixels = shape.height * shape.width, dy_pixels = shape.out_height() * shape.out_width();
  std::size_t x_plane = plan.block * x_pixels * tile.in, dy_plane = plan.block * dy_pixels * tile.out;

  /// One pair of a block, and where its words go.
  void pair_up(std::size_t pair, std::size_t place, std::uint32_t* words) const {
    const bool alone = 2 * pair + 1 == shape.images;
    const auto both = [&](const std::uint16_t* images, const bf16::Planes& planes, std::uint32_t* to) {
      const std::size_t values = planes.pixels * planes.channels;
      const std::uint16_t* first = images + 2 * pair * values;
      bf16::pair_up(planes, first, alone ? nullptr : first + values, to + place * planes.pixels * planes.width);
    };
    both(x, {x_pixels, shape.in, tile.in, x_plane}, words);
    both(dy, {dy_pixels, shape.out, tile.out, dy_plane}, words + plan.block * plan.x_words);
  }

  /// The output channels out .. out + tile.out, of the pairs of a block.
  void sum(std::size_t pairs, const std::uint32_t* words, std::size_t out, float* dw, bool add) const {
    const std::uint32_t* dy_words = words + plan.block * plan.x_words + out / tile.out * dy_plane;
    const std::size_t rows = shape.out_height(), columns = shape.out_width(), taps = shape.kernel * shape.kernel;
    const auto sum_tile = is_wide ? bf16::sum_wide : bf16::sum_narrow;
    for (std::size_t in = 0; in < shape.in; in += tile.in)
      for (std::size_t tap = 0; tap < taps; ++tap) {
        const Range y(tap / shape.kernel, shape.height, rows, shape),
            x(tap % shape.kernel, shape.width, columns, shape);
        const ImagePairs together{pairs,
                                  y.size(),
                                  x.size(),
                                  {x_pixels * tile.in, shape.stride * shape.width * tile.in, shape.stride * tile.in},
                                  {dy_pixels * tile.out, columns * tile.out, tile.out}};
        sum_tile(together, words + in / tile.in * x_plane + (y.first_input * shape.width + x.first_input) * tile.in,
                 dy_words + (y.begin * columns + x.begin) * tile.out,
                 Sums{dw + (out * taps + tap) * shape.in + in, taps * shape.in, add});
      }
  }
};

void sum_parts(const Gradient& gradient, std::span<float> dw, Bf16Scratch& scratch, const Workers& workers) {
  const Plan& plan = gradient.plan;
  const std::size_t words_each = plan.block * (plan.x_words + plan.dy_words);
  scratch.words.resize(std::max(scratch.words.size(), workers.count * words_each));
  scratch.sums.resize(std::max(scratch.sums.size(), plan.parts * plan.weights));
  for_each(plan.parts, workers, [&](std::size_t part, std::size_t worker) {
    std::uint32_t* words = scratch.words.data() + worker * words_each;
    const std::size_t first = plan.pairs * part / plan.parts, last = plan.pairs * (part + 1) / plan.parts;
    for (std::size_t begin = first; begin < last; begin += plan.block) {
      const std::size_t end = std::min(last, begin + plan.block);
      for (std::size_t pair = begin; pair < end; ++pair) gradient.pair_up(pair, pair - begin, words);
      for (std::size_t out = 0; out < gradient.shape.out; out += gradient.tile.out)
        gradient.sum(end - begin, words, out, scratch.sums.data() + part * plan.weights, begin != first);
    }
  });
  for_each(gradient.shape.out, workers, [&](std::size_t out, std::size_t) {
    const std::size_t count = plan.weights / gradient.shape.out;
    const std::span<float> result = dw.subspan(out * count, count);
    std::fill(result.begin(), result.end(), 0.F);
    for (std::size_t part = 0; part < plan.parts; ++part) {
      const float* sums = scratch.sums.data() + part * plan.weights + out * count;
      for (std::size_t i = 0; i < count; ++i) result[i] += sums[i];
    }
  });
}

void sum_shared(const Gradient& gradient, std::span<float> dw, Bf16Scratch& scratch, const Workers& workers) {
  const Plan& plan = gradient.plan;
  scratch.words.resize(std::max(scratch.words.size(), plan.block * (plan.x_words + plan.dy_words)));
  for (std::size_t begin = 0; begin < plan.pairs; begin += plan.block) {
    const std::size_t count = std::min(plan.block, plan.pairs - begin);
    for_each(count, workers, [&](std::size_t i, std::size_t) { gradient.pair_up(begin + i, i, scratch.words.data()); });
    const std::size_t at_once = gradient.tile.out;
    for_each(gradient.shape.out / at_once, workers, [&](std::size_t item, std::size_t) {
      gradient.sum(count, scratch.words.data(), item * at_once, dw.data(), begin != 0);
    });
  }
}

}  // namespace

/// The processor sums up the products of two pairs of bf16 values at once; the two are those of the same pixel in two
/// images, so that any tap and any stride finds its pairs in the same memory.
void bf16_backward_weights(const ConvolutionShape& shape, Bf16Span x, Bf16Span dy, std::span<float> dw,
                           Bf16Scratch& scratch, const Workers& workers) {
  const bool fits = bf16_convolution_possible(shape) &&
                    x.size() == shape.images * shape.height * shape.width * shape.in &&
                    dy.size() == shape.images * shape.out_height() * shape.out_width() * shape.out &&
                    dw.size() == shape.out * shape.kernel * shape.kernel * shape.in;
  if (!fits) throw std::invalid_argument("bf16 convolution: sizes do not fit the shape");
  const Plan plan(shape);
  (plan.shared ? sum_shared : sum_parts)(Gradient{shape, plan, x.data(), dy.data()}, dw, scratch, workers);
}

}  // namespace regroup
