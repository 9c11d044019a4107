#include "regroup/nn/kernels/winograd.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "regroup/core/simd.h"
#include "regroup/nn/kernels/winograd_kernels.h"

namespace regroup {
namespace {

using winograd::Layout;
using winograd::panel;
using winograd::planes;

/// A cache line. Planes are this much further apart than they need to be, so that the 16 values of a tile do not all
/// fall into the same set of the cache.
constexpr std::size_t line = 16;

/// So many transformed tiles of one plane stay in the second level cache, and weights are read often enough.
constexpr std::size_t tiles_at_once = 96;

constexpr std::size_t divided(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

constexpr std::size_t whole_panels(std::size_t channels) { return divided(channels, panel) * panel; }

constexpr std::size_t plane_of(std::size_t rows, std::size_t columns) {
  return divided(rows * columns, line) * line + line;
}

std::size_t count_tiles(const WinogradShape& shape) {
  return shape.images * divided(shape.height, 2) * divided(shape.width, 2);
}

/// `count` items in so many parts of nearly the same size.
struct Partition {
  std::size_t count, parts;

  std::size_t begin(std::size_t part) const { return count * part / parts; }
  std::size_t largest() const { return divided(count, parts); }
};

/// A few blocks are made a multiple of four, so that two or four threads are done at the same time.
Partition in_blocks(std::size_t count, std::size_t wanted) {
  std::size_t blocks = divided(count, wanted);
  if (blocks > 1 && blocks < 32) blocks = divided(blocks, 4) * 4;
  return {count, blocks};
}

/// Hands out pieces of the scratch memory that begin at cache lines.
class Scratch {
 public:
  explicit Scratch(std::span<float> memory) : at_(memory.data()) {
    while (reinterpret_cast<std::uintptr_t>(at_) % (line * sizeof(float)) != 0) ++at_;
  }

  float* take(std::size_t floats) {
    float* taken = at_;
    at_ += divided(floats, line) * line;
    return taken;
  }

 private:
  float* at_;
};

bool possible(const WinogradShape& shape) {
  return shape.images > 0 && shape.height >= 2 && shape.width >= 2 && shape.in > 0 && shape.out > 0 &&
         shape.in % 8 == 0 && shape.out % 8 == 0;
}

void check(bool fits) {
  if (!fits) throw std::invalid_argument("winograd: sizes do not fit the shape");
}

std::size_t pixels(const WinogradShape& shape) { return shape.images * shape.height * shape.width; }

/// Forward, and backward to the data: blocks of tiles, each worker with a block in its cache.
struct TilePlan {
  explicit TilePlan(const WinogradShape& shape)
      : blocks(in_blocks(count_tiles(shape), tiles_at_once)),
        group(std::min<std::size_t>(shape.out, 64)),
        input{plane_of(blocks.largest(), shape.in), shape.in, panel},
        output{plane_of(blocks.largest(), group), group, panel},
        weights(planes * shape.in * whole_panels(shape.out)) {}

  std::size_t scratch(std::size_t workers) const {
    return line + weights + workers * planes * (input.plane + output.plane);
  }

  Partition blocks;
  /// So many output channels are computed before they are transformed.
  std::size_t group;
  Layout input, output;
  std::size_t weights;
};

using TransformWeights = void (*)(std::size_t in, std::size_t out, std::size_t panel_index, const float* w, float* u);

void convolve(const WinogradShape& shape, const float* x, const float* w, TransformWeights transform, std::size_t w_in,
              std::size_t w_out, float* y, std::span<float> memory, const Workers& workers) {
  const TilePlan plan(shape);
  Scratch scratch(memory);
  float* u = scratch.take(plan.weights);
  float* v = scratch.take(workers.count * planes * plan.input.plane);
  float* m = scratch.take(workers.count * planes * plan.output.plane);
  const std::size_t panel_size = planes * shape.in * panel;

  for_each(divided(shape.out, panel), workers,
           [&](std::size_t index, std::size_t) { transform(w_in, w_out, index, w, u + index * panel_size); });
  for_each(plan.blocks.parts, workers, [&](std::size_t block, std::size_t worker) {
    const std::size_t begin = plan.blocks.begin(block), end = plan.blocks.begin(block + 1);
    float* inputs = v + worker * planes * plan.input.plane;
    float* outputs = m + worker * planes * plan.output.plane;
    winograd::transform_input({begin, end, shape.height, shape.width, shape.in}, x, plan.input, inputs);
    for (std::size_t first = 0; first < shape.out; first += plan.group) {
      const std::size_t width = std::min(plan.group, shape.out - first);
      winograd::multiply(end - begin, shape.in, width, inputs, plan.input, u + first / panel * panel_size, outputs,
                         plan.output);
      winograd::transform_output({begin, end, shape.height, shape.width, shape.out}, first, width, outputs, plan.output,
                                 y);
    }
  });
}

WinogradShape turned(const WinogradShape& shape) {
  return {shape.images, shape.height, shape.width, shape.out, shape.in};
}

/// Backward to the weights. The tiles are summed up in parts, each by one worker with sums of its own. Where the sums
/// are large, or large beside the tiles, there is one part, of which the workers share the channels.
struct WeightPlan {
  explicit WeightPlan(const WinogradShape& shape)
      : shared(shape.in * shape.out > most_sums ||
               shape.in * shape.out * most_parts > count_tiles(shape) * (shape.in + shape.out)),
        parts{count_tiles(shape),
              shared ? 1 : std::clamp<std::size_t>(count_tiles(shape) / tiles_at_once, 1, most_parts)},
        block(std::min(shared ? shared_tiles : tiles_at_once, parts.largest())),
        input{plane_of(block, whole_panels(shape.in)), panel, block * panel},
        gradient{plane_of(block, whole_panels(shape.out)), panel, block * panel},
        sums(plane_of(shape.in, shape.out)) {}

  static constexpr std::size_t most_sums = 16384, most_parts = 16, shared_tiles = 512;

  std::size_t buffers(std::size_t workers) const { return shared ? 1 : workers; }

  std::size_t scratch(std::size_t workers) const {
    return line + planes * (buffers(workers) * (input.plane + gradient.plane) + parts.parts * sums);
  }

  bool shared;
  Partition parts;
  /// So many tiles are transformed before they are multiplied.
  std::size_t block;
  Layout input, gradient;
  /// From plane to plane of the sums.
  std::size_t sums;
};

struct WeightBuffers {
  float *input, *gradient, *sums;
};

void sum_parts(const WinogradShape& shape, const WeightPlan& plan, const float* x, const float* dy,
               const WeightBuffers& buffers, const Workers& workers) {
  for_each(plan.parts.parts, workers, [&](std::size_t part, std::size_t worker) {
    float* v = buffers.input + worker * planes * plan.input.plane;
    float* m = buffers.gradient + worker * planes * plan.gradient.plane;
    float* du = buffers.sums + part * planes * plan.sums;
    const std::size_t first = plan.parts.begin(part), last = plan.parts.begin(part + 1);
    for (std::size_t begin = first; begin < last; begin += plan.block) {
      const std::size_t end = std::min(last, begin + plan.block);
      winograd::transform_input({begin, end, shape.height, shape.width, shape.in}, x, plan.input, v);
      winograd::transform_gradient({begin, end, shape.height, shape.width, shape.out}, dy, plan.gradient, m);
      for (std::size_t xi = 0; xi < planes; ++xi)
        winograd::multiply_weights({end - begin, shape.out, shape.in, shape.in, begin != first},
                                   m + xi * plan.gradient.plane, plan.gradient.channel_panel, v + xi * plan.input.plane,
                                   plan.input.channel_panel, du + xi * plan.sums);
    }
  });
}

void sum_shared(const WinogradShape& shape, const WeightPlan& plan, const float* x, const float* dy,
                const WeightBuffers& buffers, const Workers& workers) {
  constexpr std::size_t few_tiles = 16, rows_at_once = 128, depth_at_once = 128;
  const std::size_t row_groups = divided(shape.out, rows_at_once);
  for (std::size_t begin = 0; begin < plan.parts.count; begin += plan.block) {
    const std::size_t tiles = std::min(plan.block, plan.parts.count - begin);
    for_each(divided(tiles, few_tiles), workers, [&](std::size_t item, std::size_t) {
      const std::size_t from = item * few_tiles, to = std::min(from + few_tiles, tiles);
      winograd::transform_input({begin + from, begin + to, shape.height, shape.width, shape.in}, x, plan.input,
                                buffers.input + from * panel);
      winograd::transform_gradient({begin + from, begin + to, shape.height, shape.width, shape.out}, dy, plan.gradient,
                                   buffers.gradient + from * panel);
    });
    for_each(planes * row_groups, workers, [&](std::size_t item, std::size_t) {
      const std::size_t xi = item / row_groups, row = item % row_groups * rows_at_once;
      const float* v = buffers.input + xi * plan.input.plane;
      const float* m = buffers.gradient + xi * plan.gradient.plane + row / panel * plan.gradient.channel_panel;
      float* du = buffers.sums + xi * plan.sums + row * shape.in;
      for (std::size_t from = 0; from < tiles; from += depth_at_once) {
        const std::size_t depth = std::min(depth_at_once, tiles - from);
        winograd::multiply_weights(
            {depth, std::min(rows_at_once, shape.out - row), shape.in, shape.in, begin + from != 0}, m + from * panel,
            plan.gradient.channel_panel, v + from * panel, plan.input.channel_panel, du);
      }
    });
  }
}

}  // namespace

bool winograd_available() { return cpu_has_fma(); }

bool winograd_pays(const WinogradShape& shape) {
  const std::size_t tiles = count_tiles(shape);
  return winograd_available() && possible(shape) &&
         // With 8 channels the transforms take longer than the products,
         shape.in >= 16 && shape.out >= 16 &&
         // with few tiles those of the weights do,
         tiles >= 16 &&
         // and in images of 3x3 nearly half of the tiles is outside.
         3 * pixels(shape) >= 8 * tiles;
}

std::size_t winograd_scratch(WinogradProduct product, const WinogradShape& shape, std::size_t workers) {
  check(possible(shape) && workers > 0);
  switch (product) {
    case WinogradProduct::forward:
      return TilePlan(shape).scratch(workers);
    case WinogradProduct::backward_data:
      return TilePlan(turned(shape)).scratch(workers);
    case WinogradProduct::backward_weights:
      return WeightPlan(shape).scratch(workers);
  }
  return 0;
}

void winograd_forward(const WinogradShape& shape, std::span<const float> x, std::span<const float> w,
                      std::span<float> y, std::span<float> scratch, const Workers& workers) {
  check(scratch.size() >= winograd_scratch(WinogradProduct::forward, shape, workers.count));
  check(x.size() == pixels(shape) * shape.in && y.size() == pixels(shape) * shape.out);
  check(w.size() == 9 * shape.in * shape.out);
  convolve(shape, x.data(), w.data(), winograd::transform_weights, shape.in, shape.out, y.data(), scratch, workers);
}

void winograd_backward_data(const WinogradShape& shape, std::span<const float> dy, std::span<const float> w,
                            std::span<float> dx, std::span<float> scratch, const Workers& workers) {
  check(scratch.size() >= winograd_scratch(WinogradProduct::backward_data, shape, workers.count));
  check(dx.size() == pixels(shape) * shape.in && dy.size() == pixels(shape) * shape.out);
  check(w.size() == 9 * shape.in * shape.out);
  convolve(turned(shape), dy.data(), w.data(), winograd::transform_turned_weights, shape.in, shape.out, dx.data(),
           scratch, workers);
}

void winograd_backward_weights(const WinogradShape& shape, std::span<const float> x, std::span<const float> dy,
                               std::span<float> dw, std::span<float> scratch, const Workers& workers) {
  check(scratch.size() >= winograd_scratch(WinogradProduct::backward_weights, shape, workers.count));
  check(x.size() == pixels(shape) * shape.in && dy.size() == pixels(shape) * shape.out);
  check(dw.size() == 9 * shape.in * shape.out);
  const WeightPlan plan(shape);
  Scratch memory(scratch);
  const std::size_t buffers = plan.buffers(workers.count);
  const WeightBuffers taken{memory.take(buffers * planes * plan.input.plane),
                            memory.take(buffers * planes * plan.gradient.plane),
                            memory.take(plan.parts.parts * planes * plan.sums)};
  (plan.shared ? sum_shared : sum_parts)(shape, plan, x.data(), dy.data(), taken, workers);
  for_each(shape.out, workers, [&](std::size_t k, std::size_t) {
    winograd::transform_weight_gradient(shape.in, taken.sums + k * shape.in, plan.parts.parts, planes * plan.sums,
                                        plan.sums, &dw[k * 9 * shape.in]);
  });
}

}  // namespace regroup
