#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "regroup/io/byte_source.h"

namespace regroup {

/// What stands before the values of an array that numpy.save wrote.
struct NpyHeader {
  std::string dtype;               ///< as numpy writes it: "<i8", "|u1", "<f4"
  std::vector<std::size_t> shape;  ///< empty for a single number
  bool fortran_order = false;      ///< the first dimension runs fastest, not the last
};

/// An array of numbers as numpy.save writes it.
struct NpyArray : NpyHeader {
  std::vector<std::byte> bytes;
};

/// Reads an array of little-endian numbers or booleans, format version 1.0 to 3.0, to the end of the source:
///
///   \x93NUMPY major minor | length, two or four bytes | {'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), } |
///   values
///
/// Memory follows what the source really holds, up to 4 GiB, not what the header claims. `name` is for the messages.
NpyArray read_npy(ByteSource& source, const std::string& name);

/// The same from a file, plain or gzip.
NpyArray read_npy(const std::filesystem::path& file);

/// The header alone, whatever the type of the values; the source is at the first of them then.
NpyHeader read_npy_header(ByteSource& source, const std::string& name);

/// The values of an array of integers of any size, the last dimension running fastest. `name` is for the messages.
std::vector<std::int64_t> integers(const NpyArray& array, const std::string& name);

/// Writes a file that numpy.load reads. The shape has as many places as there are values.
void write_npy(const std::filesystem::path& file, std::span<const float> values, std::span<const std::size_t> shape);
void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> values,
               std::span<const std::size_t> shape);
void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> values,
               std::span<const std::size_t> shape);

}  // namespace regroup
