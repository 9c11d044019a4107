// The state of a run as somebody would forge it: a header that is nearly right, of tensors that are nearly there.
// Random bytes seldom get past the length of the header.
#include <fmt/format.h>
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstring>

#include "safetensors_check.h"

namespace {

/// A number as an attacker would choose one: small, or at an edge.
std::string number(FuzzedDataProvider& fuzz) {
  if (fuzz.ConsumeBool()) return fmt::format("{}", fuzz.ConsumeIntegralInRange(0, 16));
  return fuzz.PickValueInArray<std::string>({"-1", "9223372036854775807", "9223372036854775808", "18446744073709551615",
                                             "4294967296", "1e3", "0.5", "null", "\"4\"", "[4]", "{}", "true"});
}

std::string shape(FuzzedDataProvider& fuzz) {
  std::string text;
  for (int extents = fuzz.ConsumeIntegralInRange(0, 4); extents > 0; --extents)
    text += (text.empty() ? "" : ",") + number(fuzz);
  return "[" + text + "]";
}

/// A tensor behind the one before it, in most cases, of so many bytes.
std::string tensor(FuzzedDataProvider& fuzz, std::size_t& offset) {
  const auto name = fuzz.PickValueInArray<std::string>(
      {"weights", "noise_rates", "model.conv1.weight", "", "\\u0000", "\\ud800", "a/../b", "__metadata__"});
  const auto dtype = fuzz.PickValueInArray<std::string>({"F32", "F64", "I64", "U8", "BF16", "BOOL", "F128", ""});
  const std::size_t begin = offset, size = std::max<std::size_t>(1, regroup::safetensors_size(dtype));
  const auto count = fuzz.ConsumeIntegralInRange<std::size_t>(0, 8);
  offset += count * size;
  const bool is_right = fuzz.ConsumeBool();
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]{}}})", name, dtype,
                     is_right ? fmt::format("[{}]", count) : shape(fuzz),
                     is_right ? std::to_string(begin) : number(fuzz),
                     is_right || fuzz.ConsumeBool() ? std::to_string(offset) : number(fuzz),
                     is_right ? "" : fuzz.PickValueInArray<std::string>({"", ",\"dtype\":\"F32\"", ",\"x\":[[[]]]"}));
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider fuzz(data, size);
  std::string header;
  std::size_t offset = 0;
  for (int tensors = fuzz.ConsumeIntegralInRange(0, 6); tensors > 0; --tensors)
    header += (header.empty() ? "" : ",") + tensor(fuzz, offset);
  header = "{" + header + "}" + std::string(fuzz.ConsumeIntegralInRange<std::size_t>(0, 8), ' ');
  // The header as text, with a few bytes of it changed.
  for (int changes = fuzz.ConsumeIntegralInRange(0, 3); changes > 0; --changes)
    header[fuzz.ConsumeIntegralInRange<std::size_t>(0, header.size() - 1)] = fuzz.ConsumeIntegral<char>();
  std::uint64_t length = header.size();
  if (fuzz.ConsumeBool()) length += fuzz.ConsumeIntegralInRange<std::uint64_t>(0, 16) - 8;
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += header;
  bytes.append(fuzz.ConsumeBool() ? offset : fuzz.ConsumeIntegralInRange<std::size_t>(0, 64), 'x');
  check_safetensors(bytes);
  return 0;
}
