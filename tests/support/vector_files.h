#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "support/data_testing.h"

namespace regroup {

/// A table of numbers as numpy.save writes it: `dtype` as in the header, `values` as they are in memory.
template <class T>
Bytes npy_table(const std::string& dtype, std::size_t rows, std::size_t columns, std::span<const T> values) {
  std::string header = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  Bytes bytes = {0x93,
                 'N',
                 'U',
                 'M',
                 'P',
                 'Y',
                 1,
                 0,
                 static_cast<std::uint8_t>(header.size() & 0xff),
                 static_cast<std::uint8_t>(header.size() >> 8)};
  bytes.insert(bytes.end(), header.begin(), header.end());
  const auto* const first = reinterpret_cast<const std::uint8_t*>(values.data());
  bytes.insert(bytes.end(), first, first + values.size_bytes());
  return bytes;
}

inline Bytes npy_table(std::size_t rows, std::size_t columns, const std::vector<float>& values) {
  return npy_table("<f4", rows, columns, std::span(values));
}

}  // namespace regroup
