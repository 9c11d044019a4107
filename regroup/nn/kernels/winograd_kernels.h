#pragma once

#include <cstddef>

/// The inner loops of winograd.h, compiled with AVX2 and FMA: call them only where the processor has both.
namespace regroup::winograd {

/// Channels stand in panels of so many; the last may have half as many.
inline constexpr std::size_t panel = 16;

/// The 4x4 values of a transformed tile are 16 planes.
inline constexpr std::size_t planes = 16;

/// The tiles begin .. end of images with their channels last. A tile is 2x2 pixels; tiles are counted along the rows of
/// an image, then down, then from image to image, and those at the right and the lower end may stand out.
struct Tiles {
  std::size_t begin, end;
  std::size_t height, width, channels;
};

/// Value xi of channel c of the tile number t after `begin` stands at
/// xi * plane + t * tile + c / panel * channel_panel + c % panel.
struct Layout {
  std::size_t plane, tile, channel_panel;
};

/// v = B^T x B for the 4x4 pixels around each tile.
void transform_input(Tiles tiles, const float* x, Layout layout, float* v);

/// m = A dy A^T for the 2x2 pixels of each tile.
void transform_gradient(Tiles tiles, const float* dy, Layout layout, float* m);

/// y = A^T m A into the channels first .. first + width of the tiles' pixels.
void transform_output(Tiles tiles, std::size_t first, std::size_t width, const float* m, Layout layout, float* y);

/// u = G w G^T for the weights [out][3][3][in] and the output channels of one panel, as [16 planes][in][panel].
void transform_weights(std::size_t in, std::size_t out, std::size_t panel_index, const float* w, float* u);

/// The same for the way back, where inputs and outputs change places and the weights are turned by 180 degrees: the
/// input channels of one panel, as [16 planes][out][panel].
void transform_turned_weights(std::size_t in, std::size_t out, std::size_t panel_index, const float* w, float* u);

/// m = v u in every plane for `width` output channels, the panels at u, u + 16 * depth * panel, ...
void multiply(std::size_t tiles, std::size_t depth, std::size_t width, const float* v, Layout v_layout, const float* u,
              float* m, Layout m_layout);

/// du (+)= m^T v over so many tiles, for `rows` channels of m and `columns` channels of v in one plane; both in panels
/// whose tiles are `panel` apart. The rows of du are `stride` apart.
struct WeightProduct {
  std::size_t tiles, rows, columns, stride;
  bool add;
};
void multiply_weights(WeightProduct product, const float* m, std::size_t m_panel, const float* v, std::size_t v_panel,
                      float* du);

/// dw = G^T du G for one output channel, where du is the sum of `parts`, each `part` apart; a part's planes are `plane`
/// apart.
void transform_weight_gradient(std::size_t in, const float* du, std::size_t parts, std::size_t part, std::size_t plane,
                               float* dw);

}  // namespace regroup::winograd
