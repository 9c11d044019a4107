#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "regroup/io/byte_source.h"

namespace regroup {

/// An array of bytes as the IDX files of MNIST hold it.
struct IdxArray {
  std::vector<int> shape;            ///< no dimension is 0
  std::vector<std::uint8_t> values;  ///< as many as the product of the shape, the last dimension running fastest
};

/// Reads an IDX array of unsigned bytes that has `rank` dimensions, to the end of the source:
///
///   0 0 8 rank | rank dimensions, four bytes each, high byte first | the values
///
/// Memory follows what the source really holds, up to 4 GiB, not what the header claims. `name` is for the messages.
IdxArray read_idx(ByteSource& source, const std::string& name, int rank);

/// The same from a file, plain or gzip.
IdxArray read_idx(const std::filesystem::path& file, int rank);

}  // namespace regroup
