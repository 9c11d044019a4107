#include "regroup/data/array_file.h"

#include <fmt/format.h>

#include <string>

#include "regroup/core/error.h"
#include "regroup/io/npy.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr std::string_view npy_signature = "\x93NUMPY";
constexpr std::string_view zip_signature = "PK\x03\x04";

/// Protocols 2 to 5. Older ones are text without a sign of their own.
bool is_pickle(std::string_view content) {
  return content.size() >= 2 && content[0] == '\x80' && content[1] >= 2 && content[1] <= 5;
}

/// How Python loads a file that is a pickle or an archive, by what it is called.
std::string loading(const std::string& name, std::string_view ending) {
  if (ending == ".npz") return fmt::format("numpy.load('{}')['NAME']", name);
  if (ending == ".pkl" || ending == ".pickle") return fmt::format("pickle.load(open('{}', 'rb'))", name);
  return fmt::format("torch.load('{}')", name);
}

void refuse_python_file(std::string_view content, const std::filesystem::path& file) {
  const std::string ending = lowercase(file.extension().string());
  const bool named_so = ending == ".pt" || ending == ".pth" || ending == ".pkl" || ending == ".pickle";
  if (!named_so && !is_pickle(content) && !content.starts_with(zip_signature)) return;
  const std::string load = loading(file.filename().string(), ending);
  const auto library = std::string_view(load).substr(0, load.find('.'));
  throw UserError(
      fmt::format("{}: only Python reads this kind of file; convert it with: python3 -c \"import numpy{}; "
                  "numpy.save('labels.npy', numpy.asarray({}, 'int64'))\"",
                  file.string(), library == "numpy" ? "" : fmt::format(", {}", library), load));
}

}  // namespace

std::optional<std::vector<std::int64_t>> parse_array(std::string_view content, const std::filesystem::path& file) {
  if (!content.starts_with(npy_signature)) {
    refuse_python_file(content, file);
    return std::nullopt;
  }
  const auto bytes = memory_bytes({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
  const std::string name = file.string();
  const NpyArray array = read_npy(*bytes, name);
  if (array.shape.size() != 1)
    throw UserError(fmt::format("{}: an array of {} dimensions; give one of 1 dimension", name, array.shape.size()));
  return integers(array, name);
}

}  // namespace regroup
