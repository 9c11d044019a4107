#include "regroup/data/augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/data/augment_kernels.h"
#include "regroup/data/vectors.h"

namespace regroup {
namespace {

const auto normalise_float = REGROUP_BEST_KERNEL(normalise_float);
const auto normalise_bfloat = REGROUP_BEST_KERNEL(normalise_bfloat);
const auto mirror = REGROUP_BEST_KERNEL(mirror);

constexpr int max_channels = 4;

using Histograms = std::array<std::array<std::uint64_t, 256>, max_channels>;

SampleShape checked_shape(const SampleSource& images) {
  const SampleShape shape = images.shape();
  if (shape.is_vector) return shape;
  if (shape.channels < 1 || shape.channels > max_channels)
    throw UserError(fmt::format("images have {} channels; give images of 1 to {}", shape.channels, max_channels));
  return shape;
}

/// Of the middle of the samples number begin * stride, ... (end - 1) * stride.
Histograms count_values(const SampleSource& images, std::size_t begin, std::size_t end, std::size_t stride) {
  Histograms counts{};
  const SampleShape shape = images.shape();
  const auto channels = static_cast<std::size_t>(shape.channels);
  SampleScratch scratch;
  std::vector<std::uint8_t> values(shape.values());
  for (std::size_t i = begin; i < end; ++i) {
    try {
      copy_middle(images.read(static_cast<std::uint32_t>(i * stride), scratch), shape, values);
    } catch (const UnreadableSample&) {
      continue;
    }
    for (std::size_t pixel = 0; pixel < values.size(); pixel += channels)
      for (std::size_t c = 0; c < channels; ++c) ++counts[c][values[pixel + c]];
  }
  return counts;
}

}  // namespace

Normalisation measure_normalisation(const SampleSource& images, int threads) {
  if (images.shape().is_vector) return measure_vectors(images, threads);
  const SampleShape shape = checked_shape(images);
  if (images.size() == 0) throw UserError("there are no images to measure mean and deviation of; give at least one");
  Histograms counts{};
  std::mutex mutex;
  constexpr std::size_t enough_decoded = 2000;
  const std::size_t stride = images.decodes() ? 1 + (images.size() - 1) / enough_decoded : 1;
  const std::size_t looks = 1 + (images.size() - 1) / stride;
  const std::size_t grain = 1 + (std::size_t{1} << 20) / shape.values();
  parallel_for(looks, grain, threads, [&](std::size_t begin, std::size_t end) {
    const Histograms part = count_values(images, begin, end, stride);
    const std::lock_guard lock(mutex);
    for (std::size_t c = 0; c < counts.size(); ++c)
      for (std::size_t value = 0; value < 256; ++value) counts[c][value] += part[c][value];
  });

  const auto pixels = static_cast<double>(std::accumulate(counts[0].begin(), counts[0].end(), std::uint64_t{0}));
  if (pixels == 0) throw UserError("none of the images can be read to measure their mean and deviation");
  Normalisation result;
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.channels); ++c) {
    std::uint64_t sum = 0;
    for (std::size_t value = 0; value < 256; ++value) sum += value * counts[c][value];
    const double mean = static_cast<double>(sum) / pixels;
    double squares = 0;
    for (std::size_t value = 0; value < 256; ++value)
      squares += static_cast<double>(counts[c][value]) * std::pow(static_cast<double>(value) - mean, 2);
    const bool varies = std::count(counts[c].begin(), counts[c].end(), 0U) < 255;
    result.mean.push_back(static_cast<float>(mean / 255));
    result.deviation.push_back(varies ? static_cast<float>(std::sqrt(squares / pixels) / 255) : 1.0F);
  }
  return result;
}

/// What a view shows of an image: from (left, top) on, a part as large as the view, unscaled; outside of the image is
/// padding. Or, where `part` has a size, that part, scaled. Either may be mirrored.
struct Augmenter::Cut {
  int top = 0;
  int left = 0;
  bool mirrored = false;
  Rectangle part = {};

  bool is_scaled() const { return part.height > 0; }
};

Augmenter::Augmenter(const SampleSource& images, const Normalisation& normalisation, PixelType type, std::uint64_t seed)
    : images_(&images), shape_(checked_shape(images)), type_(type), seed_(seed) {
  const auto channels = static_cast<std::size_t>(shape_.channels);
  if (normalisation.mean.size() != channels || normalisation.deviation.size() != channels)
    throw UserError(fmt::format("{} means and {} deviations for images of {} channels; give one of each a channel",
                                normalisation.mean.size(), normalisation.deviation.size(), channels));
  if (shape_.is_vector) {
    prepare_vectors(normalisation);
    return;
  }
  static_assert(std::tuple_size_v<decltype(scale_)> == channel_period);
  for (std::size_t i = 0; i < channel_period; ++i) {
    const double mean = normalisation.mean[i % channels];
    const double deviation = normalisation.deviation[i % channels];
    // Beyond this, normalised pixels would come near the largest float.
    if (!std::isfinite(deviation) || deviation <= 0 || !((1 + std::abs(mean)) / deviation < 1e30))
      throw UserError(fmt::format(
          "channel {} cannot be normalised by mean {} and deviation {}; give finite numbers, the deviation positive",
          i % channels, mean, deviation));
    scale_[i] = static_cast<float>(1 / (255 * deviation));
    offset_[i] = static_cast<float>(-mean / deviation);
    if (i < channels) mean_colour_[i] = static_cast<std::uint8_t>(std::clamp(255 * mean + 0.5, 0.0, 255.0));
  }
}

void Augmenter::prepare_vectors(const Normalisation& normalisation) {
  for (std::size_t i = 0; i < normalisation.mean.size(); ++i) {
    const float mean = normalisation.mean[i], deviation = normalisation.deviation[i];
    if (!std::isfinite(mean) || !std::isfinite(deviation) || deviation <= 0)
      throw UserError(fmt::format(
          "number {} cannot be normalised by mean {} and deviation {}; give finite numbers, the deviation positive", i,
          mean, deviation));
    number_scale_.push_back(1 / deviation);
    number_offset_.push_back(-mean / deviation);
  }
}

void Augmenter::check(const Augmentation& augmentation) const {
  if (shape_.is_vector) return;
  if (augmentation.shift < 0 || augmentation.shift >= std::min(shape_.height, shape_.width))
    throw UserError(fmt::format("a shift of {} pixels does not suit images of {}x{}; give 0 to {}", augmentation.shift,
                                shape_.width, shape_.height, std::min(shape_.height, shape_.width) - 1));
  if (augmentation.crop == Crop::resized && shape_.channels != 3)
    throw UserError("resized crops are for colour images, and these are grey; give --crop shift or random");
}

namespace {

/// Tells the numbers of a view from those of the others; seeds of runs are below 2^53.
std::uint64_t seed_of_view(std::uint64_t seed, std::size_t view) { return seed ^ (std::uint64_t{view} << 56); }

/// A share of the image's area and a ratio of width to height between 3:4 and 4:3, drawn until such a part fits.
Rectangle draw_part(const SampleView& image, double smallest, Stream& stream) {
  constexpr int attempts = 10;
  const double area = static_cast<double>(image.height) * image.width;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const double share = smallest + (1 - smallest) * stream.uniform();
    const double ratio = std::exp((2 * stream.uniform() - 1) * std::log(4.0 / 3));
    const double width = std::sqrt(area * share * ratio), height = std::sqrt(area * share / ratio);
    const double down = stream.uniform(), right = stream.uniform();
    if (width <= image.width && height <= image.height)
      return {down * (image.height - height), right * (image.width - width), height, width};
  }
  const double side = std::min(image.height, image.width);
  return {(image.height - side) / 2, (image.width - side) / 2, side, side};
}

}  // namespace

// The first number of a sample's stream is its half for Flip::alternate, where epoch 0 counts for all. Then each view
// has its three in turn; they are drawn whether they are needed or not, so that one choice does not change another.
// What came later to augmentation has a stream of its own per view, `more`.
Augmenter::Cut Augmenter::cut_of(const Augmentation& augmentation, const SampleView& image, std::uint32_t sample,
                                 std::uint32_t epoch, std::size_t view, Stream& more) const {
  Cut cut{(image.height - shape_.height) / 2, (image.width - shape_.width) / 2};
  if (augmentation.shift == 0 && augmentation.flip == Flip::none && augmentation.crop == Crop::shift) return cut;
  Stream stream(seed_, Purpose::augment, epoch, sample);
  stream();
  const auto offsets = static_cast<std::uint32_t>(2 * augmentation.shift + 1);
  int down = 0, right = 0;
  for (std::size_t v = 0; v <= view; ++v) {
    down = static_cast<int>(stream.below(offsets)) - augmentation.shift;
    right = static_cast<int>(stream.below(offsets)) - augmentation.shift;
    cut.mirrored = stream() >> 31;
  }
  if (augmentation.flip == Flip::none) cut.mirrored = false;
  if (augmentation.flip == Flip::alternate)
    cut.mirrored = (Stream(seed_, Purpose::augment, 0, sample)() >> 31) != (epoch & 1U);
  switch (augmentation.crop) {
    case Crop::shift:
      cut.top += down;
      cut.left += right;
      break;
    case Crop::random:
      cut.top = static_cast<int>(more.below(static_cast<std::uint32_t>(image.height - shape_.height + 1)));
      cut.left = static_cast<int>(more.below(static_cast<std::uint32_t>(image.width - shape_.width + 1)));
      break;
    case Crop::resized:
      cut.part = draw_part(image, augmentation.smallest_part, more);
      break;
  }
  return cut;
}

void Augmenter::copy_pixels(const std::uint8_t* from, int pixels, bool mirrored, std::uint8_t* out) const {
  if (mirrored) {
    mirror(from, static_cast<std::size_t>(pixels), shape_.channels, out);
  } else {
    std::memcpy(out, from, static_cast<std::size_t>(pixels) * static_cast<std::size_t>(shape_.channels));
  }
}

/// Row y of the view is a part of a row of the image, and a padding on at most one side of it, since images are not
/// smaller than views.
void Augmenter::copy_row(const SampleView& image, int y, const Cut& cut, Padding padding, std::uint8_t* out) const {
  const auto at = [&](auto* pixels, int x) { return pixels + std::ptrdiff_t{x} * shape_.channels; };
  int from = cut.top + y;
  if (from < 0 || from >= image.height) {
    if (padding == Padding::zero) {
      std::memset(out, 0, static_cast<std::size_t>(shape_.width) * static_cast<std::size_t>(shape_.channels));
      return;
    }
    from = from < 0 ? -from : 2 * (image.height - 1) - from;
  }
  const std::uint8_t* const row = image.data() + std::ptrdiff_t{from} * image.width * shape_.channels;
  const int before = std::max(-cut.left, 0), behind = std::max(cut.left + shape_.width - image.width, 0);
  const int padded = before + behind, kept = shape_.width - padded;
  const bool padding_first = (before > 0) != cut.mirrored;
  copy_pixels(at(row, std::max(cut.left, 0)), kept, cut.mirrored, at(out, padding_first ? padded : 0));
  if (padded == 0) return;

  std::uint8_t* const rest = at(out, padding_first ? 0 : kept);
  if (padding == Padding::zero) {
    std::memset(rest, 0, static_cast<std::size_t>(padded) * static_cast<std::size_t>(shape_.channels));
  } else {
    copy_pixels(at(row, before > 0 ? 1 : image.width - 1 - padded), padded, !cut.mirrored, rest);
  }
}

bool Augmenter::write(std::uint32_t sample, std::uint32_t epoch, std::span<const Augmentation> views,
                      std::span<std::byte* const> out, Scratch& scratch) const {
  if (views.size() != out.size()) throw std::invalid_argument("not as many places for views as there are views");
  try {
    const SampleView image = images_->read(sample, scratch.sample);
    if (shape_.is_vector) {
      for (std::byte* view : out) {
        if (type_ == PixelType::float32) {
          standardise(image, number_scale_, number_offset_, {reinterpret_cast<float*>(view), shape_.values()});
        } else {
          standardise_rounded(image, number_scale_, number_offset_,
                              {reinterpret_cast<std::uint16_t*>(view), shape_.values()});
        }
      }
      return true;
    }
    for (std::size_t v = 0; v < views.size(); ++v) {
      check(views[v]);
      Stream more(seed_of_view(seed_, v), Purpose::distort, epoch, sample);
      const Cut cut = cut_of(views[v], image, sample, epoch, v, more);
      write_view(image, views[v], cut, more, out[v], scratch);
    }
  } catch (const UnreadableSample&) {
    return false;
  }
  return true;
}

void Augmenter::write_view(const SampleView& image, const Augmentation& augmentation, const Cut& cut, Stream& more,
                           std::byte* out, Scratch& scratch) const {
  const auto normalise = type_ == PixelType::float32 ? normalise_float : normalise_bfloat;
  const std::size_t row_values = shape_.values() / static_cast<std::size_t>(shape_.height);
  const std::size_t row_bytes = row_values * bytes_of(type_);
  const bool in_one_pass = !cut.is_scaled() && !augmentation.distortion.any();
  if (!in_one_pass) {
    scratch.view.resize(shape_.values());
    if (cut.is_scaled()) {
      scale_part(image, cut, scratch);
    } else {
      for (int y = 0; y < shape_.height; ++y)
        copy_row(image, y, cut, augmentation.padding, &scratch.view[static_cast<std::size_t>(y) * row_values]);
    }
    distort({scratch.view, shape_.channels, shape_.height, shape_.width}, augmentation.distortion, mean_colour_, more,
            scratch.more);
  }
  for (int y = 0; y < shape_.height; ++y, out += row_bytes) {
    // The bytes wait at the end of the room for their row, so that no other memory is needed.
    auto* const bytes = reinterpret_cast<std::uint8_t*>(out + row_bytes - row_values);
    if (in_one_pass) {
      copy_row(image, y, cut, augmentation.padding, bytes);
    } else {
      std::memcpy(bytes, &scratch.view[static_cast<std::size_t>(y) * row_values], row_values);
    }
    normalise(bytes, row_values, scale_.data(), offset_.data(), out);
  }
}

void Augmenter::scale_part(const SampleView& image, const Cut& cut, Scratch& scratch) const {
  const std::size_t row_values = shape_.values() / static_cast<std::size_t>(shape_.height);
  resample({image.data(), {image.height, image.width}}, cut.part, {shape_.height, shape_.width}, scratch.view,
           scratch.resample);
  if (!cut.mirrored) return;
  scratch.more.resize(row_values);
  for (int y = 0; y < shape_.height; ++y) {
    std::uint8_t* const row = &scratch.view[static_cast<std::size_t>(y) * row_values];
    std::memcpy(scratch.more.data(), row, row_values);
    mirror(scratch.more.data(), static_cast<std::size_t>(shape_.width), shape_.channels, row);
  }
}

}  // namespace regroup
