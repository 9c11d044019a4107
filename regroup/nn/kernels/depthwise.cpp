#include "regroup/nn/kernels/depthwise.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "regroup/core/simd.h"
#include "regroup/nn/kernels/depthwise_kernels.h"

namespace regroup {
namespace {

template <class T>
const DepthwiseKernels<T>& kernels_for() {
  if constexpr (std::is_same_v<T, float>) {
    static const auto kernels = REGROUP_WIDEST_KERNEL(float_depthwise)();
    return kernels;
  } else {
    static const auto kernels = REGROUP_WIDEST_KERNEL(bf16_depthwise)();
    return kernels;
  }
}

/// Images are worked on in strips of some of their channels: a pixel's are one or two lines of the cache.
constexpr std::size_t strip_channels = 32;

std::size_t strips_of(const DepthwiseShape& shape) { return (shape.channels + strip_channels - 1) / strip_channels; }

struct Strip {
  Strip(const DepthwiseShape& shape, std::size_t number)
      : first(number * strip_channels), channels(std::min(strip_channels, shape.channels - first)) {}

  std::size_t first, channels;
};

std::size_t whole_tiles(std::size_t pixels) { return (pixels + depthwise_tile - 1) / depthwise_tile * depthwise_tile; }

/// The rows of images as floats, with zeros around: `before` pixels, and up to `length` in all.
struct RowLayout {
  std::size_t before, length;

  std::size_t floats() const { return length * strip_channels; }
};

/// The last few rows of a strip of an image, as floats.
template <class T>
class Rows {
 public:
  static constexpr std::size_t kept = depthwise_max_kernel;

  /// `image` has `height` rows of `width` pixels, `step` values from one to the next. `memory` holds `kept` rows.
  Rows(const T* image, std::size_t height, std::size_t width, std::size_t step, std::size_t channels,
       const RowLayout& layout, float* memory)
      : image_(image),
        height_(height),
        width_(width),
        step_(step),
        channels_(channels),
        layout_(layout),
        memory_(memory) {
    const std::size_t behind = layout.before + width;
    for (std::size_t row = 0; row < kept; ++row) {
      float* const floats = memory + row * layout.floats();
      std::fill_n(floats, layout.before * channels, 0.F);
      std::fill_n(floats + behind * channels, (layout.length - behind) * channels, 0.F);
    }
  }

  /// The first pixel of a row, or null where there is no such row. Rows are asked for downwards, and at most `kept`
  /// back from the last.
  const float* row(std::ptrdiff_t number) {
    if (number < 0 || number >= static_cast<std::ptrdiff_t>(height_)) return nullptr;
    const auto wanted = static_cast<std::size_t>(number);
    for (; next_ <= wanted; ++next_)
      kernels_for<T>().widen(image_ + next_ * width_ * step_, width_, step_, channels_, place(next_));
    return place(wanted);
  }

 private:
  float* place(std::size_t row) const { return memory_ + row % kept * layout_.floats() + layout_.before * channels_; }

  const T* image_;
  std::size_t height_, width_, step_, channels_;
  RowLayout layout_;
  float* memory_;
  std::size_t next_ = 0;
};

/// The weights of a strip as [tap][channel], turned around where the gradient asks for it.
void arrange(const DepthwiseShape& shape, const Strip& strip, std::span<const float> w, bool turned, float* to) {
  const std::size_t taps = shape.kernel * shape.kernel;
  for (std::size_t tap = 0; tap < taps; ++tap)
    for (std::size_t c = 0; c < strip.channels; ++c)
      to[tap * strip.channels + c] = w[(strip.first + c) * taps + (turned ? taps - 1 - tap : tap)];
}

constexpr std::size_t arranged_floats = depthwise_max_kernel * depthwise_max_kernel * strip_channels;

std::ptrdiff_t signed_of(std::size_t number) { return static_cast<std::ptrdiff_t>(number); }

/// Calls body(image, strip, memory) for each strip of each image; memory of `floats` is the worker's own.
template <class Body>
void for_each_strip(const DepthwiseShape& shape, std::size_t images, std::size_t floats, DepthwiseScratch& scratch,
                    const Workers& workers, const Body& body) {
  scratch.floats.resize(std::max(scratch.floats.size(), workers.count * floats));
  const std::size_t strips = strips_of(shape);
  for_each(images * strips, workers, [&](std::size_t item, std::size_t worker) {
    body(item / strips, Strip(shape, item % strips), scratch.floats.data() + worker * floats);
  });
}

/// A convolution with stride and padding that both directions are: images of height x width to others.
struct Plain {
  std::size_t height, width, out_height, out_width, stride, top, left;
  bool turned;
};

template <class T>
void convolve(const DepthwiseShape& shape, const Plain& plain, std::span<const T> x, std::span<const float> w,
              std::span<T> y, DepthwiseScratch& scratch, const Workers& workers) {
  const RowLayout layout{
      plain.left, std::max(plain.left + plain.width, (whole_tiles(plain.out_width) - 1) * plain.stride + shape.kernel)};
  for_each_strip(shape, shape.images, Rows<T>::kept * layout.floats() + arranged_floats, scratch, workers,
                 [&](std::size_t image, const Strip& strip, float* memory) {
                   float* const weights = memory + Rows<T>::kept * layout.floats();
                   arrange(shape, strip, w, plain.turned, weights);
                   Rows<T> rows(x.data() + image * plain.height * plain.width * shape.channels + strip.first,
                                plain.height, plain.width, shape.channels, strip.channels, layout, memory);
                   T* to = y.data() + image * plain.out_height * plain.out_width * shape.channels + strip.first;
                   for (std::size_t out = 0; out < plain.out_height; ++out, to += plain.out_width * shape.channels) {
                     DepthwiseRow row{{}, plain.out_width, strip.channels, shape.channels};
                     for (std::size_t ty = 0; ty < shape.kernel; ++ty) {
                       const float* from = rows.row(signed_of(out * plain.stride + ty) - signed_of(plain.top));
                       row.rows[ty] = from == nullptr ? nullptr : from - plain.left * strip.channels;
                     }
                     kernels_for<T>().forward(shape.kernel, plain.stride, row, weights, to);
                   }
                 });
}

/// The gradient of the images where the stride is 2: a pixel has part in every second result of each tap.
template <class T>
void spread(const DepthwiseShape& shape, std::span<const T> dy, std::span<const float> w, std::span<T> dx,
            DepthwiseScratch& scratch, const Workers& workers) {
  constexpr std::size_t before = 2;
  const std::size_t top = shape.padding_top(), left = shape.padding_left(), rows_of_dy = shape.out_height(),
                    columns = shape.out_width();
  const RowLayout layout{before, before + std::max(columns, left / 2 + whole_tiles(shape.width) / 2 + 1)};
  for_each_strip(shape, shape.images, Rows<T>::kept * layout.floats() + arranged_floats, scratch, workers,
                 [&](std::size_t image, const Strip& strip, float* memory) {
                   float* const weights = memory + Rows<T>::kept * layout.floats();
                   arrange(shape, strip, w, false, weights);
                   Rows<T> rows(dy.data() + image * rows_of_dy * columns * shape.channels + strip.first, rows_of_dy,
                                columns, shape.channels, strip.channels, layout, memory);
                   T* to = dx.data() + image * shape.height * shape.width * shape.channels + strip.first;
                   for (std::size_t in = 0; in < shape.height; ++in, to += shape.width * shape.channels) {
                     DepthwiseRow row{{}, shape.width, strip.channels, shape.channels};
                     // The last tap has the first row.
                     for (std::size_t ty = shape.kernel; ty-- > 0;) {
                       const auto twice = signed_of(in + top) - signed_of(ty);
                       if (twice % 2 != 0) continue;
                       const float* from = rows.row(twice / 2);
                       row.rows[ty] = from == nullptr ? nullptr : from + left / 2 * strip.channels;
                     }
                     kernels_for<T>().backward(shape.kernel, left % 2 == 1, row, weights, to);
                   }
                 });
}

void check(const DepthwiseShape& shape, std::size_t x, std::size_t y, std::size_t w) {
  if (!depthwise_possible(shape) || x != shape.images * shape.height * shape.width * shape.channels ||
      y != shape.images * shape.out_height() * shape.out_width() * shape.channels ||
      w != shape.channels * shape.kernel * shape.kernel)
    throw std::invalid_argument("depthwise convolution: sizes do not fit the shape");
}

}  // namespace

bool depthwise_possible(const DepthwiseShape& shape) {
  return shape.images > 0 && shape.height > 0 && shape.width > 0 && shape.channels > 0 && shape.channels % 8 == 0 &&
         (shape.kernel == 3 || shape.kernel == 5) && (shape.stride == 1 || shape.stride == 2);
}

template <class T>
void depthwise_forward(const DepthwiseShape& shape, std::span<const T> x, std::span<const float> w, std::span<T> y,
                       DepthwiseScratch& scratch, const Workers& workers) {
  check(shape, x.size(), y.size(), w.size());
  convolve(shape,
           {shape.height, shape.width, shape.out_height(), shape.out_width(), shape.stride, shape.padding_top(),
            shape.padding_left(), false},
           x, w, y, scratch, workers);
}

template <class T>
void depthwise_backward_data(const DepthwiseShape& shape, std::span<const T> dy, std::span<const float> w,
                             std::span<T> dx, DepthwiseScratch& scratch, const Workers& workers) {
  check(shape, dx.size(), dy.size(), w.size());
  if (shape.stride == 2) return spread(shape, dy, w, dx, scratch, workers);
  convolve(shape,
           {shape.height, shape.width, shape.height, shape.width, 1, shape.kernel - 1 - shape.padding_top(),
            shape.kernel - 1 - shape.padding_left(), true},
           dy, w, dx, scratch, workers);
}

template <class T>
void depthwise_backward_weights(const DepthwiseShape& shape, std::span<const T> x, std::span<const T> dy,
                                std::span<float> dw, DepthwiseScratch& scratch, const Workers& workers) {
  check(shape, x.size(), dy.size(), dw.size());
  // The images are shared out in parts, each with sums of its own, whatever the number of workers.
  constexpr std::size_t most_parts = 16;
  const std::size_t parts = std::min(shape.images, most_parts), taps = shape.kernel * shape.kernel,
                    columns = shape.out_width(), left = shape.padding_left();
  const RowLayout x_layout{left,
                           std::max(left + shape.width, (whole_tiles(columns) - 1) * shape.stride + shape.kernel)};
  const RowLayout dy_layout{0, whole_tiles(columns)};
  const std::size_t own = Rows<T>::kept * (x_layout.floats() + dy_layout.floats());
  std::vector<float> sums(parts * taps * shape.channels);
  for_each_strip(shape, parts, own, scratch, workers, [&](std::size_t part, const Strip& strip, float* memory) {
    float* const to = sums.data() + (part * shape.channels + strip.first) * taps;
    for (std::size_t image = shape.images * part / parts; image < shape.images * (part + 1) / parts; ++image) {
      Rows<T> rows(x.data() + image * shape.height * shape.width * shape.channels + strip.first, shape.height,
                   shape.width, shape.channels, strip.channels, x_layout, memory);
      Rows<T> gradients(dy.data() + image * shape.out_height() * columns * shape.channels + strip.first,
                        shape.out_height(), columns, shape.channels, strip.channels, dy_layout,
                        memory + Rows<T>::kept * x_layout.floats());
      for (std::size_t out = 0; out < shape.out_height(); ++out) {
        DepthwiseRow row{{}, columns, strip.channels, shape.channels};
        for (std::size_t ty = 0; ty < shape.kernel; ++ty) {
          const float* from = rows.row(signed_of(out * shape.stride + ty) - signed_of(shape.padding_top()));
          row.rows[ty] = from == nullptr ? nullptr : from - left * strip.channels;
        }
        kernels_for<T>().weights(shape.kernel, shape.stride, row, gradients.row(signed_of(out)), to);
      }
    }
  });
  for (std::size_t number = 0; number < strips_of(shape); ++number) {
    const Strip strip(shape, number);
    for (std::size_t c = 0; c < strip.channels; ++c)
      for (std::size_t tap = 0; tap < taps; ++tap) {
        double sum = 0;
        for (std::size_t part = 0; part < parts; ++part)
          sum += static_cast<double>(sums[(part * shape.channels + strip.first) * taps + tap * strip.channels + c]);
        dw[(strip.first + c) * taps + tap] = static_cast<float>(sum);
      }
  }
}

template void depthwise_forward(const DepthwiseShape&, std::span<const float>, std::span<const float>, std::span<float>,
                                DepthwiseScratch&, const Workers&);
template void depthwise_forward(const DepthwiseShape&, std::span<const std::uint16_t>, std::span<const float>,
                                std::span<std::uint16_t>, DepthwiseScratch&, const Workers&);
template void depthwise_backward_data(const DepthwiseShape&, std::span<const float>, std::span<const float>,
                                      std::span<float>, DepthwiseScratch&, const Workers&);
template void depthwise_backward_data(const DepthwiseShape&, std::span<const std::uint16_t>, std::span<const float>,
                                      std::span<std::uint16_t>, DepthwiseScratch&, const Workers&);
template void depthwise_backward_weights(const DepthwiseShape&, std::span<const float>, std::span<const float>,
                                         std::span<float>, DepthwiseScratch&, const Workers&);
template void depthwise_backward_weights(const DepthwiseShape&, std::span<const std::uint16_t>,
                                         std::span<const std::uint16_t>, std::span<float>, DepthwiseScratch&,
                                         const Workers&);

}  // namespace regroup
