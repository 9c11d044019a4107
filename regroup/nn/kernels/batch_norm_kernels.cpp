// Compiled once for any processor, once with AVX2 and once with AVX-512 (see core/simd.h): no inline function of a
// header may be used here, since the linker would keep one processor's form of it for everybody.
#include "regroup/nn/kernels/batch_norm_kernels.h"

#include <cstddef>
#include <cstdint>

#include "regroup/nn/kernels/vectors.h"

namespace regroup::REGROUP_KERNELS {
namespace {

/// What follows a normalisation, for N channels at a time.
template <std::size_t N>
struct Activated : Vector<N> {
  using typename Vector<N>::Floats;

  // Not a number stays what it is, so that a broken run is seen.
  template <Activation Kind>
  static inline Floats activated(Floats values) {
    if constexpr (Kind == Activation::none) return values;
    const Floats positive = values < 0 ? Floats{} : values;
    if constexpr (Kind == Activation::relu) return positive;
    return positive > 6 ? Floats{} + 6 : positive;
  }

  /// What passes back through the activation that made `values`, or was given them.
  template <Activation Kind>
  static inline Floats passed(Floats dy, Floats values) {
    if constexpr (Kind == Activation::none) return dy;
    const Floats positive = values > 0 ? dy : Floats{};
    if constexpr (Kind == Activation::relu) return positive;
    return values < 6 ? positive : Floats{};
  }
};

/// Calls body(from, to, channel) for N channels of a few rows at a time: the rows stay in the cache for the other
/// channels, and what belongs to the channels in registers.
template <std::size_t N, class Body>
inline void for_each_block(Rows rows, const Body& body) {
  const auto [begin, end, channels] = rows;
  const std::size_t few = channels >= 1024 ? 4 : 4096 / channels;
  for (std::size_t from = begin; from < end; from += few) {
    const std::size_t to = end - from < few ? end : from + few;
    for (std::size_t c = 0; c < channels; c += N) body(from, to, c);
  }
}

/// Calls body(row, i) for all rows with i going round 0 to 3: sums in four parts do not wait for each other.
template <class Body>
inline void for_each_row(std::size_t from, std::size_t to, const Body& body) {
  for (; from + 4 <= to; from += 4)
    for (std::size_t i = 0; i < 4; ++i) body(from + i, i);
  for (std::size_t i = 0; from + i < to; ++i) body(from + i, i);
}

template <class Floats>
inline Floats total(const Floats (&sums)[4]) {
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <std::size_t N, class T>
struct Kernels : Activated<N> {
  using typename Vector<N>::Floats;
  using Vector<N>::load, Vector<N>::store;

  /// The mean of a few rows, then the deviations from it while the rows are still in the cache, then Chan's formula to
  /// join them with what came before: exact enough in single precision, one trip to memory.
  static void moments(Rows rows, const T* x, float* mean, float* squares) {
    for (std::size_t c = 0; c < rows.channels; ++c) mean[c] = squares[c] = 0;
    for_each_block<N>(rows, [&](std::size_t from, std::size_t to, std::size_t c) {
      const auto count = static_cast<float>(to - from);
      const auto before = static_cast<float>(from - rows.begin);
      Floats sum[4]{}, square[4]{};
      for_each_row(from, to, [&](std::size_t row, std::size_t i) { sum[i] += load(x + row * rows.channels + c); });
      const Floats here = total(sum) / count;
      for_each_row(from, to, [&](std::size_t row, std::size_t i) {
        const Floats deviation = load(x + row * rows.channels + c) - here;
        square[i] += deviation * deviation;
      });
      const Floats shift = here - load(mean + c);
      store(load(squares + c) + total(square) + shift * shift * (before * (count / (before + count))), squares + c);
      store(load(mean + c) + shift * (count / (before + count)), mean + c);
    });
  }

  template <Activation Kind, bool Add>
  static void normalise(Rows rows, const T* x, const T* addend, const float* scale, const float* shift, T* y) {
    for_each_block<N>(rows, [&](std::size_t from, std::size_t to, std::size_t c) {
      const Floats by = load(scale + c), plus = load(shift + c);
      for (std::size_t row = from; row < to; ++row) {
        const std::size_t at = row * rows.channels + c;
        Floats value = load(x + at) * by + plus;
        if constexpr (Add) value += load(addend + at);
        store(Activated<N>::template activated<Kind>(value), y + at);
      }
    });
  }

  /// What passes back through the activation, by its output or, without an addend, by what it was given.
  template <Activation Kind, bool Output>
  static inline Floats passed_at(Floats dy, Floats x, const T* y, std::size_t at, Floats scale, Floats shift) {
    if constexpr (Kind == Activation::none) return dy;
    if constexpr (Output) return Activated<N>::template passed<Kind>(dy, load(y + at));
    return Activated<N>::template passed<Kind>(dy, x * scale + shift);
  }

  template <Activation Kind, bool Output>
  static void backward_sums(Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift,
                            const float* mean, float* sum, float* dot) {
    for (std::size_t c = 0; c < rows.channels; ++c) sum[c] = dot[c] = 0;
    for_each_block<N>(rows, [&](std::size_t from, std::size_t to, std::size_t c) {
      const Floats by = load(scale + c), plus = load(shift + c), centre = load(mean + c);
      Floats sums[4]{}, dots[4]{};
      for_each_row(from, to, [&](std::size_t row, std::size_t i) {
        const std::size_t at = row * rows.channels + c;
        const Floats value = load(x + at);
        const Floats g = passed_at<Kind, Output>(load(dy + at), value, y, at, by, plus);
        sums[i] += g;
        dots[i] += g * (value - centre);
      });
      store(load(sum + c) + total(sums), sum + c);
      store(load(dot + c) + total(dots), dot + c);
    });
  }

  template <Activation Kind, bool Output, bool Add>
  static void backward(Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift,
                       const float* slope, const float* offset, T* dx, T* daddend) {
    for_each_block<N>(rows, [&](std::size_t from, std::size_t to, std::size_t c) {
      const Floats by = load(scale + c), plus = load(shift + c), per_x = load(slope + c), constant = load(offset + c);
      for (std::size_t row = from; row < to; ++row) {
        const std::size_t at = row * rows.channels + c;
        const Floats value = load(x + at);
        const Floats g = passed_at<Kind, Output>(load(dy + at), value, y, at, by, plus);
        store(g * by + value * per_x + constant, dx + at);
        if constexpr (Add) store(g, daddend + at);
      }
    });
  }
};

#ifdef __AVX512BF16__
/// Calls body with the widest vector that the channels fill.
template <class T, class Body>
inline void with_vectors(std::size_t channels, const Body& body) {
  if (channels % 16 == 0)
    body(Kernels<16, T>());
  else
    body(Kernels<8, T>());
}
#else
template <class T, class Body>
inline void with_vectors(std::size_t /*channels*/, const Body& body) {
  body(Kernels<8, T>());
}
#endif

template <bool Value>
struct Flag {
  static constexpr bool value = Value;
};

/// Calls body with the flag as a constant: loops are compiled for either.
template <class Body>
inline void with_flag(bool flag, const Body& body) {
  if (flag)
    body(Flag<true>());
  else
    body(Flag<false>());
}

template <Activation Kind>
struct Choice {
  static constexpr Activation value = Kind;
};

template <class Body>
inline void with_activation(Activation activation, const Body& body) {
  if (activation == Activation::none)
    body(Choice<Activation::none>());
  else if (activation == Activation::relu)
    body(Choice<Activation::relu>());
  else
    body(Choice<Activation::relu6>());
}

template <class T>
BatchNormKernels<T> kernels() {
  return {
      [](Rows rows, const T* x, float* mean, float* squares) {
        with_vectors<T>(rows.channels, [&]<class K>(K) { K::moments(rows, x, mean, squares); });
      },
      [](Rows rows, const T* x, const T* addend, const float* scale, const float* shift, Activation activation, T* y) {
        with_vectors<T>(rows.channels, [&]<class K>(K) {
          with_activation(activation, [&](auto kind) {
            with_flag(addend != nullptr, [&](auto adds) {
              K::template normalise<kind.value, adds.value>(rows, x, addend, scale, shift, y);
            });
          });
        });
      },
      [](Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift, const float* mean,
         Activation activation, float* sum, float* dot) {
        with_vectors<T>(rows.channels, [&]<class K>(K) {
          with_activation(activation, [&](auto kind) {
            with_flag(y != nullptr, [&](auto by_output) {
              K::template backward_sums<kind.value, by_output.value>(rows, dy, x, y, scale, shift, mean, sum, dot);
            });
          });
        });
      },
      [](Rows rows, const T* dy, const T* x, const T* y, const float* scale, const float* shift, Activation activation,
         const float* slope, const float* offset, T* dx, T* daddend) {
        with_vectors<T>(rows.channels, [&]<class K>(K) {
          with_activation(activation, [&](auto kind) {
            with_flag(y != nullptr, [&](auto by_output) {
              with_flag(daddend != nullptr, [&](auto adds) {
                K::template backward<kind.value, by_output.value, adds.value>(rows, dy, x, y, scale, shift, slope,
                                                                              offset, dx, daddend);
              });
            });
          });
        });
      },
  };
}

}  // namespace

BatchNormKernels<float> float_batch_norm() { return kernels<float>(); }
BatchNormKernels<std::uint16_t> bf16_batch_norm() { return kernels<std::uint16_t>(); }

}  // namespace regroup::REGROUP_KERNELS
