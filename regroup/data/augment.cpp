#include "regroup/data/augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/core/random.h"
#include "regroup/core/simd.h"
#include "regroup/data/augment_kernels.h"

namespace regroup {
namespace {

const auto normalise_float = REGROUP_BEST_KERNEL(normalise_float);
const auto normalise_bfloat = REGROUP_BEST_KERNEL(normalise_bfloat);
const auto mirror = REGROUP_BEST_KERNEL(mirror);

constexpr int max_channels = 4;

using Histograms = std::array<std::array<std::uint64_t, 256>, max_channels>;

void check_shape(const ImageSet& images) {
  if (images.channels < 1 || images.channels > max_channels)
    throw UserError(fmt::format("images have {} channels; give images of 1 to {}", images.channels, max_channels));
  if (images.count < 0 || images.height < 1 || images.width < 1 ||
      images.pixels.size() != static_cast<std::size_t>(images.count) * images.image_bytes())
    throw std::invalid_argument("an image set's pixels are not as many as its count and size say");
}

Histograms count_values(const ImageSet& images, std::size_t begin, std::size_t end) {
  Histograms counts{};
  const auto channels = static_cast<std::size_t>(images.channels);
  const std::uint8_t* const last = images.pixels.data() + end * images.image_bytes();
  for (const auto* pixel = images.pixels.data() + begin * images.image_bytes(); pixel != last; pixel += channels)
    for (std::size_t c = 0; c < channels; ++c) ++counts[c][pixel[c]];
  return counts;
}

}  // namespace

Normalisation measure_normalisation(const ImageSet& images, int threads) {
  check_shape(images);
  if (images.count == 0) throw UserError("there are no images to measure mean and deviation of; give at least one");
  Histograms counts{};
  std::mutex mutex;
  const std::size_t grain = 1 + (std::size_t{1} << 20) / images.image_bytes();
  parallel_for(static_cast<std::size_t>(images.count), grain, threads, [&](std::size_t begin, std::size_t end) {
    const Histograms part = count_values(images, begin, end);
    const std::lock_guard lock(mutex);
    for (std::size_t c = 0; c < counts.size(); ++c)
      for (std::size_t value = 0; value < 256; ++value) counts[c][value] += part[c][value];
  });

  const double pixels = static_cast<double>(images.pixels.size()) / images.channels;
  Normalisation result;
  for (std::size_t c = 0; c < static_cast<std::size_t>(images.channels); ++c) {
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

/// A pixel of the result at (x, y) comes from (x + right, y + down), or, mirrored, from (width - 1 - x + right, y +
/// down); what lies outside of the image is padding.
struct Augmenter::Change {
  int down = 0;
  int right = 0;
  bool mirrored = false;
};

Augmenter::Augmenter(const ImageSet& images, const Normalisation& normalisation, Augmentation augmentation,
                     PixelType type, std::uint64_t seed)
    : images_(&images), augmentation_(augmentation), type_(type), seed_(seed) {
  check_shape(images);
  if (augmentation.shift < 0 || augmentation.shift >= std::min(images.height, images.width))
    throw UserError(fmt::format("a shift of {} pixels does not suit images of {}x{}; give 0 to {}", augmentation.shift,
                                images.width, images.height, std::min(images.height, images.width) - 1));
  const auto channels = static_cast<std::size_t>(images.channels);
  if (normalisation.mean.size() != channels || normalisation.deviation.size() != channels)
    throw UserError(fmt::format("{} means and {} deviations for images of {} channels; give one of each a channel",
                                normalisation.mean.size(), normalisation.deviation.size(), channels));
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
  }
}

// The first number of a sample's stream is its half for Flip::alternate, where epoch 0 counts for all. Then each view
// has its three in turn; they are drawn whether they are needed or not, so that one choice does not change another.
Augmenter::Change Augmenter::change_of(std::uint32_t sample, std::uint32_t epoch, int view) const {
  if (augmentation_.shift == 0 && augmentation_.flip == Flip::none) return {};
  Stream stream(seed_, Purpose::augment, epoch, sample);
  stream();
  const auto offsets = static_cast<std::uint32_t>(2 * augmentation_.shift + 1);
  Change change;
  for (int v = 0; v <= view; ++v) {
    change.down = static_cast<int>(stream.below(offsets)) - augmentation_.shift;
    change.right = static_cast<int>(stream.below(offsets)) - augmentation_.shift;
    change.mirrored = stream() >> 31;
  }
  if (augmentation_.flip == Flip::none) change.mirrored = false;
  if (augmentation_.flip == Flip::alternate)
    change.mirrored = (Stream(seed_, Purpose::augment, 0, sample)() >> 31) != (epoch & 1U);
  return change;
}

void Augmenter::copy_pixels(const std::uint8_t* from, int pixels, bool mirrored, std::uint8_t* out) const {
  if (mirrored) {
    mirror(from, static_cast<std::size_t>(pixels), images_->channels, out);
  } else {
    std::memcpy(out, from, static_cast<std::size_t>(pixels) * static_cast<std::size_t>(images_->channels));
  }
}

/// A row of the result is a part of the image's row and a padding on one side of it.
void Augmenter::copy_row(const std::uint8_t* row, const Change& change, std::uint8_t* out) const {
  const int width = images_->width;
  const auto at = [&](auto* pixels, int x) { return pixels + std::ptrdiff_t{x} * images_->channels; };
  const int padded = std::abs(change.right);
  const int kept = width - padded;
  const bool padding_first = (change.right < 0) != change.mirrored;
  copy_pixels(at(row, std::max(change.right, 0)), kept, change.mirrored, at(out, padding_first ? padded : 0));

  std::uint8_t* const padding = at(out, padding_first ? 0 : kept);
  if (augmentation_.padding == Padding::zero) {
    std::memset(padding, 0, static_cast<std::size_t>(padded) * static_cast<std::size_t>(images_->channels));
  } else if (padded > 0) {
    const int first = change.right < 0 ? 1 : width - 1 - padded;
    copy_pixels(at(row, first), padded, !change.mirrored, padding);
  }
}

void Augmenter::write(std::uint32_t sample, std::uint32_t epoch, int view, std::byte* out) const {
  if (sample >= static_cast<std::uint32_t>(images_->count) || view < 0)
    throw std::out_of_range(fmt::format("view {} of image {} of {}", view, sample, images_->count));
  const Change change = change_of(sample, epoch, view);
  const auto normalise = type_ == PixelType::float32 ? normalise_float : normalise_bfloat;
  const int height = images_->height;
  const std::size_t row_values = images_->image_bytes() / static_cast<std::size_t>(height);
  const std::size_t row_bytes = row_values * bytes_of(type_);
  const std::uint8_t* const image = images_->pixels.data() + sample * images_->image_bytes();
  for (int y = 0; y < height; ++y, out += row_bytes) {
    // The bytes wait at the end of the room for their row, so that no other memory is needed.
    auto* const bytes = reinterpret_cast<std::uint8_t*>(out + row_bytes - row_values);
    int from = y + change.down;
    const bool outside = from < 0 || from >= height;
    if (outside && augmentation_.padding == Padding::zero) {
      std::memset(bytes, 0, row_values);
    } else {
      if (outside) from = from < 0 ? -from : 2 * (height - 1) - from;
      copy_row(image + static_cast<std::size_t>(from) * row_values, change, bytes);
    }
    normalise(bytes, row_values, scale_.data(), offset_.data(), out);
  }
}

}  // namespace regroup
