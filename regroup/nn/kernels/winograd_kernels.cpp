// Compiled with AVX2 and FMA (see core/simd.h): no inline function of a header may be used here, since the linker would
// keep the AVX2 form of it for everybody.
#include "regroup/nn/kernels/winograd_kernels.h"

#include <cstddef>

namespace regroup::winograd {
namespace {

constexpr std::size_t lanes = 8;
using Floats = float __attribute__((vector_size(32)));

inline Floats load(const float* from) {
  Floats values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}

inline void store(Floats values, float* to) { __builtin_memcpy(to, &values, sizeof values); }

/// Counts tiles: which image, which row, which column.
class Place {
 public:
  explicit Place(const Tiles& tiles)
      : rows_((tiles.height + 1) / 2),
        columns_((tiles.width + 1) / 2),
        column_(tiles.begin % columns_),
        row_(tiles.begin / columns_ % rows_),
        image_(tiles.begin / columns_ / rows_) {}

  void next() {
    if (++column_ < columns_) return;
    column_ = 0;
    if (++row_ < rows_) return;
    row_ = 0;
    ++image_;
  }

  std::size_t image() const { return image_; }
  std::size_t y() const { return 2 * row_; }
  std::size_t x() const { return 2 * column_; }

 private:
  std::size_t rows_, columns_, column_, row_, image_;
};

inline std::size_t position(const Layout& layout, std::size_t tile, std::size_t channel) {
  return tile * layout.tile + channel / panel * layout.channel_panel + channel % panel;
}

enum Access { read = 0, write = 1 };

/// Asks for two rows of an image that the tile below this one needs. The processor does not foresee them: to it an
/// image is many short streams. What is past the end does no harm.
template <Access For>
inline void prefetch_below(const float* at, std::size_t row, std::size_t floats) {
  constexpr std::size_t line = 16;
  for (std::size_t i = 0; i < floats; i += line) {
    __builtin_prefetch(at + i, For);
    __builtin_prefetch(at + row + i, For);
  }
}

/// B^T d B, and to the planes.
inline void store_input(Floats (&d)[4][4], std::size_t plane, float* v) {
  for (auto& column : d) {
    const Floats one = column[1], two = column[2];
    column[0] -= two;
    column[3] = one - column[3];
    column[1] = one + two;
    column[2] = two - one;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    store(d[0][i] - d[2][i], v + (4 * i) * plane);
    store(d[1][i] + d[2][i], v + (4 * i + 1) * plane);
    store(d[2][i] - d[1][i], v + (4 * i + 2) * plane);
    store(d[1][i] - d[3][i], v + (4 * i + 3) * plane);
  }
}

void transform_inner_tile(const float* corner, std::size_t row, std::size_t channels, Layout layout, std::size_t tile,
                          float* v) {
  for (std::size_t c = 0; c < channels; c += lanes) {
    Floats d[4][4];
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t i = 0; i < 4; ++i) d[j][i] = load(corner + i * row + j * channels + c);
    store_input(d, layout.plane, v + position(layout, tile, c));
  }
}

void transform_border_tile(const Tiles& tiles, const Place& place, const float* x, Layout layout, std::size_t tile,
                           float* v) {
  // Null for what is outside; x - 1 wraps round and is outside as well.
  const float* at[4][4];
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = place.y() + i - 1, column = place.x() + j - 1;
      at[j][i] = row < tiles.height && column < tiles.width
                     ? x + ((place.image() * tiles.height + row) * tiles.width + column) * tiles.channels
                     : nullptr;
    }
  }
  for (std::size_t c = 0; c < tiles.channels; c += lanes) {
    Floats d[4][4];
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t i = 0; i < 4; ++i) d[j][i] = at[j][i] != nullptr ? load(at[j][i] + c) : Floats{};
    store_input(d, layout.plane, v + position(layout, tile, c));
  }
}

/// G g for a column of three.
inline void widen(Floats first, Floats second, Floats third, Floats (&to)[4]) {
  const Floats outer = (first + third) * 0.5F, inner = second * 0.5F;
  to[0] = first;
  to[1] = outer + inner;
  to[2] = outer - inner;
  to[3] = third;
}

/// G g G^T of the weights w[row][column], and to the planes.
inline void store_weights(const Floats (&w)[3][3], std::size_t plane, float* u) {
  Floats columns[3][4];
  for (std::size_t j = 0; j < 3; ++j) widen(w[0][j], w[1][j], w[2][j], columns[j]);
  for (std::size_t i = 0; i < 4; ++i) {
    Floats row[4];
    widen(columns[0][i], columns[1][i], columns[2][i], row);
    for (std::size_t j = 0; j < 4; ++j) store(row[j], u + (4 * i + j) * plane);
  }
}

/// A product of Rows rows of a with the Vectors * 8 columns of b.
///   plain:      row r of a begins at a + r * a_row, its values are side by side
///   transposed: row r of a is a[r], a[r + panel], ...
template <std::size_t Rows, std::size_t Vectors, bool Transposed>
void multiply_few(std::size_t depth, const float* a, std::size_t a_row, const float* b, float* c, std::size_t c_row,
                  bool add) {
  // Unrolled early, so that the compiler sees that no sum needs memory.
  Floats sums[Rows][Vectors];
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (std::size_t j = 0; j < Vectors; ++j) sums[r][j] = Floats{};
#pragma GCC unroll 4
  for (std::size_t d = 0; d < depth; ++d) {
    Floats columns[Vectors];
#pragma GCC unroll 2
    for (std::size_t j = 0; j < Vectors; ++j) columns[j] = load(b + d * panel + j * lanes);
#pragma GCC unroll 6
    for (std::size_t r = 0; r < Rows; ++r) {
      const float value = Transposed ? a[d * panel + r] : a[r * a_row + d];
#pragma GCC unroll 2
      for (std::size_t j = 0; j < Vectors; ++j) sums[r][j] += columns[j] * value;
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (std::size_t j = 0; j < Vectors; ++j) {
      float* to = c + r * c_row + j * lanes;
      store(add ? load(to) + sums[r][j] : sums[r][j], to);
    }
  }
}

using MultiplyFew = void (*)(std::size_t, const float*, std::size_t, const float*, float*, std::size_t, bool);

template <bool Transposed>
MultiplyFew few(std::size_t rows, std::size_t vectors) {
  static constexpr MultiplyFew table[6][2] = {
      {multiply_few<1, 1, Transposed>, multiply_few<1, 2, Transposed>},
      {multiply_few<2, 1, Transposed>, multiply_few<2, 2, Transposed>},
      {multiply_few<3, 1, Transposed>, multiply_few<3, 2, Transposed>},
      {multiply_few<4, 1, Transposed>, multiply_few<4, 2, Transposed>},
      {multiply_few<5, 1, Transposed>, multiply_few<5, 2, Transposed>},
      {multiply_few<6, 1, Transposed>, multiply_few<6, 2, Transposed>},
  };
  return table[rows - 1][vectors - 1];
}

/// How many of the remaining rows go next: six keep the registers full, and 8 = 4 + 4 is better than 6 + 2.
inline std::size_t next_rows(std::size_t left) {
  if (left == 7 || left == 8) return 4;
  return left < 6 ? left : 6;
}

}  // namespace

void transform_input(Tiles tiles, const float* x, Layout layout, float* v) {
  const std::size_t row = tiles.width * tiles.channels;
  Place place(tiles);
  for (std::size_t tile = 0; tile < tiles.end - tiles.begin; ++tile, place.next()) {
    prefetch_below<read>(x + (place.image() * tiles.height + place.y() + 3) * row + place.x() * tiles.channels, row,
                         2 * tiles.channels);
    const bool inner = place.y() != 0 && place.x() != 0 && place.y() + 2 < tiles.height && place.x() + 2 < tiles.width;
    if (inner) {
      const float* corner = x + (place.image() * tiles.height + place.y() - 1) * row + (place.x() - 1) * tiles.channels;
      transform_inner_tile(corner, row, tiles.channels, layout, tile, v);
    } else {
      transform_border_tile(tiles, place, x, layout, tile, v);
    }
  }
}

void transform_gradient(Tiles tiles, const float* dy, Layout layout, float* m) {
  const std::size_t channels = tiles.channels, row = tiles.width * channels;
  Place place(tiles);
  for (std::size_t tile = 0; tile < tiles.end - tiles.begin; ++tile, place.next()) {
    const bool two_rows = place.y() + 1 < tiles.height, two_columns = place.x() + 1 < tiles.width;
    const float* from = dy + (place.image() * tiles.height + place.y()) * row + place.x() * channels;
    prefetch_below<read>(from + 2 * row, row, 2 * channels);
    for (std::size_t c = 0; c < channels; c += lanes, from += lanes) {
      const Floats a = load(from);
      const Floats b = two_columns ? load(from + channels) : Floats{};
      const Floats e = two_rows ? load(from + row) : Floats{};
      const Floats f = two_rows && two_columns ? load(from + row + channels) : Floats{};
      const Floats rows[4][2] = {{a, b}, {a + e, b + f}, {a - e, b - f}, {-e, -f}};
      float* to = m + position(layout, tile, c);
      for (std::size_t i = 0; i < 4; ++i) {
        store(rows[i][0], to + (4 * i) * layout.plane);
        store(rows[i][0] + rows[i][1], to + (4 * i + 1) * layout.plane);
        store(rows[i][0] - rows[i][1], to + (4 * i + 2) * layout.plane);
        store(-rows[i][1], to + (4 * i + 3) * layout.plane);
      }
    }
  }
}

void transform_output(Tiles tiles, std::size_t first, std::size_t width, const float* m, Layout layout, float* y) {
  const std::size_t channels = tiles.channels, row = tiles.width * channels;
  Place place(tiles);
  for (std::size_t tile = 0; tile < tiles.end - tiles.begin; ++tile, place.next()) {
    const bool two_rows = place.y() + 1 < tiles.height, two_columns = place.x() + 1 < tiles.width;
    float* to = y + (place.image() * tiles.height + place.y()) * row + place.x() * channels + first;
    prefetch_below<write>(to + 2 * row, row, channels + width);
    for (std::size_t c = 0; c < width; c += lanes, to += lanes) {
      const float* from = m + position(layout, tile, c);
      Floats upper[4], lower[4];
      for (std::size_t j = 0; j < 4; ++j) {
        const Floats one = load(from + (4 + j) * layout.plane), two = load(from + (8 + j) * layout.plane);
        upper[j] = load(from + j * layout.plane) + one + two;
        lower[j] = one - two - load(from + (12 + j) * layout.plane);
      }
      store(upper[0] + upper[1] + upper[2], to);
      if (two_columns) store(upper[1] - upper[2] - upper[3], to + channels);
      if (two_rows) store(lower[0] + lower[1] + lower[2], to + row);
      if (two_rows && two_columns) store(lower[1] - lower[2] - lower[3], to + row + channels);
    }
  }
}

void transform_weights(std::size_t in, std::size_t out, std::size_t panel_index, const float* w, float* u) {
  const std::size_t first = panel_index * panel, end = out < first + panel ? out : first + panel;
  for (std::size_t k = first; k < end; k += lanes) {
    for (std::size_t c = 0; c < in; c += lanes) {
      // 8 outputs of 8 inputs, turned so that the outputs are side by side.
      float turned[9][lanes][lanes];
      for (std::size_t i = 0; i < lanes; ++i)
        for (std::size_t tap = 0; tap < 9; ++tap)
          for (std::size_t j = 0; j < lanes; ++j) turned[tap][j][i] = w[((k + i) * 9 + tap) * in + c + j];
      for (std::size_t j = 0; j < lanes; ++j) {
        Floats taps[3][3];
        for (std::size_t tap = 0; tap < 9; ++tap) taps[tap / 3][tap % 3] = load(turned[tap][j]);
        store_weights(taps, in * panel, u + (c + j) * panel + (k - first));
      }
    }
  }
}

void transform_turned_weights(std::size_t in, std::size_t out, std::size_t panel_index, const float* w, float* u) {
  const std::size_t first = panel_index * panel, end = in < first + panel ? in : first + panel;
  for (std::size_t k = 0; k < out; ++k) {
    for (std::size_t c = first; c < end; c += lanes) {
      Floats taps[3][3];
      for (std::size_t tap = 0; tap < 9; ++tap) taps[tap / 3][tap % 3] = load(w + (k * 9 + 8 - tap) * in + c);
      store_weights(taps, out * panel, u + k * panel + (c - first));
    }
  }
}

void multiply(std::size_t tiles, std::size_t depth, std::size_t width, const float* v, Layout v_layout, const float* u,
              float* m, Layout m_layout) {
  // A panel of weights and six rows of inputs stay in the first level cache.
  constexpr std::size_t depth_at_once = 256;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (std::size_t column = 0; column < width; column += panel) {
      const std::size_t vectors = width - column < panel ? 1 : 2;
      const float* weights = u + (column * planes + plane * panel) * depth;
      for (std::size_t from = 0; from < depth; from += depth_at_once) {
        const std::size_t some = depth - from < depth_at_once ? depth - from : depth_at_once;
        for (std::size_t tile = 0; tile < tiles;) {
          const std::size_t rows = next_rows(tiles - tile);
          few<false>(rows, vectors)(some, v + plane * v_layout.plane + tile * v_layout.tile + from, v_layout.tile,
                                    weights + from * panel, m + plane * m_layout.plane + tile * m_layout.tile + column,
                                    m_layout.tile, from != 0);
          tile += rows;
        }
      }
    }
  }
}

void multiply_weights(WeightProduct product, const float* m, std::size_t m_panel, const float* v, std::size_t v_panel,
                      float* du) {
  for (std::size_t column = 0; column < product.columns; column += panel) {
    const std::size_t vectors = product.columns - column < panel ? 1 : 2;
    for (std::size_t first = 0; first < product.rows; first += panel) {
      const std::size_t end = product.rows < first + panel ? product.rows : first + panel;
      for (std::size_t row = first; row < end;) {
        const std::size_t rows = next_rows(end - row);
        few<true>(rows, vectors)(product.tiles, m + first / panel * m_panel + row - first, 0,
                                 v + column / panel * v_panel, du + row * product.stride + column, product.stride,
                                 product.add);
        row += rows;
      }
    }
  }
}

void transform_weight_gradient(std::size_t in, const float* du, std::size_t parts, std::size_t part, std::size_t plane,
                               float* dw) {
  for (std::size_t c = 0; c < in; c += lanes) {
    Floats d[planes];
    for (std::size_t xi = 0; xi < planes; ++xi) {
      d[xi] = load(du + xi * plane + c);
      for (std::size_t p = 1; p < parts; ++p) d[xi] += load(du + p * part + xi * plane + c);
    }
    Floats rows[3][4];
    for (std::size_t j = 0; j < 4; ++j) {
      const Floats sum = (d[4 + j] + d[8 + j]) * 0.5F;
      rows[0][j] = d[j] + sum;
      rows[1][j] = (d[4 + j] - d[8 + j]) * 0.5F;
      rows[2][j] = sum + d[12 + j];
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const Floats sum = (rows[i][1] + rows[i][2]) * 0.5F;
      store(rows[i][0] + sum, dw + (3 * i) * in + c);
      store((rows[i][1] - rows[i][2]) * 0.5F, dw + (3 * i + 1) * in + c);
      store(sum + rows[i][3], dw + (3 * i + 2) * in + c);
    }
  }
}

}  // namespace regroup::winograd
