#include "regroup/io/mapped_rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/io/byte_source.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// As a word of Python.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') word += '\\';
    word += c;
  }
  return word + "'";
}

/// How Python reads a file by its ending; {} is the name. Empty: nothing is known.
std::string_view reading(const std::string& ending) {
  struct Row {
    std::string_view ending, expression;
  };
  constexpr std::array<Row, 11> table = {{
      {".npz", "numpy.load({})['NAME']"},
      {".pt", "__import__('torch').load({}).float().cpu()"},
      {".pth", "__import__('torch').load({}).float().cpu()"},
      {".pkl", "__import__('pickle').load(open({}, 'rb'))"},
      {".pickle", "__import__('pickle').load(open({}, 'rb'))"},
      {".csv", "numpy.loadtxt({}, delimiter=',')"},
      {".tsv", "numpy.loadtxt({}, delimiter='\\t')"},
      {".parquet", "__import__('pandas').read_parquet({}).to_numpy()"},
      {".feather", "__import__('pandas').read_feather({}).to_numpy()"},
      {".safetensors", "__import__('safetensors.numpy').numpy.load_file({})['NAME']"},
      {".h5", "__import__('h5py').File({})['NAME'][:]"},
  }};
  for (const Row& row : table)
    if (row.ending == ending) return row.expression;
  return {};
}

std::string conversion(const fs::path& file, std::string_view expression) {
  const std::string values = fmt::format(fmt::runtime(expression), quoted(file.filename().string()));
  return fmt::format("python3 -c \"import numpy; numpy.save('vectors.npy', numpy.asarray({}, 'float32'))\"", values);
}

[[noreturn]] void fail_to_read(const fs::path& file) {
  throw UserError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
}

void refuse_others(const fs::path& file, std::string_view start) {
  if (start.starts_with("\x93NUMPY")) return;
  if (start.starts_with("\x1f\x8b"))
    throw UserError(
        fmt::format("{}: is compressed, and rows are read where they lie; unpack it by gunzip", file.string()));
  const std::string_view known = reading(lowercase(file.extension().string()));
  if (!known.empty())
    throw UserError(fmt::format("{}: vectors are read from NPY files; convert it with: {}", file.string(),
                                conversion(file, known)));
  throw UserError(
      fmt::format("{}: not a NumPy array; vectors are read from NPY files, which numpy.save writes", file.string()));
}

/// Closes a file at the end of a scope.
struct OpenFile {
  int number;
  ~OpenFile() {
    if (number >= 0) close(number);
  }
};

}  // namespace

RowsHeader rows_header(const NpyHeader& header, const fs::path& file) {
  const auto convert = [&](std::string_view expression) { return conversion(file, expression); };
  const std::string name = file.string();
  if (header.dtype.find('O') != std::string::npos)
    throw UserError(fmt::format("{}: holds Python objects, not rows of numbers; convert it with: {}", name,
                                convert("numpy.stack(numpy.load({}, allow_pickle=True))")));
  if (header.shape.size() != 2)
    throw UserError(fmt::format("{}: an array of {} dimensions; give one row per sample, for instance by: {}", name,
                                header.shape.size(), convert("numpy.load({0}).reshape(len(numpy.load({0})), -1)")));
  std::optional<NumberType> type;
  if (header.dtype == "<f4") type = NumberType::float32;
  if (header.dtype == "<f2") type = NumberType::float16;
  if (header.dtype == "<V2" || header.dtype == "|V2") type = NumberType::bfloat16;
  if (!type || header.fortran_order)
    throw UserError(fmt::format(
        "{}: the values are {}; float32, float16 and bfloat16 are read, row by row; convert "
        "it with: {}",
        name, header.fortran_order ? "stored column by column" : fmt::format("of the type '{}'", header.dtype),
        convert("numpy.ascontiguousarray(numpy.load({}))")));
  RowsHeader rows{header.shape[0], header.shape[1], *type};
  constexpr std::size_t most_rows = std::numeric_limits<std::uint32_t>::max(), most_columns = 1U << 16;
  if (rows.rows == 0 || rows.columns == 0 || rows.rows > most_rows || rows.columns > most_columns)
    throw UserError(fmt::format("{}: {} rows of {} numbers; 1 to {} rows of 1 to {} are read", name, rows.rows,
                                rows.columns, most_rows, most_columns));
  return rows;
}

MappedRows::MappedRows(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) throw UserError(fmt::format("{}: is a folder, not an NPY file", file.string()));
  const OpenFile open_file{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (open_file.number < 0) fail_to_read(file);
  struct stat status {};
  if (fstat(open_file.number, &status) != 0) fail_to_read(file);
  if (!S_ISREG(status.st_mode))
    throw UserError(fmt::format("{}: is no ordinary file; rows are read where they lie", file.string()));
  size_ = static_cast<std::size_t>(status.st_size);
  // The header is 64 KiB at most; what begins the file says what it is.
  std::vector<std::uint8_t> start(std::min<std::size_t>(size_, (1U << 16) + 12));
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(start.data()), static_cast<std::streamsize>(start.size()))) fail_to_read(file);
  refuse_others(file, {reinterpret_cast<const char*>(start.data()), start.size()});
  const auto source = memory_bytes(start);
  header_ = rows_header(read_npy_header(*source, file.string()), file);
  std::uint8_t byte = 0;
  std::size_t rest = 0;
  while (source->read({&byte, 1}) == 1) ++rest;
  const std::size_t values_at = start.size() - rest, promised = header_.rows * header_.row_bytes();
  if (size_ - values_at != promised)
    throw UserError(fmt::format("{}: the header promises {} rows of {} numbers, {} bytes, and the file holds {}; {}",
                                file.string(), header_.rows, header_.columns, promised, size_ - values_at,
                                size_ - values_at < promised ? "it is truncated, fetch it again" : "save it again"));
  map_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, open_file.number, 0);
  if (map_ == MAP_FAILED) fail_to_read(file);
  values_ = static_cast<const std::byte*>(map_) + values_at;
}

MappedRows::~MappedRows() {
  if (map_ != nullptr && map_ != MAP_FAILED) munmap(map_, size_);
}

void MappedRows::release() const { madvise(map_, size_, MADV_DONTNEED); }

}  // namespace regroup
