#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "regroup/io/npy.h"

namespace regroup {

/// How a number is stored. bfloat16 is the upper half of a float.
enum class NumberType { float32, float16, bfloat16 };
inline std::size_t bytes_of(NumberType type) { return type == NumberType::float32 ? 4 : 2; }

/// What is known of a table of numbers before a row is read.
struct RowsHeader {
  std::size_t rows = 0, columns = 0;
  NumberType type = NumberType::float32;

  std::size_t row_bytes() const { return columns * bytes_of(type); }
};

/// Of an array whose rows can be used where they lie: two dimensions, rows one after another, of float32, float16 or
/// bfloat16 (which numpy calls V2). `file` is for the messages, which have the line of Python that converts others.
RowsHeader rows_header(const NpyHeader& header, const std::filesystem::path& file);

/// The rows of an NPY file, which stay on disk: the system reads what is looked at, and may forget it again. The file
/// must not be changed meanwhile.
class MappedRows {
 public:
  /// A file of another kind that Python writes (.npz, .pt, .csv, .parquet, ...) is refused with the line of Python that
  /// converts it.
  explicit MappedRows(const std::filesystem::path& file);
  MappedRows(const MappedRows&) = delete;
  MappedRows& operator=(const MappedRows&) = delete;
  ~MappedRows();

  const RowsHeader& header() const { return header_; }
  std::span<const std::byte> row(std::size_t index) const {
    return {values_ + index * header_.row_bytes(), header_.row_bytes()};
  }

  /// Gives the memory of what was looked at back to the system. Rows can be read all the same, by all threads.
  void release() const;

 private:
  RowsHeader header_;
  void* map_ = nullptr;
  std::size_t size_ = 0;
  const std::byte* values_ = nullptr;
};

}  // namespace regroup
