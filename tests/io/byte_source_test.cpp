#include "regroup/io/byte_source.h"

#include <gtest/gtest.h>

#include "support/data_testing.h"

namespace regroup {
namespace {

Bytes counting_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 8);
  return bytes;
}

Bytes read_all(ByteSource& source, std::size_t step) {
  Bytes all, part(step);
  for (std::size_t count = step; count == step;) {
    count = source.read(part);
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

Bytes unpack(const Bytes& packed, std::size_t step = 1000) {
  return read_all(*unpack_gzip(memory_bytes(packed), "f.gz"), step);
}

TEST(GzipSource, UnpacksWhatZlibPacked) {
  // More than the buffer of 64 KiB, packed and plain, in steps that divide neither.
  const auto plain = counting_bytes(300'001);
  for (const std::size_t step : {1U, 999U, 65'536U, 1'000'000U}) {
    EXPECT_EQ(unpack(gzip(plain), step), plain) << step;
    EXPECT_EQ(unpack(plain, step), plain) << step;
  }
}

TEST(GzipSource, PassesShortPlainBytes) {
  for (const Bytes& plain : {Bytes{}, Bytes{0x1f}, Bytes{0x1f, 0x8c}, Bytes{0, 0, 8, 1}})
    EXPECT_EQ(unpack(plain), plain);
}

TEST(GzipSource, ReadsSeveralMembers) { EXPECT_EQ(unpack(gzip({1, 2}) + gzip({}) + gzip({3})), (Bytes{1, 2, 3})); }

TEST(GzipSource, AnyCutIsAnError) {
  const auto packed = gzip(counting_bytes(100));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    const Bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(user_error([&] { unpack(cut); }), "f.gz: damaged gzip file (it ends in the middle); fetch it again")
        << size;
  }
}

TEST(GzipSource, DamageAndTrailingBytesAreErrors) {
  const auto packed = gzip(counting_bytes(100));
  auto flipped = packed;
  flipped[packed.size() - 6] ^= 1;  // the checksum
  EXPECT_EQ(user_error([&] { unpack(flipped); }), "f.gz: damaged gzip file (incorrect data check); fetch it again");
  EXPECT_EQ(user_error([&] {
              unpack(packed + Bytes{7, 7, 7});
            }),
            "f.gz: damaged gzip file (incorrect header check); fetch it again");
}

TEST(OpenBytes, LooksAtTheBytesAndNotAtTheName) {
  const TemporaryFolder folder;
  const Bytes plain = {5, 6, 7};
  EXPECT_EQ(read_all(*open_bytes(folder.write("plain.gz", plain)), 10), plain);
  EXPECT_EQ(read_all(*open_bytes(folder.write("packed", gzip(plain))), 10), plain);
}

TEST(OpenBytes, AMissingFileAndAFolderAreErrors) {
  const TemporaryFolder folder;
  const auto missing = folder.path() / "none";
  EXPECT_EQ(user_error([&] { open_bytes(missing); }),
            missing.string() + ": cannot be opened; does it exist, and may it be read?");
  EXPECT_EQ(user_error([&] { open_bytes(folder.path()); }), folder.path().string() + ": cannot be read; is it a file?");
}

}  // namespace
}  // namespace regroup
