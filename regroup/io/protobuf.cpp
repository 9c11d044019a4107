#include "regroup/io/protobuf.h"

#include <bit>

namespace regroup {
namespace {

// How a value is stored.
constexpr int kind_varint = 0, kind_eight_bytes = 1, kind_bytes = 2, kind_four_bytes = 5;

}  // namespace

void ProtobufMessage::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
  out_ += static_cast<char>(value);
}

void ProtobufMessage::key(int field, int kind) { varint(static_cast<std::uint64_t>(field) << 3 | kind); }

void ProtobufMessage::whole(int field, std::int64_t value) {
  key(field, kind_varint);
  varint(static_cast<std::uint64_t>(value));
}

void ProtobufMessage::number(int field, float value) {
  key(field, kind_four_bytes);
  put_little_endian(out_, std::bit_cast<std::uint32_t>(value));
}

void ProtobufMessage::number(int field, double value) {
  key(field, kind_eight_bytes);
  put_little_endian(out_, std::bit_cast<std::uint64_t>(value));
}

void ProtobufMessage::bytes(int field, std::string_view value) {
  key(field, kind_bytes);
  varint(value.size());
  out_ += value;
}

}  // namespace regroup
