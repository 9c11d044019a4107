// Any bytes are an image, which can then be resized, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/data/image_file.h"
#include "regroup/data/photo.h"
#include "regroup/data/resize.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  try {
    // Large images are as likely to be wrong as small ones, and take longer.
    const auto told = regroup::image_size(bytes, "fuzz");
    if (told.pixels() > 100'000) return 0;
    const auto image = regroup::decode_image(bytes, "fuzz");
    if (image.size != told || image.pixels.size() != 3 * told.pixels()) std::abort();
    std::vector<std::uint8_t> out(std::size_t{9} * 7 * 3);
    regroup::resize_to_cover(image, {9, 7}, out);
    // What was decoded before leaves no trace.
    static regroup::PhotoScratch scratch;
    static regroup::Image photo;
    regroup::decode_photo(bytes, "fuzz", 7, scratch, photo);
    if (photo.size != regroup::photo_size(told, 7) || photo.pixels.size() != 3 * photo.size.pixels()) std::abort();
  } catch (const regroup::UserError&) {
    return 0;
  }
  return 0;
}
