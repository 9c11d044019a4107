#include "regroup/data/image_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "image_testing.h"

namespace regroup {
namespace {

std::string error_of(const Bytes& bytes) {
  return user_error([&] { decode_image(bytes, "f"); });
}

bool starts_and_ends(const std::string& text, const std::string& start, const std::string& end) {
  return text.starts_with(start) && text.ends_with(end);
}

/// The largest difference of a value.
int distance(const Bytes& a, const Bytes& b) {
  if (a.size() != b.size()) return 256;
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(int{a[i]} - int{b[i]}));
  return largest;
}

TEST(Png, IsDecodedExactly) {
  for (const ImageSize size : {ImageSize{1, 1}, ImageSize{5, 7}, ImageSize{40, 3}}) {
    const auto image = random_image(size, 1);
    const auto bytes = png_bytes(image);
    EXPECT_EQ(image_size(bytes, "f"), size);
    const auto decoded = decode_image(bytes, "f");
    EXPECT_EQ(decoded.size, size);
    EXPECT_EQ(decoded.pixels, image.pixels);
  }
}

TEST(Png, EveryKindOfPixelBecomesRgb) {
  // One bit of grey: white, black, white.
  EXPECT_EQ(decode_image(png_file({1, 3}, 1, 0, {0, 0b10100000}), "f").pixels,
            (Bytes{255, 255, 255, 0, 0, 0, 255, 255, 255}));
  // 16 bits of grey are rounded, not cut: 0x00ff is nearer to 0x0101, which is 1.
  EXPECT_EQ(decode_image(png_file({1, 2}, 16, 0, {0, 0x00, 0xff, 0x12, 0x34}), "f").pixels,
            (Bytes{1, 1, 1, 0x12, 0x12, 0x12}));
}

TEST(Png, WhatIsTransparentShowsWhite) {
  // 255 - (255 - value) * alpha / 255, for every depth that has an alpha channel.
  EXPECT_EQ(decode_image(png_file({1, 3}, 8, 6, {0, 1, 2, 3, 0, 4, 5, 6, 255, 0, 100, 255, 51}), "f").pixels,
            (Bytes{255, 255, 255, 4, 5, 6, 204, 224, 255}));
  EXPECT_EQ(decode_image(png_file({1, 3}, 8, 4, {0, 9, 0, 9, 255, 0, 51}), "f").pixels,
            (Bytes{255, 255, 255, 9, 9, 9, 204, 204, 204}));
  const Bytes deep = {0, 0, 0, 0, 0, 0, 0, 0x33, 0x33, 0x12, 0x12, 0x34, 0x34, 0x56, 0x56, 0xff, 0xff};
  // The library rounds down.
  EXPECT_EQ(decode_image(png_file({1, 2}, 16, 6, deep), "f").pixels, (Bytes{203, 203, 203, 0x12, 0x34, 0x56}));
  EXPECT_EQ(decode_image(png_file({1, 2}, 16, 4, {0, 0, 0, 0x33, 0x33, 0x12, 0x12, 0xff, 0xff}), "f").pixels,
            (Bytes{203, 203, 203, 0x12, 0x12, 0x12}));
  const auto palette = png_chunk("PLTE", {10, 20, 30, 40, 50, 60, 0, 100, 255}) + png_chunk("tRNS", {0, 255, 51});
  EXPECT_EQ(decode_image(png_file({3, 1}, 8, 3, {0, 1, 0, 0, 0, 2}, palette), "f").pixels,
            (Bytes{40, 50, 60, 255, 255, 255, 204, 224, 255}));
  // One colour that is declared transparent.
  EXPECT_EQ(
      decode_image(png_file({1, 2}, 8, 2, {0, 1, 2, 3, 1, 2, 4}, png_chunk("tRNS", {0, 1, 0, 2, 0, 3})), "f").pixels,
      (Bytes{255, 255, 255, 1, 2, 4}));
  EXPECT_EQ(decode_image(png_file({1, 2}, 8, 0, {0, 7, 8}, png_chunk("tRNS", {0, 7})), "f").pixels,
            (Bytes{255, 255, 255, 8, 8, 8}));
}

TEST(Png, InterlacedImagesAreReadAsWell) {
  const auto image = random_image({11, 9}, 2);
  const auto pixel = [&](int y, int x) { return image.pixels.begin() + (y * 9 + x) * 3; };
  // Adam7: the passes' first row and column, and their steps.
  const int passes[7][4] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                            {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
  Bytes rows;
  for (const auto& pass : passes) {
    for (int y = pass[0]; y < 11; y += pass[2]) {
      rows.push_back(0);
      for (int x = pass[1]; x < 9; x += pass[3]) rows.insert(rows.end(), pixel(y, x), pixel(y, x) + 3);
    }
  }
  EXPECT_EQ(decode_image(png_file(image.size, 8, 2, rows, {}, true), "f").pixels, image.pixels);
}

TEST(Png, GammaAndOtherChunksChangeNothing) {
  const Bytes row = {0, 100, 150, 200};
  const auto more = png_chunk("gAMA", {0, 1, 0x86, 0xa0}) + png_chunk("tEXt", {'a', 0, 'b'}) + png_chunk("zzZz", {7});
  EXPECT_EQ(decode_image(png_file({1, 1}, 8, 2, row, more), "f").pixels, (Bytes{100, 150, 200}));
}

TEST(Png, AnyCutAndAnyFlippedBitIsAnError) {
  const auto bytes = png_bytes(random_image({4, 5}, 3));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_NE(error_of(first_bytes(bytes, size)), "no UserError was thrown") << size;
  EXPECT_EQ(error_of(first_bytes(bytes, bytes.size() - 20)),
            "f: damaged PNG file (it ends too early); fetch or remove it");
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    ASSERT_NE(error_of(flipped), "no UserError was thrown") << bit;
  }
}

TEST(Jpeg, IsDecodedUpToItsLoss) {
  for (const bool progressive : {false, true}) {
    const auto image = plain_image({19, 30}, 200, 100, 50);
    const auto bytes = jpeg_bytes(image, progressive);
    EXPECT_EQ(image_size(bytes, "f"), image.size);
    const auto decoded = decode_image(bytes, "f");
    EXPECT_EQ(decoded.size, image.size);
    EXPECT_LE(distance(decoded.pixels, image.pixels), 3);
  }
}

TEST(Jpeg, GreyAndInksBecomeRgb) {
  EXPECT_LE(distance(decode_image(jpeg_bytes({8, 8}, 1, Bytes(64, 77)), "f").pixels, Bytes(192, 77)), 1);
  Bytes inks;
  for (int i = 0; i < 64; ++i) inks.insert(inks.end(), {200, 100, 40, 150});
  // libjpeg marks four channels as Adobe's, which are inverted: colour * black / 255.
  EXPECT_LE(distance(decode_image(jpeg_bytes({8, 8}, 4, inks), "f").pixels, plain_image({8, 8}, 118, 59, 24).pixels),
            2);
}

TEST(Jpeg, AnyCutIsAnError) {
  for (const bool progressive : {false, true}) {
    const auto bytes = jpeg_bytes(random_image({16, 24}, 4), progressive);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      ASSERT_NE(error_of(first_bytes(bytes, size)), "no UserError was thrown") << size;
  }
}

TEST(Jpeg, DamageThatTheLibraryWouldGuessOverIsAnError) {
  auto bytes = jpeg_bytes(random_image({64, 64}, 5));
  // A marker in the middle of the data, where there should be none.
  bytes[bytes.size() / 2] = 0xff;
  bytes[bytes.size() / 2 + 1] = 0xd9;
  EXPECT_TRUE(starts_and_ends(error_of(bytes), "f: damaged JPEG file (", "); fetch or remove it")) << error_of(bytes);
}

TEST(Jpeg, ScansWithoutEndAreAnError) {
  // A scan for each of the 63 frequencies and each of four bits is allowed by the format, and slow.
  std::vector<jpeg_scan_info> scans{{1, {0}, 0, 0, 0, 0}};
  for (int frequency = 1; frequency < 64; ++frequency) {
    scans.push_back({1, {0}, frequency, frequency, 0, 3});
    for (const int bit : {3, 2, 1}) scans.push_back({1, {0}, frequency, frequency, bit, bit - 1});
  }
  const Bytes grey(64, 7);
  EXPECT_EQ(error_of(jpeg_bytes({8, 8}, 1, grey, true, scans)),
            "f: damaged JPEG file (more than 200 scans); fetch or remove it");
  scans.resize(200);
  EXPECT_LE(distance(decode_image(jpeg_bytes({8, 8}, 1, grey, true, scans), "f").pixels, Bytes(192, 7)), 1);
}

TEST(ImageFile, TheContentTellsTheTypeAndNotTheName) {
  const TemporaryFolder folder;
  const auto image = random_image({3, 2}, 6);
  const auto file = folder.write("png.jpg", png_bytes(image));
  EXPECT_EQ(read_image(file).pixels, image.pixels);
  EXPECT_EQ(read_image_size(file), image.size);
  const auto text = folder.write("text.png", std::string("<html>"));
  EXPECT_EQ(user_error([&] { read_image_size(text); }),
            text.string() + ": neither a JPEG, a PNG nor a WebP file; convert or remove it");
  const auto empty = folder.write("empty.png", Bytes{});
  EXPECT_EQ(user_error([&] { read_image(empty); }),
            empty.string() + ": neither a JPEG, a PNG nor a WebP file; convert or remove it");
}

TEST(ImageFile, OtherFormatsAreCalledByTheirNames) {
  const std::pair<std::string, std::string> starts[] = {{"GIF", "GIF89a"},
                                                        {"TIFF", std::string("II*\0\x08", 5)},
                                                        {"TIFF", std::string("MM\0*\0", 5)},
                                                        {"BMP", std::string("BMabcd\0\0\0\0\x36", 11)},
                                                        {"HEIC", std::string("\0\0\0\x18"
                                                                             "ftypheic",
                                                                             12)},
                                                        {"HEIC", std::string("\0\0\0\x18"
                                                                             "ftypmif1",
                                                                             12)},
                                                        {"AVIF", std::string("\0\0\0\x1c"
                                                                             "ftypavif",
                                                                             12)},
                                                        {"JPEG XL", "\xFF\x0A"},
                                                        {"JPEG 2000", std::string("\0\0\0\x0CjP  \r\n", 10)}};
  for (const auto& [format, start] : starts)
    EXPECT_EQ(error_of(Bytes(start.begin(), start.end())),
              "f: a " + format + " file; convert it to JPEG, PNG or WebP, or remove it");
}

TEST(ImageFile, AFileThatWasCutIsFoundWithoutDecodingIt) {
  const TemporaryFolder folder;
  const auto image = random_image({40, 60}, 7);
  for (const auto& [kind, bytes] : {std::pair{"PNG", png_bytes(image)}, {"JPEG", jpeg_bytes(image)}}) {
    const auto file = folder.path() / "f";
    folder.write("f", bytes);
    EXPECT_EQ(check_image_file(file), image.size);
    // Somebody put a film behind the picture.
    folder.write("f", bytes + Bytes(100'000, 7));
    EXPECT_EQ(check_image_file(file), image.size);
    for (const std::size_t missing : {1U, 2U, 3U, 100U}) {
      folder.write("f", first_bytes(bytes, bytes.size() - missing));
      EXPECT_EQ(user_error([&] { check_image_file(file); }),
                file.string() + ": damaged " + kind + " file (it ends too early); fetch or remove it");
    }
  }
}

TEST(ImageFile, TheEndOfALongFileIsFound) {
  const TemporaryFolder folder;
  const auto image = random_image({200, 300}, 9);
  for (const auto& bytes : {png_bytes(image), jpeg_bytes(image)}) {
    ASSERT_GT(bytes.size(), 1U << 16);
    EXPECT_EQ(check_image_file(folder.write("f", bytes)), image.size);
    EXPECT_EQ(check_image_file(folder.write("f", bytes + Bytes(100'000, 7))), image.size);
    const auto cut = folder.write("f", first_bytes(bytes, bytes.size() - 2));
    EXPECT_TRUE(user_error([&] { check_image_file(cut); }).ends_with("(it ends too early); fetch or remove it"));
  }
}

TEST(ImageFile, ThePreviewOfACutJpegIsNotTakenForItsEnd) {
  const TemporaryFolder folder;
  const auto jpeg = jpeg_bytes(random_image({8, 9}, 8));
  const Bytes preview = Bytes{0xff, 0xe1, 0, 12} + Bytes{'E', 'x', 'i', 'f', 0, 0, 0xff, 0xd8, 0xff, 0xd9};
  const Bytes with_preview = first_bytes(jpeg, 2) + preview + Bytes(jpeg.begin() + 2, jpeg.end());
  EXPECT_EQ(check_image_file(folder.write("whole.jpg", with_preview)), (ImageSize{8, 9}));
  const auto cut = folder.write("cut.jpg", first_bytes(with_preview, with_preview.size() - 2));
  EXPECT_EQ(user_error([&] { check_image_file(cut); }),
            cut.string() + ": damaged JPEG file (it ends too early); fetch or remove it");
}

TEST(ImageFile, TheSizeIsFoundBehindALongPreview) {
  const TemporaryFolder folder;
  const auto jpeg = jpeg_bytes(plain_image({8, 9}, 1, 2, 3));
  Bytes long_one = first_bytes(jpeg, 2);
  for (int i = 0; i < 3; ++i) long_one = long_one + Bytes{0xff, 0xe1, 0xff, 0xff} + Bytes(65'533);
  long_one.insert(long_one.end(), jpeg.begin() + 2, jpeg.end());
  EXPECT_EQ(read_image_size(folder.write("long.jpg", long_one)), (ImageSize{8, 9}));
}

TEST(ImageFile, OnlyRegularFilesAreOpened) {
  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& file) {
    return file.string() + ": cannot be opened; does it exist, is it a file, and may it be read?";
  };
  const auto pipe = folder.path() / "pipe.png";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& file : {pipe, folder.path() / "none.png", folder.path(), std::filesystem::path("/dev/zero")}) {
    EXPECT_EQ(user_error([&] { read_image(file); }), message(file));
    EXPECT_EQ(user_error([&] { read_image_size(file); }), message(file));
  }
}

TEST(ImageFile, AHeaderThatClaimsTooMuchGetsNoMemory) {
  const auto claim = [](ImageSize size) { return png_file(size, 8, 2, Bytes(4)); };
  EXPECT_EQ(error_of(claim({20'000, 30'000})),
            "f: 30000x20000 pixels; at most 100 million are read, so make it smaller or remove it");
  EXPECT_EQ(error_of(claim({2'000'000'000, 2'000'000'000})),
            "f: 2000000000x2000000000 pixels; at most 100 million are read, so make it smaller or remove it");
  const auto bytes = claim({10'000, 10'000});
  EXPECT_EQ(error_of(bytes), "f: damaged PNG file (" + std::to_string(bytes.size()) +
                                 " bytes cannot hold 10000x10000 pixels); fetch or remove it");
}

}  // namespace
}  // namespace regroup
