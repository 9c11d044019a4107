#include "regroup/io/protobuf.h"

#include <gtest/gtest.h>

namespace regroup {
namespace {

/// The examples of the format's own documentation, and its limits.
TEST(ProtobufMessage, IsEncodedAsTheFormatSays) {
  ProtobufMessage number;
  number.whole(1, 150);
  EXPECT_EQ(number.encoded(), "\x08\x96\x01");

  ProtobufMessage text;
  text.bytes(2, "testing");
  EXPECT_EQ(text.encoded(), "\x12\x07testing");

  ProtobufMessage within;
  within.message(3, number);
  EXPECT_EQ(within.encoded(), "\x1a\x03\x08\x96\x01");

  ProtobufMessage negative;
  negative.whole(1, -1);
  EXPECT_EQ(negative.encoded(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") << "in two's complement of 64 bits";

  ProtobufMessage late;
  late.whole(20, 1);
  EXPECT_EQ(late.encoded(), "\xa0\x01\x01") << "fields from 16 on take two bytes";

  ProtobufMessage numbers;
  numbers.number(1, 1.0F);
  numbers.number(2, 1.0);
  EXPECT_EQ(numbers.encoded(), std::string("\x0d\0\0\x80\x3f\x11\0\0\0\0\0\0\xf0\x3f", 14)) << "little-endian";
}

}  // namespace
}  // namespace regroup
