#include "regroup/data/idx.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/data_testing.h"

namespace regroup {
namespace {

IdxArray parse(const Bytes& bytes, int rank) { return read_idx(*unpack_gzip(memory_bytes(bytes), "f"), "f", rank); }

std::string error_of(const Bytes& bytes, int rank) {
  return user_error([&] { parse(bytes, rank); });
}

TEST(Idx, ReadsLabelsAndImagesPlainAndGzip) {
  const TemporaryFolder folder;
  const auto labels = idx_bytes({3}, {9, 0, 255});
  const auto images = idx_bytes({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  for (const bool packed : {false, true}) {
    const auto file = [&](const Bytes& bytes) { return folder.write("file", packed ? gzip(bytes) : bytes); };
    const auto label_array = read_idx(file(labels), 1);
    EXPECT_EQ(label_array.shape, std::vector<int>{3});
    EXPECT_EQ(label_array.values, (Bytes{9, 0, 255}));
    const auto image_array = read_idx(file(images), 3);
    EXPECT_EQ(image_array.shape, (std::vector<int>{2, 1, 3}));
    EXPECT_EQ(image_array.values, (Bytes{1, 2, 3, 4, 5, 6}));
  }
}

TEST(Idx, ReadsMoreThanOneStep) {
  Bytes values(200'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 251);
  EXPECT_EQ(parse(idx_bytes({200'000}, values), 1).values, values);
  EXPECT_EQ(parse(gzip(idx_bytes({500, 20, 20}, values)), 3).values, values);
}

TEST(Idx, AHeaderThatIsNoneIsNamed) {
  const std::string not_idx = "f: not an IDX file, which starts with two zero bytes, a type and a rank";
  EXPECT_EQ(error_of({}, 1), not_idx);
  EXPECT_EQ(error_of({0, 0, 8}, 1), not_idx);
  EXPECT_EQ(error_of({'P', 'N', 'G', 0, 0, 0, 0, 0}, 1), not_idx);
  EXPECT_EQ(error_of({0, 0, 0x0d, 1, 0, 0, 0, 1, 0}, 1),
            "f: the values have IDX type 0x0d; only unsigned bytes, 0x08, are read");
  EXPECT_EQ(error_of(idx_bytes({1}, {0}), 3), "f: 1 dimensions where 3 are expected; images have 3, labels 1");
  EXPECT_EQ(error_of(idx_bytes({1, 1, 1}, {0}), 1), "f: 3 dimensions where 1 are expected; images have 3, labels 1");
  EXPECT_EQ(error_of({0, 0, 8, 3, 0, 0, 0, 1, 0, 0}, 3),
            "f: the file ends within its header of 16 bytes; fetch it again");
}

TEST(Idx, TruncatedAndOversizedFilesAreErrors) {
  const std::string truncated =
      "f: the header promises 6 values (2 x 1 x 3), the file holds 5; it is truncated, fetch it again";
  const std::string oversized = "f: the header promises 6 values (2 x 1 x 3), but more bytes follow; fetch it again";
  const auto five = idx_bytes({2, 1, 3}, Bytes(5));
  const auto seven = idx_bytes({2, 1, 3}, Bytes(7));
  EXPECT_EQ(error_of(five, 3), truncated);
  EXPECT_EQ(error_of(gzip(five), 3), truncated);
  EXPECT_EQ(error_of(seven, 3), oversized);
  EXPECT_EQ(error_of(gzip(seven), 3), oversized);
}

TEST(Idx, AGzipFileThatIsCutAnywhereIsAnError) {
  const auto packed = gzip(idx_bytes({1000}, Bytes(1000, 7)));
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const Bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_NE(error_of(cut, 1), "no UserError was thrown") << size;
  }
}

TEST(Idx, ImpossibleDimensionsAreErrors) {
  EXPECT_EQ(error_of(idx_bytes({0}, {}), 1), "f: dimension 1 is 0; it cannot be an IDX file of images or labels");
  EXPECT_EQ(error_of(idx_bytes({5, 0, 5}, {}), 3), "f: dimension 2 is 0; it cannot be an IDX file of images or labels");
  EXPECT_EQ(error_of(idx_bytes({0xffffffffU}, {}), 1),
            "f: dimension 1 is 4294967295; it cannot be an IDX file of images or labels");
  EXPECT_EQ(error_of(idx_bytes({0x7fffffffU, 28, 28}, {}), 3),
            "f: the header promises 2147483647 x 28 x 28 values; at most 4294967296 are read");
  // The product is 2^64 + something small if it wraps.
  EXPECT_EQ(error_of(idx_bytes({0x7fffffffU, 0x7fffffffU, 0x7fffffffU}, {}), 3),
            "f: the header promises 2147483647 x 2147483647 x 2147483647 values; at most 4294967296 are read");
}

/// Zeros without end behind a header, and a note of how many bytes were asked for at once.
class GreedyProbe final : public ByteSource {
 public:
  GreedyProbe(Bytes header, std::size_t zeros) : header_(std::move(header)), left_(header_.size() + zeros) {}

  std::size_t read(std::span<std::uint8_t> into) override {
    largest = std::max(largest, into.size());
    const std::size_t count = std::min(into.size(), left_);
    std::fill_n(into.begin(), count, std::uint8_t{0});
    if (!header_.empty()) std::copy(header_.begin(), header_.end(), into.begin());
    header_.clear();
    left_ -= count;
    return count;
  }

  std::size_t largest = 0;

 private:
  Bytes header_;
  std::size_t left_;
};

TEST(Idx, MemoryFollowsTheFileAndNotTheHeader) {
  // A claim of 4 GB: with nothing behind it 64 KiB are asked for, with 1 MB behind it not much more than that.
  GreedyProbe empty(idx_bytes({2'000'000'000, 1, 2}, {}), 0);
  EXPECT_THROW(read_idx(empty, "f", 3), UserError);
  EXPECT_LE(empty.largest, 65'536U);
  GreedyProbe some(idx_bytes({2'000'000'000, 1, 2}, {}), 1'000'000);
  EXPECT_THROW(read_idx(some, "f", 3), UserError);
  EXPECT_LE(some.largest, 1'048'576U);
}

TEST(Idx, AGzipBombIsCutWhereTheHeaderEnds) {
  const auto bomb = gzip(idx_bytes({10}, Bytes(20'000'000)));
  ASSERT_LT(bomb.size(), 30'000U);
  EXPECT_EQ(error_of(bomb, 1), "f: the header promises 10 values (10), but more bytes follow; fetch it again");
}

}  // namespace
}  // namespace regroup
