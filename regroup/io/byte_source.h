#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace regroup {

/// Bytes that come one after another, from wherever.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Fills `into` as far as there are bytes, and returns how many there were: fewer than asked for only at the end.
  virtual std::size_t read(std::span<std::uint8_t> into) = 0;
};

/// The bytes of a file, unpacked if it is a gzip file.
std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file);

/// Bytes in memory, not copied.
std::unique_ptr<ByteSource> memory_bytes(std::span<const std::uint8_t> bytes);

/// `packed`, unpacked if it starts like a gzip file and as it is otherwise. `name` is for the messages.
std::unique_ptr<ByteSource> unpack_gzip(std::unique_ptr<ByteSource> packed, std::string name);

}  // namespace regroup
