#include "regroup/io/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/core/file.h"

static_assert(std::endian::native == std::endian::little, "the values of a file are used as they are");

namespace regroup {
namespace {

constexpr std::size_t length_size = 8;
constexpr std::uint64_t max_header = 100'000'000;  // the limit of the format
constexpr std::size_t max_rank = 64;
constexpr std::string_view metadata_key = "__metadata__";

struct Dtype {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Dtype, 16> dtypes = {{{"F64", 8},
                                           {"I64", 8},
                                           {"U64", 8},
                                           {"C64", 8},
                                           {"F32", 4},
                                           {"I32", 4},
                                           {"U32", 4},
                                           {"F16", 2},
                                           {"BF16", 2},
                                           {"I16", 2},
                                           {"U16", 2},
                                           {"I8", 1},
                                           {"U8", 1},
                                           {"BOOL", 1},
                                           {"F8_E4M3", 1},
                                           {"F8_E5M2", 1}}};

/// A name from a file as it can stand in a message: short, and without what could play tricks on a terminal.
std::string in_quotes(std::string_view name) {
  std::string text(name.substr(0, 60));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return fmt::format("'{}{}'", text, name.size() > 60 ? "..." : "");
}

[[noreturn]] void damaged(const std::string& name, std::string_view what) {
  throw UserError(fmt::format("{}: not a whole safetensors file ({}); write or fetch it again", name, what));
}

/// The number of bytes of a tensor; nothing if it does not fit into 63 bits.
std::optional<std::uint64_t> count_bytes(std::span<const std::int64_t> shape, std::size_t size) {
  auto count = static_cast<std::int64_t>(size);
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return static_cast<std::uint64_t>(count);
}

struct Entry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> offsets;
  bool has_dtype = false;
  bool has_shape = false;
  bool has_offsets = false;
};

/// Takes the header as the parser meets it. Anything that is not in its place ends the parsing at once, so nesting
/// never gets deep, and a key that comes twice is seen, which a finished JSON object would hide.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  std::string problem;

  bool start_object(std::size_t) override {
    if (place_ == Place::start) return go(Place::top);
    if (place_ == Place::metadata_due) return go(Place::metadata);
    if (place_ == Place::tensor_due) return go(Place::tensor);
    return misplaced();
  }

  bool end_object() override {
    if (place_ == Place::top) return go(Place::end);
    if (place_ == Place::tensor) {
      const Entry& entry = entries.back();
      if (!entry.has_dtype || !entry.has_shape || entry.offsets.size() != 2) {
        return fail(fmt::format("tensor {} lacks its dtype, shape or two data_offsets", in_quotes(entry.name)));
      }
    }
    return go(Place::top);
  }

  bool key(std::string& key) override {
    if (place_ == Place::metadata) {
      key_ = key;
      return go(Place::metadata_value);
    }
    if (place_ == Place::tensor) return tensor_key(key);
    if (key == metadata_key) {
      if (std::exchange(has_metadata_, true)) return fail("the metadata comes twice");
      return go(Place::metadata_due);
    }
    entries.push_back({});
    entries.back().name = std::move(key);
    return go(Place::tensor_due);
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata_value) {
      if (!metadata.try_emplace(std::move(key_), std::move(value)).second)
        return fail("a key of the metadata comes twice");
      return go(Place::metadata);
    }
    if (place_ == Place::dtype) {
      entries.back().dtype = std::move(value);
      return go(Place::tensor);
    }
    return misplaced();
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::shape_due) return go(Place::shape);
    if (place_ == Place::offsets_due) return go(Place::offsets);
    return misplaced();
  }

  bool end_array() override { return go(Place::tensor); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::shape && place_ != Place::offsets) return misplaced();
    auto& numbers = place_ == Place::shape ? entries.back().shape : entries.back().offsets;
    if (!std::in_range<std::int64_t>(value)) return fail("a number is too large");
    if (numbers.size() == max_rank) return fail(fmt::format("a shape has more than {} dimensions", max_rank));
    numbers.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool null() override { return misplaced(); }
  bool boolean(bool) override { return misplaced(); }
  bool number_integer(std::int64_t) override { return misplaced(); }
  bool number_float(double, const std::string&) override { return misplaced(); }
  bool binary(nlohmann::json::binary_t&) override { return misplaced(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("the header is not JSON from byte {} on", position));
  }

 private:
  enum class Place {
    start,
    top,
    metadata_due,
    metadata,
    metadata_value,
    tensor_due,
    tensor,
    dtype,
    shape_due,
    shape,
    offsets_due,
    offsets,
    end
  };

  bool tensor_key(std::string_view key) {
    Entry& entry = entries.back();
    if (key == "dtype" && !std::exchange(entry.has_dtype, true)) return go(Place::dtype);
    if (key == "shape" && !std::exchange(entry.has_shape, true)) return go(Place::shape_due);
    if (key == "data_offsets" && !std::exchange(entry.has_offsets, true)) return go(Place::offsets_due);
    return fail(
        fmt::format("tensor {} has the entry {} twice, or it is unknown", in_quotes(entry.name), in_quotes(key)));
  }

  bool go(Place place) {
    place_ = place;
    return true;
  }

  bool fail(std::string what) {
    problem = std::move(what);
    return false;
  }

  bool misplaced() { return fail("the header has a value of the wrong kind"); }

  Place place_ = Place::start;
  std::string key_;
  bool has_metadata_ = false;
};

/// Sorts the entries by their place in the file, and checks that they fill `size` bytes.
void check(std::vector<Entry>& entries, std::uint64_t size, const std::string& name) {
  std::ranges::sort(entries, {}, &Entry::name);
  const auto twice = std::ranges::adjacent_find(entries, {}, &Entry::name);
  if (twice != entries.end()) damaged(name, fmt::format("tensor {} comes twice", in_quotes(twice->name)));
  std::ranges::stable_sort(entries, {}, &Entry::offsets);
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    const std::size_t number = safetensors_size(entry.dtype);
    if (number == 0) {
      std::vector<std::string_view> known(dtypes.size());
      std::ranges::transform(dtypes, known.begin(), &Dtype::name);
      throw UserError(fmt::format("{}: tensor {} has the type {}; known: {}", name, in_quotes(entry.name),
                                  in_quotes(entry.dtype), fmt::join(known, ", ")));
    }
    const auto begin = static_cast<std::uint64_t>(entry.offsets[0]);
    const auto end = static_cast<std::uint64_t>(entry.offsets[1]);
    const auto bytes = count_bytes(entry.shape, number);
    if (begin != at) damaged(name, fmt::format("tensor {} does not follow the one before it", in_quotes(entry.name)));
    if (end < begin || !bytes || end - begin != *bytes) {
      damaged(name, fmt::format("tensor {} is not as long as its shape says", in_quotes(entry.name)));
    }
    at = end;
  }
  if (at != size) damaged(name, fmt::format("the header promises {} bytes of tensors, there are {}", at, size));
}

bool is_aligned(std::span<const std::byte> bytes, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % size == 0;
}

/// A string in quotes, escaped as JSON wants it.
std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void check_writable(std::span<const TensorBytes> tensors) {
  std::vector<std::string_view> names;
  for (const TensorBytes& tensor : tensors) {
    const std::size_t size = safetensors_size(tensor.dtype);
    if (size == 0) throw std::invalid_argument("write_safetensors: unknown type " + tensor.dtype);
    if (count_bytes(tensor.shape, size) != tensor.bytes.size()) {
      throw std::invalid_argument("write_safetensors: shape and bytes differ in " + tensor.name);
    }
    names.push_back(tensor.name);
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end() || std::ranges::binary_search(names, metadata_key)) {
    throw std::invalid_argument("write_safetensors: a name that comes twice, or is reserved");
  }
}

std::string make_header(std::span<const TensorBytes* const> tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> parts;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    pairs.reserve(metadata.size());
    for (const auto& [key, value] : metadata) pairs.push_back(json_string(key) + ":" + json_string(value));
    parts.push_back(fmt::format("\"{}\":{{{}}}", metadata_key, fmt::join(pairs, ",")));
  }
  std::size_t at = 0;
  for (const TensorBytes* const tensor : tensors) {
    parts.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json_string(tensor->name),
                                tensor->dtype, fmt::join(tensor->shape, ","), at, at + tensor->bytes.size()));
    at += tensor->bytes.size();
  }
  std::string header = fmt::format("{{{}}}", fmt::join(parts, ","));
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace

std::size_t safetensors_size(std::string_view dtype) {
  const auto* const row = std::ranges::find(dtypes, dtype, &Dtype::name);
  return row == dtypes.end() ? 0 : row->size;
}

void write_safetensors(const std::filesystem::path& file, std::span<const TensorBytes> tensors,
                       const std::map<std::string, std::string>& metadata) {
  check_writable(tensors);
  std::vector<const TensorBytes*> order(tensors.size());
  std::ranges::transform(tensors, order.begin(), [](const TensorBytes& tensor) { return &tensor; });
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const TensorBytes* tensor) { return safetensors_size(tensor->dtype); });
  const std::string header = make_header(order, metadata);
  const std::uint64_t length = header.size();
  if (length > max_header) throw std::invalid_argument("write_safetensors: too much metadata");

  FileWriter writer(file);
  writer.write(std::as_bytes(std::span(&length, 1)));
  writer.write(std::as_bytes(std::span(header)));
  for (const TensorBytes* const tensor : order) writer.write(tensor->bytes);
  writer.finish();
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code unknown;
  if (!in || !std::filesystem::is_regular_file(file, unknown)) {
    throw UserError(fmt::format("{}: cannot be opened; does it exist, and may it be read?", file.string()));
  }
  read(in, file.string());
}

SafetensorsFile::SafetensorsFile(std::istream& in, const std::string& name) { read(in, name); }

const TensorBytes* SafetensorsFile::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &TensorBytes::name);
  return found == tensors_.end() ? nullptr : &*found;
}

void SafetensorsFile::read(std::istream& in, const std::string& name) {
  in.seekg(0, std::ios::end);
  const auto end = static_cast<std::streamoff>(in.tellg());
  in.seekg(0);
  if (!in) damaged(name, "it cannot be read");
  const auto size = static_cast<std::uint64_t>(end);
  const auto fill = [&](void* into, std::uint64_t count) {
    in.read(static_cast<char*>(into), static_cast<std::streamsize>(count));
    if (!in) damaged(name, "it cannot be read to its end");
  };

  // The file is as long as it is, so what is asked of memory below is never more than that.
  std::uint64_t length = 0;
  if (size < length_size) damaged(name, "it is shorter than 8 bytes");
  fill(&length, length_size);
  if (length > max_header) damaged(name, fmt::format("its header would have {} bytes", length));
  if (length > size - length_size) damaged(name, "it ends within its header");
  std::string header(length, '\0');
  fill(header.data(), length);
  if (!header.starts_with('{')) damaged(name, "the header does not start with '{'");
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(header, &reader)) damaged(name, reader.problem);
  const std::uint64_t data_size = size - length_size - length;
  check(reader.entries, data_size, name);

  metadata_ = std::move(reader.metadata);
  data_ = std::make_unique_for_overwrite<std::byte[]>(data_size);
  fill(data_.get(), data_size);
  for (Entry& entry : reader.entries) {
    const auto begin = static_cast<std::size_t>(entry.offsets[0]);
    const auto count = static_cast<std::size_t>(entry.offsets[1]) - begin;
    std::span<const std::byte> bytes(data_.get() + begin, count);
    if (!is_aligned(bytes, safetensors_size(entry.dtype))) bytes = copies_.emplace_back(bytes.begin(), bytes.end());
    tensors_.push_back({std::move(entry.name), std::move(entry.dtype), std::move(entry.shape), bytes});
  }
}

}  // namespace regroup
