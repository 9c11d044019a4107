#include "regroup/io/mapped_rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "support/vector_files.h"

namespace regroup {
namespace {

std::vector<std::uint8_t> bytes_of(std::span<const std::byte> row) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(row.data());
  return {first, first + row.size()};
}

TEST(MappedRows, AreTheRowsOfTheFile) {
  const TemporaryFolder folder;
  const std::vector<std::uint16_t> halves{1, 2, 3, 4, 5, 0xffff};
  for (const auto& [dtype, type] :
       {std::pair{"<f2", NumberType::float16}, {"<V2", NumberType::bfloat16}, {"|V2", NumberType::bfloat16}}) {
    const MappedRows rows(folder.write("x.npy", npy_table<std::uint16_t>(dtype, 3, 2, halves)));
    EXPECT_EQ(rows.header().rows, 3U);
    EXPECT_EQ(rows.header().columns, 2U);
    EXPECT_EQ(rows.header().type, type);
    EXPECT_EQ(bytes_of(rows.row(2)), (Bytes{5, 0, 0xff, 0xff}));
    rows.release();
    EXPECT_EQ(bytes_of(rows.row(0)), (Bytes{1, 0, 2, 0})) << "as before, also where the system has forgotten it";
  }
}

TEST(MappedRows, OfOtherTypesAreConvertedByALineOfPython) {
  const TemporaryFolder folder;
  const std::vector<double> doubles(6);
  const auto error = [&](const std::string& name, const Bytes& bytes) {
    const auto file = folder.write(name, bytes);
    return user_error([&] { MappedRows{file}; });
  };
  EXPECT_TRUE(has(error("it's.npy", npy_table<double>("<f8", 3, 2, doubles)),
                  "'<f8'; float32, float16 and bfloat16 are read, row by row; convert it with: python3 -c "
                  "\"import numpy; numpy.save('vectors.npy', numpy.asarray(numpy.ascontiguousarray("
                  "numpy.load('it\\'s.npy')), 'float32'))\""));
  EXPECT_TRUE(has(error("x.npz", {'P', 'K', 3, 4, 1, 2}), "numpy.load('x.npz')['NAME']"));
  EXPECT_TRUE(has(error("x.pt", {0x80, 2, 0, 0}), "__import__('torch').load('x.pt')"));
  EXPECT_TRUE(has(error("x.csv", {'1', ',', '2'}), "numpy.loadtxt('x.csv', delimiter=',')"));
  EXPECT_TRUE(has(error("x.npy", {0x1f, 0x8b, 8}), "unpack it by gunzip"));
  EXPECT_TRUE(has(error("x.bin", {1, 2, 3}), "not a NumPy array"));
  EXPECT_TRUE(has(user_error([&] { MappedRows{folder.path()}; }), "is a folder"));
  EXPECT_TRUE(has(user_error([&] { MappedRows{folder.path() / "none"}; }), "none: cannot be read"));
}

TEST(MappedRows, AreNotReadFromAFileThatHasMoreOrLessThanItSays) {
  const TemporaryFolder folder;
  const Bytes whole = npy_table(3, 2, std::vector<float>(6));
  for (const int change : {-1, 1}) {
    Bytes other = whole;
    other.resize(whole.size() + static_cast<std::size_t>(change));
    const auto file = folder.write("x.npy", other);
    EXPECT_TRUE(has(user_error([&] { MappedRows{file}; }), "promises 3 rows of 2 numbers, 24 bytes"));
  }
  EXPECT_TRUE(has(user_error([&] { MappedRows{folder.write("empty.npy", Bytes{})}; }), "not a NumPy array"));
}

TEST(RowsHeader, IsOfTwoDimensionsWithinBounds) {
  const auto error = [](const std::vector<std::size_t>& shape, bool fortran_order = false) {
    return user_error([&] { rows_header({"<f4", shape, fortran_order}, "x.npy"); });
  };
  EXPECT_TRUE(has(error({5}), "1 dimensions"));
  EXPECT_TRUE(has(error({5, 2, 2}), "reshape(len(numpy.load('x.npy')), -1)"));
  EXPECT_TRUE(has(error({5, 2}, true), "stored column by column"));
  for (const auto& shape : {std::vector<std::size_t>{0, 2}, {2, 0}, {std::size_t{1} << 33, 2}, {2, 70'000}})
    EXPECT_TRUE(has(error(shape), "are read")) << shape[0];
  EXPECT_EQ(rows_header({"<f4", {5, 2}, false}, "x.npy").row_bytes(), 8U);
}

}  // namespace
}  // namespace regroup
