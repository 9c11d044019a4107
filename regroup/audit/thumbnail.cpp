#include "regroup/audit/thumbnail.h"

#include <fmt/format.h>

#include <algorithm>

#include "regroup/core/parallel.h"

namespace regroup {
namespace {

constexpr std::size_t side = Thumbnail::side, colour_side = Thumbnail::colour_side;

std::uint8_t rounded(double value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

/// Blue and red, less luminance: means over the squares of a 4 by 4 grid.
void average_colour(std::span<const std::uint8_t> rgb, Thumbnail& thumbnail) {
  constexpr std::size_t cell = side / colour_side;
  std::array<double, colour_side * colour_side * 2> sums{};
  for (std::size_t i = 0; i < side * side; ++i) {
    const std::size_t place = i / side / cell * colour_side + i % side / cell;
    const double red = rgb[i * 3], green = rgb[i * 3 + 1], blue = rgb[i * 3 + 2];
    sums[place * 2] += -0.168736 * red - 0.331264 * green + 0.5 * blue;
    sums[place * 2 + 1] += 0.5 * red - 0.418688 * green - 0.081312 * blue;
  }
  std::ranges::transform(sums, thumbnail.colour.begin(), [](double sum) { return rounded(128 + sum / (cell * cell)); });
}

void copy_as_rgb(const SampleView& grey, Image& out) {
  out.reshape({grey.height, grey.width});
  for (std::size_t i = 0; i < grey.size(); ++i)
    std::fill_n(out.pixels.begin() + static_cast<std::ptrdiff_t>(i * 3), 3, grey[i]);
}

}  // namespace

Thumbnail make_thumbnail(const ImageView& picture, ResampleScratch& scratch) {
  std::array<std::uint8_t, side * side * 3> rgb{};
  const Rectangle whole{0, 0, static_cast<double>(picture.size.height), static_cast<double>(picture.size.width)};
  resample(picture, whole, {side, side}, rgb, scratch);
  Thumbnail thumbnail;
  for (std::size_t i = 0; i < side * side; ++i)
    thumbnail.luminance[i] = rounded(0.299 * rgb[i * 3] + 0.587 * rgb[i * 3 + 1] + 0.114 * rgb[i * 3 + 2]);
  average_colour(rgb, thumbnail);
  return thumbnail;
}

std::vector<Thumbnail> read_thumbnails(const SampleSource& source, int threads) {
  const int channels = source.shape().channels;
  if (channels != 1 && channels != 3)
    throw UserError(fmt::format("samples have {} channels; pictures have 1 or 3", channels));
  std::vector<Thumbnail> thumbnails(source.size());
  constexpr std::size_t grain = 64;
  parallel_for(source.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    SampleScratch sample_scratch;
    ResampleScratch scratch;
    Image image;
    for (std::size_t i = begin; i < end; ++i) {
      try {
        const SampleView sample = source.read(static_cast<std::uint32_t>(i), sample_scratch);
        ImageView view(sample.data(), {sample.height, sample.width});
        if (channels == 1) {
          copy_as_rgb(sample, image);
          view = image;
        }
        thumbnails[i] = make_thumbnail(view, scratch);
      } catch (const UnreadableSample&) {
        // The source has told it; a black picture is like no other.
      }
    }
  });
  return thumbnails;
}

}  // namespace regroup
