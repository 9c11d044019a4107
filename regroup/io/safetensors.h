#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regroup {

/// A named array of numbers, the last dimension running fastest, little-endian.
struct TensorBytes {
  std::string name;
  std::string dtype;                 ///< "F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL", ...
  std::vector<std::int64_t> shape;   ///< empty for a single number
  std::span<const std::byte> bytes;  ///< borrowed, not owned
};

/// The bytes of one number of this type; 0 for a type that is not known.
std::size_t safetensors_size(std::string_view dtype);

/// Writes a file that safetensors.load_file of Python reads:
///
///   length, eight bytes | {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...} | the tensors
///
/// Larger numbers come first and the header is padded, so that every tensor lies at a multiple of its numbers' size.
/// The file is written whole or not at all; it is never whole in memory.
void write_safetensors(const std::filesystem::path& file, std::span<const TensorBytes> tensors,
                       const std::map<std::string, std::string>& metadata);

/// A safetensors file in memory. Every rule of the format is checked: tensors lie side by side without holes, each as
/// long as its shape says, under names of their own.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& file);

  /// From a stream that can be searched; `name` is for the messages.
  SafetensorsFile(std::istream& in, const std::string& name);

  /// In the order in which they lie in the file. Their bytes are aligned for their type, and live as long as this.
  std::span<const TensorBytes> tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// The tensor of that name, or nullptr.
  const TensorBytes* find(std::string_view name) const;

 private:
  void read(std::istream& in, const std::string& name);

  std::unique_ptr<std::byte[]> data_;
  std::vector<std::vector<std::byte>> copies_;  ///< of tensors that are not aligned in the file
  std::vector<TensorBytes> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace regroup
