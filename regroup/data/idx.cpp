#include "regroup/data/idx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>

#include "regroup/core/error.h"

namespace regroup {
namespace {

constexpr std::uint8_t unsigned_byte_type = 0x08;
constexpr std::uint64_t max_values = 1ULL << 32;
constexpr std::size_t first_step = 1U << 16;

std::vector<int> read_shape(ByteSource& source, const std::string& name, int rank) {
  std::vector<std::uint8_t> header(4 + 4 * static_cast<std::size_t>(rank));
  const std::size_t found = source.read(header);
  if (found < 4 || header[0] != 0 || header[1] != 0) {
    throw UserError(fmt::format("{}: not an IDX file, which starts with two zero bytes, a type and a rank", name));
  }
  if (header[2] != unsigned_byte_type) {
    throw UserError(fmt::format("{}: the values have IDX type {:#04x}; only unsigned bytes, {:#04x}, are read", name,
                                header[2], unsigned_byte_type));
  }
  if (header[3] != rank) {
    throw UserError(
        fmt::format("{}: {} dimensions where {} are expected; images have 3, labels 1", name, header[3], rank));
  }
  if (found < header.size()) {
    throw UserError(
        fmt::format("{}: the file ends within its header of {} bytes; fetch it again", name, header.size()));
  }
  std::vector<int> shape;
  for (std::size_t at = 4; at < header.size(); at += 4) {
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | header[at + i];
    if (size == 0 || size > static_cast<std::uint32_t>(std::numeric_limits<int>::max())) {
      throw UserError(fmt::format("{}: dimension {} is {}; it cannot be an IDX file of images or labels", name,
                                  shape.size() + 1, size));
    }
    shape.push_back(static_cast<int>(size));
  }
  return shape;
}

std::size_t count_values(std::span<const int> shape, const std::string& name) {
  std::uint64_t count = 1;  // below 2^32 before and below 2^63 after each product
  for (const int size : shape) {
    count *= static_cast<std::uint64_t>(size);
    if (count > max_values) {
      throw UserError(fmt::format("{}: the header promises {} values; at most {} are read", name,
                                  fmt::join(shape, " x "), max_values));
    }
  }
  return count;
}

}  // namespace

IdxArray read_idx(ByteSource& source, const std::string& name, int rank) {
  IdxArray array;
  array.shape = read_shape(source, name, rank);
  const std::size_t promised = count_values(array.shape, name);
  const auto promise = [&] { return fmt::format("{} values ({})", promised, fmt::join(array.shape, " x ")); };

  // Room is doubled as bytes arrive: a header alone, however large its claim, gets 64 KiB.
  std::size_t found = 0;
  while (found == array.values.size() && found < promised) {
    array.values.resize(std::min(promised, std::max(first_step, 2 * found)));
    found += source.read(std::span(array.values).subspan(found));
  }
  if (found < promised) {
    throw UserError(fmt::format("{}: the header promises {}, the file holds {}; it is truncated, fetch it again", name,
                                promise(), found));
  }
  std::uint8_t extra = 0;
  if (source.read({&extra, 1}) != 0) {
    throw UserError(fmt::format("{}: the header promises {}, but more bytes follow; fetch it again", name, promise()));
  }
  return array;
}

IdxArray read_idx(const std::filesystem::path& file, int rank) {
  return read_idx(*open_bytes(file), file.string(), rank);
}

}  // namespace regroup
