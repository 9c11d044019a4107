#include "regroup/io/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/file.h"

static_assert(std::endian::native == std::endian::little, "the values of a file are used as they are");

namespace regroup {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t max_bytes = 1ULL << 32;
constexpr std::size_t max_header = 1U << 16;
constexpr std::size_t max_rank = 64;  // numpy's own
constexpr std::size_t first_step = 1U << 16;

[[noreturn]] void bad_header(const std::string& name, std::string_view what) {
  throw UserError(fmt::format("{}: the NumPy header {}; save the array again with numpy.save", name, what));
}

/// Reads the header, which is a Python dictionary with three known entries, in any order and spacing.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader array;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!skip('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        if (next() == '[') {
          throw UserError(
              fmt::format("{}: holds records of several fields; save one field as an array of numbers", name_));
        }
        array.dtype = quoted();
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        array.fortran_order = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        array.shape = tuple();
      } else {
        bad_header(name_, "has an entry twice, or one that is not descr, fortran_order or shape");
      }
      if (!skip(',') && next() != '}') bad_header(name_, "lacks a comma");
    }
    skip_space();
    if (!rest_.empty()) bad_header(name_, "continues after its end");
    if (!has_descr || !has_order || !has_shape) bad_header(name_, "lacks descr, fortran_order or shape");
    return array;
  }

 private:
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  char next() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool skip(char wanted) {
    if (next() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!skip(wanted)) bad_header(name_, fmt::format("lacks a '{}'", wanted));
  }

  std::string quoted() {
    const char quote = next();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) bad_header(name_, "has no quoted word where one is due");
    const std::string_view word = rest_.substr(1, end - 1);
    // Words that we know are plain; what is not would only make the messages hard to read.
    const auto plain = [](char c) { return c > ' ' && c <= '~' && c != '\\'; };
    if (word.size() > 32 || !std::ranges::all_of(word, plain)) bad_header(name_, "has an unknown word");
    rest_.remove_prefix(end + 1);
    return std::string(word);
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    bad_header(name_, "has no True or False where one is due");
  }

  /// (), (3,) or (3, 2) with or without a comma at the end.
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> sizes;
    expect('(');
    bool comma = true;
    while (!skip(')')) {
      if (!comma) bad_header(name_, "lacks a comma in the shape");
      skip_space();
      std::size_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{}) bad_header(name_, "has a shape that is not made of numbers");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (sizes.size() == max_rank) bad_header(name_, fmt::format("has more than {} dimensions", max_rank));
      sizes.push_back(size);
      comma = skip(',');
    }
    if (sizes.size() == 1 && !comma) bad_header(name_, "lacks a comma in the shape");
    return sizes;
  }

  std::string_view rest_;
  const std::string& name_;
};

/// 'f' and 4 of "<f4"; nothing for what is not a number.
struct Number {
  char kind;
  std::size_t size;
};

std::optional<Number> number(std::string_view dtype) {
  if (dtype.size() != 3) return std::nullopt;
  const auto size = static_cast<std::size_t>(dtype[2] - '0');
  constexpr std::array<std::string_view, 12> known = {"b1", "i1", "i2", "i4", "i8", "u1",
                                                      "u2", "u4", "u8", "f2", "f4", "f8"};
  const bool is_known = std::ranges::find(known, dtype.substr(1)) != known.end();
  if (!is_known || (dtype[0] != '<' && (dtype[0] != '|' || size > 1))) return std::nullopt;
  return Number{dtype[1], size};
}

Number check_dtype(NpyHeader& array, const std::string& name) {
  if (array.dtype.find('O') != std::string::npos) {
    throw UserError(
        fmt::format("{}: holds Python objects, which are not read because they can run any program; save the "
                    "numbers alone, as numpy.save(file, numpy.asarray(values, dtype='int64')) does",
                    name));
  }
  if (array.dtype.starts_with('>')) {
    throw UserError(fmt::format("{}: the values are big-endian ('{}'); save array.astype('<{}') instead", name,
                                array.dtype, std::string_view(array.dtype).substr(1)));
  }
  const auto found = number(array.dtype);
  if (!found) {
    throw UserError(
        fmt::format("{}: the values have the type '{}'; only booleans, integers and floating-point numbers of "
                    "at most 8 bytes are read",
                    name, array.dtype));
  }
  // Some writers give an order to single bytes as well.
  if (found->size == 1) array.dtype[0] = '|';
  return *found;
}

/// The number of bytes, checked against overflow and the limit.
std::size_t count_bytes(const NpyHeader& array, std::size_t size, const std::string& name) {
  std::uint64_t count = size;  // at most 2^32 before each product, and the factor below 2^32
  for (const std::size_t extent : array.shape) {
    if (extent >= max_bytes || (count *= extent) > max_bytes) {
      throw UserError(fmt::format("{}: the header promises {} values of {} bytes; at most {} bytes are read", name,
                                  fmt::join(array.shape, " x "), size, max_bytes));
    }
  }
  return count;
}

/// Room is doubled as bytes arrive: a header alone, however large its claim, gets 64 KiB.
std::vector<std::byte> read_at_most(ByteSource& source, std::size_t promised) {
  std::vector<std::byte> bytes;
  std::size_t found = 0;
  while (found == bytes.size() && found < promised) {
    bytes.resize(std::min(promised, std::max(first_step, 2 * found)));
    found += source.read({reinterpret_cast<std::uint8_t*>(bytes.data()) + found, bytes.size() - found});
  }
  bytes.resize(found);
  return bytes;
}

std::string read_header(ByteSource& source, const std::string& name) {
  const auto read = [&](std::size_t size) {
    std::string text(size, '\0');
    text.resize(source.read({reinterpret_cast<std::uint8_t*>(text.data()), size}));
    return text;
  };
  const std::string start = read(magic.size() + 2);
  if (!start.starts_with(magic) || start.size() < magic.size() + 2) {
    throw UserError(fmt::format("{}: not a NumPy array; numpy.save writes one", name));
  }
  const int version = static_cast<unsigned char>(start[magic.size()]);
  if (version < 1 || version > 3 || start.back() != 0) {
    throw UserError(fmt::format("{}: NumPy format version {}.{}; versions 1.0 to 3.0 are read", name, version,
                                static_cast<unsigned char>(start.back())));
  }
  const std::string length = read(version == 1 ? 2 : 4);
  std::size_t size = 0;
  for (std::size_t i = length.size(); i-- > 0;) size = size << 8 | static_cast<unsigned char>(length[i]);
  if (size > max_header) bad_header(name, fmt::format("is longer than {} bytes", max_header));
  std::string header = read(size);
  if (header.size() < size || length.size() < 2) bad_header(name, "ends in the middle");
  return header;
}

template <typename T>
std::vector<std::int64_t> widen(const NpyArray& array, const std::string& name) {
  std::vector<std::int64_t> values(array.bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    if (!std::in_range<std::int64_t>(value)) {
      throw UserError(fmt::format("{}: the value {} is larger than {}; it cannot be a label or an index", name, value,
                                  std::numeric_limits<std::int64_t>::max()));
    }
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a signed char is a small number here
    values[i] = static_cast<std::int64_t>(value);
  }
  return values;
}

/// From the first dimension running fastest to the last.
std::vector<std::int64_t> transpose(std::span<const std::int64_t> values, std::span<const std::size_t> shape) {
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  std::vector<std::size_t> place(shape.size());
  while (result.size() < values.size()) {
    std::size_t at = 0;
    for (std::size_t i = shape.size(); i-- > 0;) at = at * shape[i] + place[i];
    result.push_back(values[at]);
    for (std::size_t i = shape.size(); i-- > 0 && ++place[i] == shape[i];) place[i] = 0;
  }
  return result;
}

template <typename T>
void write_values(const std::filesystem::path& file, std::string_view dtype, std::span<const T> values,
                  std::span<const std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  if (count != values.size()) throw std::invalid_argument("write_npy: shape and number of values differ");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // The values start at a multiple of 64, for those who map the file into memory.
  const std::size_t before = magic.size() + 4;
  header.resize((before + header.size() + 64) / 64 * 64 - before, ' ');
  header.back() = '\n';
  if (header.size() > std::numeric_limits<std::uint16_t>::max())
    throw std::invalid_argument("write_npy: too many dimensions");
  const auto length = static_cast<std::uint16_t>(header.size());
  const std::string start =
      std::string(magic) + '\x01' + '\0' + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8);

  FileWriter writer(file);
  writer.write(std::as_bytes(std::span(start)));
  writer.write(std::as_bytes(std::span(header)));
  writer.write(std::as_bytes(values));
  writer.finish();
}

}  // namespace

NpyHeader read_npy_header(ByteSource& source, const std::string& name) {
  return HeaderParser(read_header(source, name), name).parse();
}

NpyArray read_npy(ByteSource& source, const std::string& name) {
  NpyArray array{read_npy_header(source, name), {}};
  const std::size_t size = check_dtype(array, name).size;
  const std::size_t promised = count_bytes(array, size, name);
  const auto promise = [&] {
    return fmt::format("{} bytes ({}{}'{}')", promised, fmt::join(array.shape, " x "),
                       array.shape.empty() ? "" : " of ", array.dtype);
  };
  array.bytes = read_at_most(source, promised);
  if (array.bytes.size() < promised) {
    throw UserError(fmt::format("{}: the header promises {}, the file holds {}; it is truncated, fetch it again", name,
                                promise(), array.bytes.size()));
  }
  std::uint8_t extra = 0;
  if (source.read({&extra, 1}) != 0) {
    throw UserError(fmt::format("{}: the header promises {}, but more bytes follow; fetch it again", name, promise()));
  }
  return array;
}

NpyArray read_npy(const std::filesystem::path& file) { return read_npy(*open_bytes(file), file.string()); }

std::vector<std::int64_t> integers(const NpyArray& array, const std::string& name) {
  using Widen = std::vector<std::int64_t> (*)(const NpyArray&, const std::string&);
  struct Row {
    std::string_view dtype;
    Widen widen;
  };
  constexpr std::array<Row, 8> table = {{
      {"|i1", widen<std::int8_t>},
      {"<i2", widen<std::int16_t>},
      {"<i4", widen<std::int32_t>},
      {"<i8", widen<std::int64_t>},
      {"|u1", widen<std::uint8_t>},
      {"<u2", widen<std::uint16_t>},
      {"<u4", widen<std::uint32_t>},
      {"<u8", widen<std::uint64_t>},
  }};
  const auto* const row = std::ranges::find(table, array.dtype, &Row::dtype);
  if (row == table.end()) {
    throw UserError(fmt::format("{}: the values have the type '{}', not integers; save array.astype('int64') instead",
                                name, array.dtype));
  }
  const auto values = row->widen(array, name);
  return array.fortran_order && array.shape.size() > 1 ? transpose(values, array.shape) : values;
}

void write_npy(const std::filesystem::path& file, std::span<const float> values, std::span<const std::size_t> shape) {
  write_values(file, "<f4", values, shape);
}

void write_npy(const std::filesystem::path& file, std::span<const std::int32_t> values,
               std::span<const std::size_t> shape) {
  write_values(file, "<i4", values, shape);
}

void write_npy(const std::filesystem::path& file, std::span<const std::int64_t> values,
               std::span<const std::size_t> shape) {
  write_values(file, "<i8", values, shape);
}

}  // namespace regroup
