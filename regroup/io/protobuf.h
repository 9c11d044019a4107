#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace regroup {

/// Appends a number byte by byte, the lowest first.
template <class T>
void put_little_endian(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

/// A message of protocol buffers that is being written: fields, each its number and kind, and then its value.
class ProtobufMessage {
 public:
  void whole(int field, std::int64_t value);
  void number(int field, float value);
  void number(int field, double value);
  void bytes(int field, std::string_view value);
  void message(int field, const ProtobufMessage& value) { bytes(field, value.encoded()); }

  const std::string& encoded() const { return out_; }

 private:
  void varint(std::uint64_t value);
  void key(int field, int kind);

  std::string out_;
};

}  // namespace regroup
