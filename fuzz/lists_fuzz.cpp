// Any texts are the lists of Clothing1M and of WebVision, or a UserError. The input is the texts one after the other,
// with a line of two dashes between them.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "regroup/core/error.h"
#include "regroup/data/clothing1m.h"
#include "regroup/data/webvision.h"

namespace {

using Texts = std::array<regroup::NamedText, 5>;

Texts split(std::string_view input) {
  constexpr std::string_view between = "\n--\n";
  Texts texts;
  for (auto& text : texts) {
    const auto end = input.find(between);
    text = {"fuzz", std::string(input.substr(0, end))};
    input.remove_prefix(end == std::string_view::npos ? input.size() : end + between.size());
  }
  return texts;
}

void check(const regroup::ListedImages& images, std::int32_t classes) {
  const auto check_list = [&](const std::vector<regroup::ListedImage>& list) {
    if (list.empty()) std::abort();
    for (const auto& image : list) {
      const bool fits = image.label >= 0 && image.label < classes && image.clean >= -1 && image.clean < classes;
      if (!fits || image.path.empty()) std::abort();
    }
  };
  check_list(images.train);
  for (const auto& [name, list] : images.tests) check_list(list);
}

void read_clothing1m(const Texts& texts) {
  const auto images = regroup::clothing1m_images({texts[0], texts[1], texts[2], texts[3], texts[4]});
  check(images, 14);
  if (images.validation.empty()) std::abort();
}

void read_webvision(const Texts& texts) {
  const auto images = regroup::webvision_images(texts[0], texts[1], 1000);
  check(images, 50);
}

void read_names(const Texts& texts) {
  for (const auto& synset : regroup::webvision_synsets(texts[0]))
    if (synset.name.empty() || synset.id.find('/') != std::string::npos) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Texts texts = split({reinterpret_cast<const char*>(data), size});
  for (const auto read : {read_clothing1m, read_webvision, read_names}) {
    try {
      read(texts);
    } catch (const regroup::UserError&) {
      continue;
    }
  }
  return 0;
}
