#include "regroup/io/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "support/data_testing.h"

namespace regroup {
namespace {

/// A file of version 1.0, 2.0 or 3.0 with this header, which is not padded.
Bytes npy_bytes(const std::string& header, const Bytes& values, std::uint8_t version = 1) {
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(header.size() >> (8 * i)));
  }
  return bytes + Bytes(header.begin(), header.end()) + values;
}

std::string header(const std::string& dtype, const std::string& shape) {
  return "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

NpyArray parse(const Bytes& bytes) { return read_npy(*memory_bytes(bytes), "f"); }

std::string error_of(const Bytes& bytes) {
  return user_error([&] { parse(bytes); });
}

std::string error_of(const std::string& header) { return error_of(npy_bytes(header, {})); }

Bytes raw(const NpyArray& array) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(array.bytes.data());
  return {first, first + array.bytes.size()};
}

Bytes content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Npy, ReadsWhatNumpyWrites) {
  // numpy.save(file, numpy.array([[1, -2, 3]], dtype='int16'))
  Bytes file = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0x76, 0};
  const std::string dictionary = "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }";
  file.insert(file.end(), dictionary.begin(), dictionary.end());
  file.resize(127, ' ');
  file = file + Bytes{'\n', 1, 0, 0xfe, 0xff, 3, 0};
  const TemporaryFolder folder;
  for (const bool packed : {false, true}) {
    const auto array = read_npy(folder.write("a.npy", packed ? gzip(file) : file));
    EXPECT_EQ(array.dtype, "<i2");
    EXPECT_EQ(array.shape, (std::vector<std::size_t>{1, 3}));
    EXPECT_FALSE(array.fortran_order);
    EXPECT_EQ(integers(array, "f"), (std::vector<std::int64_t>{1, -2, 3}));
  }
}

TEST(Npy, ReadsEveryVersionOrderAndSpacing) {
  for (const std::uint8_t version : {1, 2, 3}) {
    for (const std::string text : {"{'descr': '<u2', 'fortran_order': True, 'shape': (2,), }     \n",
                                   "{'shape':(2,),'fortran_order':True,'descr':'<u2'}",
                                   " { \"fortran_order\" : True ,\t\"descr\" : \"<u2\" , 'shape' : ( 2 , ) , } "}) {
      const auto array = parse(npy_bytes(text, {1, 2, 3, 4}, version));
      EXPECT_EQ(array.dtype, "<u2");
      EXPECT_EQ(array.shape, std::vector<std::size_t>{2});
      EXPECT_TRUE(array.fortran_order);
      EXPECT_EQ(integers(array, "f"), (std::vector<std::int64_t>{0x0201, 0x0403}));
    }
  }
}

TEST(Npy, ReadsEveryTypeAndShape) {
  for (const std::string dtype : {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"}) {
    const auto size = static_cast<std::size_t>(dtype[2] - '0');
    EXPECT_EQ(raw(parse(npy_bytes(header(dtype, "()"), Bytes(size, 1)))), Bytes(size, 1));
    EXPECT_EQ(raw(parse(npy_bytes(header(dtype, "(2, 1, 3)"), Bytes(6 * size, 2)))), Bytes(6 * size, 2));
    const auto empty = parse(npy_bytes(header(dtype, "(5, 0)"), {}));
    EXPECT_EQ(empty.shape, (std::vector<std::size_t>{5, 0}));
    EXPECT_TRUE(empty.bytes.empty());
  }
  EXPECT_EQ(parse(npy_bytes(header("<u1", "(1,)"), {7})).dtype, "|u1");
}

TEST(Npy, ReadsMoreThanOneStep) {
  Bytes values(200'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i % 251);
  EXPECT_EQ(raw(parse(npy_bytes(header("<i4", "(500, 100)"), values))), values);
}

TEST(Npy, IntegersOfAnySizeKeepTheirValue) {
  const auto values = [](const std::string& dtype, const Bytes& bytes) {
    return integers(parse(npy_bytes(header(dtype, "(1,)"), bytes)), "f").at(0);
  };
  EXPECT_EQ(values("|i1", Bytes(1, 0xff)), -1);
  EXPECT_EQ(values("<i2", Bytes(2, 0xff)), -1);
  EXPECT_EQ(values("<i4", Bytes(4, 0xff)), -1);
  EXPECT_EQ(values("<i8", Bytes(8, 0xff)), -1);
  EXPECT_EQ(values("|u1", Bytes(1, 0xff)), 255);
  EXPECT_EQ(values("<u2", Bytes(2, 0xff)), 65535);
  EXPECT_EQ(values("<u4", Bytes(4, 0xff)), 4294967295);
  EXPECT_EQ(values("<u8", Bytes(7, 0xff) + Bytes{0x7f}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(user_error([&] { values("<u8", Bytes(8, 0xff)); }),
            "f: the value 18446744073709551615 is larger than 9223372036854775807; it cannot be a label or an index");
  EXPECT_EQ(user_error([&] { values("<f4", Bytes(4)); }),
            "f: the values have the type '<f4', not integers; save array.astype('int64') instead");
  EXPECT_EQ(user_error([&] { values("|b1", Bytes(1)); }),
            "f: the values have the type '|b1', not integers; save array.astype('int64') instead");
}

TEST(Npy, IntegersOfAFortranArrayComeRowByRow) {
  const std::string text = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2)}";
  // a[i, j, k] = 100 i + 10 j + k lies at i + 2 j + 6 k.
  const Bytes values = {0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121};
  EXPECT_EQ(integers(parse(npy_bytes(text, values)), "f"),
            (std::vector<std::int64_t>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
}

TEST(Npy, WhatIsNoArrayIsNamed) {
  const std::string not_npy = "f: not a NumPy array; numpy.save writes one";
  EXPECT_EQ(error_of(Bytes{}), not_npy);
  EXPECT_EQ(error_of(Bytes{0x93, 'N', 'U', 'M', 'P', 'Y', 1}), not_npy);
  EXPECT_EQ(error_of(Bytes{'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0, 0}), not_npy);
  EXPECT_EQ(error_of(npy_bytes("", {}, 4)), "f: NumPy format version 4.0; versions 1.0 to 3.0 are read");
}

TEST(Npy, PythonObjectsAreRefused) {
  EXPECT_EQ(error_of(npy_bytes(header("|O", "()"), {0x80, 4})),
            "f: holds Python objects, which are not read because they can run any program; save the numbers alone, as "
            "numpy.save(file, numpy.asarray(values, dtype='int64')) does");
  EXPECT_EQ(error_of("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }"),
            "f: holds records of several fields; save one field as an array of numbers");
}

TEST(Npy, OtherTypesAreNamed) {
  EXPECT_EQ(error_of(header(">i4", "(1,)")), "f: the values are big-endian ('>i4'); save array.astype('<i4') instead");
  for (const std::string dtype : {"<c8", "<f16", "<U3", "|S5", "<M8[ns]", "|i4", "=i4", "<i3", "<b2", "i4", "<", ""}) {
    EXPECT_EQ(error_of(header(dtype, "(1,)")),
              "f: the values have the type '" + dtype +
                  "'; only booleans, integers and floating-point numbers of at most 8 bytes are read");
  }
}

TEST(Npy, ABrokenHeaderIsAnError) {
  const std::string start = "f: the NumPy header ";
  for (const std::string text : {
           "",
           "{",
           "{}",
           "[]",
           "{'descr': '<i4', 'fortran_order': False}",
           "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<i4', 'other': False, 'shape': (1,)}",
           "{'descr': '<i4' 'fortran_order': False, 'shape': (1,)}",
           "{'descr' '<i4', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': 1}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1 2)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (,)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1,,)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1.0,)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} more",
           "{'descr': '<i4, 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<i4\\'', 'fortran_order': False, 'shape': (1,)}",
           "{'de\033[31mscr': '<i4', 'fortran_order': False, 'shape': (1,)}",
       }) {
    const std::string error = error_of(text);
    EXPECT_EQ(error.rfind(start, 0), 0U) << text << " -> " << error;
  }
  std::string many;
  for (int i = 0; i < 65; ++i) many += "1,";
  EXPECT_EQ(error_of(header("|u1", "(" + many + ")")),
            start + "has more than 64 dimensions; save the array again with numpy.save");
}

TEST(Npy, AFileThatIsCutAnywhereIsAnError) {
  for (const std::uint8_t version : {1, 2}) {
    const auto whole = npy_bytes(header("<i4", "(3, 2)"), Bytes(24), version);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      ASSERT_NE(error_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))),
                "no UserError was thrown")
          << size;
    }
  }
  EXPECT_EQ(error_of(npy_bytes(header("<i4", "(3, 2)"), Bytes(23))),
            "f: the header promises 24 bytes (3 x 2 of '<i4'), the file holds 23; it is truncated, fetch it again");
  EXPECT_EQ(error_of(npy_bytes(header("<i4", "(3, 2)"), Bytes(25))),
            "f: the header promises 24 bytes (3 x 2 of '<i4'), but more bytes follow; fetch it again");
}

TEST(Npy, ImpossibleSizesAreErrors) {
  EXPECT_EQ(error_of(header("<f8", "(536870913,)")),
            "f: the header promises 536870913 values of 8 bytes; at most 4294967296 bytes are read");
  // Products that are small if they wrap.
  for (const std::string shape :
       {"(4294967296, 4294967296)", "(65536, 65536, 65536, 65536)", "(18446744073709551615, 0)"}) {
    EXPECT_NE(error_of(header("|u1", shape)).find("at most 4294967296 bytes are read"), std::string::npos) << shape;
  }
}

/// The bytes and then nothing, and a note of how many were asked for at once.
class GreedyProbe final : public ByteSource {
 public:
  explicit GreedyProbe(const Bytes& bytes) : bytes_(memory_bytes(bytes)) {}

  std::size_t read(std::span<std::uint8_t> into) override {
    largest = std::max(largest, into.size());
    return bytes_->read(into);
  }

  std::size_t largest = 0;

 private:
  std::unique_ptr<ByteSource> bytes_;
};

TEST(Npy, MemoryFollowsTheFileAndNotTheHeader) {
  const auto lying = npy_bytes(header("|u1", "(4000000000,)"), {1, 2, 3});
  GreedyProbe values(lying);
  EXPECT_THROW(read_npy(values, "f"), UserError);
  EXPECT_LE(values.largest, 65'536U);
  const Bytes long_header = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0xff, '{'};
  GreedyProbe text(long_header);
  EXPECT_THROW(read_npy(text, "f"), UserError);
  EXPECT_LE(text.largest, 65'536U);
}

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.npy";
  write_npy(file, std::vector<float>{1.5F, -2}, std::vector<std::size_t>{2});
  std::string expected = "\x93NUMPY\x01";
  expected += '\0';
  expected += 'v';
  expected += '\0';
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expected.resize(127, ' ');
  expected += '\n';
  EXPECT_EQ(content(file), Bytes(expected.begin(), expected.end()) + Bytes({0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}));
}

TEST(Npy, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.npy";
  const std::vector<std::int32_t> small = {1, -2, 3, 4, 5, 2147483647};
  write_npy(file, small, std::vector<std::size_t>{3, 1, 2});
  EXPECT_EQ(read_npy(file).shape, (std::vector<std::size_t>{3, 1, 2}));
  EXPECT_EQ(integers(read_npy(file), "f"), std::vector<std::int64_t>(small.begin(), small.end()));
  const std::vector<std::int64_t> one = {std::numeric_limits<std::int64_t>::min()};
  write_npy(file, one, {});
  EXPECT_TRUE(read_npy(file).shape.empty());
  EXPECT_EQ(integers(read_npy(file), "f"), one);
  // The values begin at a multiple of 64 whatever the length of the shape.
  for (std::size_t rank = 1; rank <= 64; ++rank) {
    write_npy(file, one, std::vector<std::size_t>(rank, 1));
    ASSERT_EQ(std::filesystem::file_size(file) % 64, 8U) << rank;
    ASSERT_EQ(read_npy(file).shape.size(), rank);
  }
  EXPECT_THROW(write_npy(file, one, std::vector<std::size_t>{2}), std::invalid_argument);
}

}  // namespace
}  // namespace regroup
