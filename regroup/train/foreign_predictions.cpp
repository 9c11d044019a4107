#include "regroup/train/foreign_predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "regroup/core/error.h"
#include "regroup/data/labels_file.h"
#include "regroup/io/csv.h"
#include "regroup/io/npy.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

std::vector<float> numbers_of(const NpyArray& array, const std::string& name) {
  const auto values = [&]<class T>(T) {
    std::vector<T> read(array.bytes.size() / sizeof(T));
    std::memcpy(read.data(), array.bytes.data(), read.size() * sizeof(T));
    return std::vector<float>(read.begin(), read.end());
  };
  if (array.dtype == "<f4") return values(float{});
  if (array.dtype == "<f8") return values(double{});
  throw UserError(fmt::format("{}: has numbers of type {}; save it as float32: numpy.save(FILE, p.astype('float32'))",
                              name, array.dtype));
}

void check_rows(const std::vector<float>& rows, std::size_t classes, const std::string& name) {
  constexpr double tolerance = 1e-2;
  for (std::size_t i = 0; i < rows.size() / classes; ++i) {
    double sum = 0;
    bool fits = true;
    for (std::size_t y = 0; y < classes; ++y) {
      const float p = rows[i * classes + y];
      fits = fits && p >= 0 && p <= 1 + static_cast<float>(tolerance);
      sum += static_cast<double>(p);
    }
    if (!fits || std::abs(sum - 1) > tolerance)
      throw UserError(
          fmt::format("{}: row {} is no row of probabilities: its numbers sum to {:.4g}{}; give the softmax, "
                      "not logits",
                      name, i, sum, fits ? "" : ", and some are not between 0 and 1"));
  }
}

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The names of the classes: numbers, or, where the labels of the file are names, these in alphabetical order.
std::vector<std::string> names_in(const std::filesystem::path& labels, std::size_t classes) {
  std::vector<std::string> numbers;
  for (std::size_t y = 0; y < classes; ++y) numbers.push_back(std::to_string(y));
  if (labels.extension() == ".npy") return numbers;
  const std::string text = read_text(labels, std::size_t{1} << 30);
  CsvReader csv(text, labels.string());
  std::set<std::string> names;
  std::size_t column = 0;
  for (bool first = true; csv.next(); first = false) {
    const auto& fields = csv.fields();
    if (first) {
      std::size_t found = fields.size();
      for (std::size_t i = 0; i < fields.size(); ++i)
        if (column_name(fields[i]) == "label") found = i;
      if (found < fields.size()) {
        column = found;
        continue;
      }
    }
    if (column < fields.size() && !is_number(fields[column])) names.insert(fields[column]);
  }
  if (names.empty()) return numbers;
  if (names.size() != classes)
    throw UserError(fmt::format("{}: has {} different names of classes, and the probabilities have {} columns",
                                labels.string(), names.size(), classes));
  return {names.begin(), names.end()};
}

}  // namespace

ForeignPredictions read_foreign_predictions(const std::filesystem::path& probabilities,
                                            const std::filesystem::path& labels) {
  const NpyArray array = read_npy(probabilities);
  const std::string name = probabilities.string();
  if (array.shape.size() != 2 || array.fortran_order || array.shape[1] < 2)
    throw UserError(fmt::format("{}: must be an array of samples x classes, at least two classes, in C order", name));
  ForeignPredictions foreign;
  foreign.probabilities = numbers_of(array, name);
  const std::size_t samples = array.shape[0], classes = array.shape[1];
  check_rows(foreign.probabilities, classes, name);
  Dataset dataset;
  dataset.name = name;
  dataset.class_names = names_in(labels, classes);
  dataset.train.labels.assign(samples, 0);
  foreign.labels = read_labels(labels, dataset).labels;
  foreign.class_names = std::move(dataset.class_names);
  return foreign;
}

}  // namespace regroup
