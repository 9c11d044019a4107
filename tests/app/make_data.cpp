// Data as users have it, for the tests of the command, as small as can be:
//   make_data photos FOLDER COUNT    three classes of JPEG and PNG files of several sizes, COUNT of each
//   make_data cifar FOLDER           CIFAR-10 and CIFAR-100 in their official layouts, 400 training images each
//   make_data clothing1m FOLDER      Clothing1M in its official layout, 84 training photos
//   make_data webvision FOLDER       WebVision in its official layout, 150 training photos of the first 50 classes,
//   with ILSVRC12
#include <cstdlib>
#include <fstream>
#include <string>

#include "data/image_testing.h"
#include "data/made_releases.h"

namespace {

using regroup::Bytes;

void write(const std::filesystem::path& file, const Bytes& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// A bright disc, stripes or a triangle in front of something blurred.
regroup::Image photo(int kind, regroup::ImageSize size, std::uint32_t number) {
  regroup::Stream random(2, regroup::Purpose::synthetic, static_cast<std::uint32_t>(kind), number);
  regroup::Image image{size, Bytes(size.pixels() * 3)};
  const double centre_x = 0.4 + 0.2 * random.uniform(), centre_y = 0.4 + 0.2 * random.uniform();
  const double tint = random.uniform();
  std::size_t at = 0;
  for (int row = 0; row < size.height; ++row) {
    for (int column = 0; column < size.width; ++column) {
      const double x = static_cast<double>(column) / size.width - centre_x;
      const double y = static_cast<double>(row) / size.height - centre_y;
      const bool inside = kind == 0   ? x * x + y * y < 0.06
                          : kind == 1 ? static_cast<int>(20 * (y + 1)) % 3 == 0
                                      : y > -0.3 && y < 0.3 && std::abs(x) < (y + 0.3) / 2;
      const double shade = inside ? 200 : 60 + 60 * std::abs(x + tint * y);
      for (int channel = 0; channel < 3; ++channel)
        image.pixels[at++] = static_cast<std::uint8_t>(shade + (channel == kind && inside ? 50 : 0) + random.below(6));
    }
  }
  return image;
}

void make_photos(const std::filesystem::path& folder, int count) {
  const char* const names[] = {"hat", "shoes", "dress"};
  const regroup::ImageSize sizes[] = {{533, 400}, {240, 320}, {90, 120}, {150, 150}};
  for (int kind = 0; kind < 3; ++kind) {
    for (int i = 0; i < count; ++i) {
      const auto image = photo(kind, sizes[i % 4], static_cast<std::uint32_t>(i));
      const bool is_png = i % 5 == 4;
      write(folder / names[kind] / fmt::format("photo {}.{}", i, is_png ? "png" : "JPG"),
            is_png ? png_bytes(image) : jpeg_bytes(image));
    }
  }
}

/// Images of noise with a bright row whose place is the class.
Bytes cifar_records(int count, int classes, int label_bytes) {
  constexpr int side = 32;
  Bytes records;
  for (int i = 0; i < count; ++i) {
    regroup::Stream random(3, regroup::Purpose::synthetic, static_cast<std::uint32_t>(classes),
                           static_cast<std::uint32_t>(i));
    for (int b = 0; b < label_bytes; ++b) records.push_back(static_cast<std::uint8_t>(i % classes));
    for (int p = 0; p < 3 * side * side; ++p) {
      const bool bright = p / side % side == 3 * (i % classes % 10) && p % side < 3 * (i % classes / 10 + 1);
      records.push_back(static_cast<std::uint8_t>(random.below(100) + (bright ? 150 : 0)));
    }
  }
  return records;
}

void make_cifar(const std::filesystem::path& folder) {
  for (int batch = 1; batch <= 5; ++batch)
    write(folder / "cifar10" / fmt::format("data_batch_{}.bin", batch), cifar_records(80, 10, 1));
  write(folder / "cifar10/test_batch.bin", cifar_records(40, 10, 1));
  write(folder / "cifar100/train.bin", cifar_records(400, 100, 2));
  write(folder / "cifar100/test.bin", cifar_records(100, 100, 2));
}

regroup::WriteFile files_in(const std::filesystem::path& folder) {
  return [folder](const std::string& name, const Bytes& content) { write(folder / name, content); };
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "photos" && argc == 4) {
    make_photos(argv[2], std::atoi(argv[3]));
  } else if (what == "cifar") {
    make_cifar(argv[2]);
  } else if (what == "clothing1m") {
    regroup::write_clothing1m(files_in(argv[2]));
  } else if (what == "webvision") {
    regroup::write_webvision(files_in(argv[2]), {.train = 3, .test = 1});
  } else {
    return 2;
  }
}
