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

SampleShape checked_shape(const SampleSource& images) {
  const SampleShape shape = images.shape();
  if (shape.channels < 1 || shape.channels > max_channels)
    throw UserError(fmt::format("images have {} channels; give images of 1 to {}", shape.channels, max_channels));
  return shape;
}

Histograms count_values(const SampleSource& images, std::size_t begin, std::size_t end) {
  Histograms counts{};
  const auto channels = static_cast<std::size_t>(images.shape().channels);
  std::vector<std::uint8_t> scratch;
  for (std::size_t i = begin; i < end; ++i) {
    const auto values = images.read(static_cast<std::uint32_t>(i), scratch);
    for (std::size_t pixel = 0; pixel < values.size(); pixel += channels)
      for (std::size_t c = 0; c < channels; ++c) ++counts[c][values[pixel + c]];
  }
  return counts;
}

}  // namespace

Normalisation measure_normalisation(const SampleSource& images, int threads) {
  const SampleShape shape = checked_shape(images);
  if (images.size() == 0) throw UserError("there are no images to measure mean and deviation of; give at least one");
  Histograms counts{};
  std::mutex mutex;
  const std::size_t grain = 1 + (std::size_t{1} << 20) / shape.bytes();
  parallel_for(images.size(), grain, threads, [&](std::size_t begin, std::size_t end) {
    const Histograms part = count_values(images, begin, end);
    const std::lock_guard lock(mutex);
    for (std::size_t c = 0; c < counts.size(); ++c)
      for (std::size_t value = 0; value < 256; ++value) counts[c][value] += part[c][value];
  });

  const double pixels = static_cast<double>(images.size()) * shape.height * shape.width;
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

/// A pixel of the result at (x, y) comes from (x + right, y + down), or, mirrored, from (width - 1 - x + right, y +
/// down); what lies outside of the image is padding.
struct Augmenter::Change {
  int down = 0;
  int right = 0;
  bool mirrored = false;
};

Augmenter::Augmenter(const SampleSource& images, const Normalisation& normalisation, PixelType type, std::uint64_t seed)
    : images_(&images), shape_(checked_shape(images)), type_(type), seed_(seed) {
  const auto channels = static_cast<std::size_t>(shape_.channels);
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

void Augmenter::check(const Augmentation& augmentation) const {
  if (augmentation.shift < 0 || augmentation.shift >= std::min(shape_.height, shape_.width))
    throw UserError(fmt::format("a shift of {} pixels does not suit images of {}x{}; give 0 to {}", augmentation.shift,
                                shape_.width, shape_.height, std::min(shape_.height, shape_.width) - 1));
}

// The first number of a sample's stream is its half for Flip::alternate, where epoch 0 counts for all. Then each view
// has its three in turn; they are drawn whether they are needed or not, so that one choice does not change another.
Augmenter::Change Augmenter::change_of(const Augmentation& augmentation, std::uint32_t sample, std::uint32_t epoch,
                                       std::size_t view) const {
  if (augmentation.shift == 0 && augmentation.flip == Flip::none) return {};
  Stream stream(seed_, Purpose::augment, epoch, sample);
  stream();
  const auto offsets = static_cast<std::uint32_t>(2 * augmentation.shift + 1);
  Change change;
  for (std::size_t v = 0; v <= view; ++v) {
    change.down = static_cast<int>(stream.below(offsets)) - augmentation.shift;
    change.right = static_cast<int>(stream.below(offsets)) - augmentation.shift;
    change.mirrored = stream() >> 31;
  }
  if (augmentation.flip == Flip::none) change.mirrored = false;
  if (augmentation.flip == Flip::alternate)
    change.mirrored = (Stream(seed_, Purpose::augment, 0, sample)() >> 31) != (epoch & 1U);
  return change;
}

void Augmenter::copy_pixels(const std::uint8_t* from, int pixels, bool mirrored, std::uint8_t* out) const {
  if (mirrored) {
    mirror(from, static_cast<std::size_t>(pixels), shape_.channels, out);
  } else {
    std::memcpy(out, from, static_cast<std::size_t>(pixels) * static_cast<std::size_t>(shape_.channels));
  }
}

/// A row of the result is a part of the image's row and a padding on one side of it.
void Augmenter::copy_row(const std::uint8_t* row, const Change& change, Padding padding, std::uint8_t* out) const {
  const int width = shape_.width;
  const auto at = [&](auto* pixels, int x) { return pixels + std::ptrdiff_t{x} * shape_.channels; };
  const int padded = std::abs(change.right);
  const int kept = width - padded;
  const bool padding_first = (change.right < 0) != change.mirrored;
  copy_pixels(at(row, std::max(change.right, 0)), kept, change.mirrored, at(out, padding_first ? padded : 0));

  std::uint8_t* const rest = at(out, padding_first ? 0 : kept);
  if (padding == Padding::zero) {
    std::memset(rest, 0, static_cast<std::size_t>(padded) * static_cast<std::size_t>(shape_.channels));
  } else if (padded > 0) {
    const int first = change.right < 0 ? 1 : width - 1 - padded;
    copy_pixels(at(row, first), padded, !change.mirrored, rest);
  }
}

void Augmenter::write(std::uint32_t sample, std::uint32_t epoch, std::span<const Augmentation> views,
                      std::span<std::byte* const> out, std::vector<std::uint8_t>& scratch) const {
  if (views.size() != out.size()) throw std::invalid_argument("not as many places for views as there are views");
  const std::uint8_t* const image = images_->read(sample, scratch).data();
  for (std::size_t v = 0; v < views.size(); ++v) {
    check(views[v]);
    write_view(image, change_of(views[v], sample, epoch, v), views[v].padding, out[v]);
  }
}

void Augmenter::write_view(const std::uint8_t* image, const Change& change, Padding padding, std::byte* out) const {
  const auto normalise = type_ == PixelType::float32 ? normalise_float : normalise_bfloat;
  const int height = shape_.height;
  const std::size_t row_values = shape_.bytes() / static_cast<std::size_t>(height);
  const std::size_t row_bytes = row_values * bytes_of(type_);
  for (int y = 0; y < height; ++y, out += row_bytes) {
    // The bytes wait at the end of the room for their row, so that no other memory is needed.
    auto* const bytes = reinterpret_cast<std::uint8_t*>(out + row_bytes - row_values);
    int from = y + change.down;
    const bool outside = from < 0 || from >= height;
    if (outside && padding == Padding::zero) {
      std::memset(bytes, 0, row_values);
    } else {
      if (outside) from = from < 0 ? -from : 2 * (height - 1) - from;
      copy_row(image + static_cast<std::size_t>(from) * row_values, change, padding, bytes);
    }
    normalise(bytes, row_values, scale_.data(), offset_.data(), out);
  }
}

}  // namespace regroup
