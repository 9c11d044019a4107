#include "regroup/audit/saved_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "regroup/core/error.h"
#include "regroup/io/safetensors.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Similar samples of one class that a file has room for.
constexpr std::size_t most_similar = 4;

template <class T>
constexpr const char* dtype_of = nullptr;
template <>
constexpr const char* dtype_of<float> = "F32";
template <>
constexpr const char* dtype_of<double> = "F64";
template <>
constexpr const char* dtype_of<std::int32_t> = "I32";
template <>
constexpr const char* dtype_of<std::uint8_t> = "U8";

/// Columns of numbers on their way to a file, or back.
class Columns {
 public:
  template <class T>
  void add(const std::string& name, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    copies_.emplace_back(bytes.begin(), bytes.end());
    tensors_.push_back({name, dtype_of<T>, {static_cast<std::int64_t>(values.size())}, copies_.back()});
  }

  /// Texts, each with a zero behind it: names of files hold anything else.
  void add(const std::string& name, const std::vector<std::string>& texts) {
    std::vector<std::uint8_t> bytes;
    for (const std::string& text : texts) {
      std::ranges::remove_copy(text, std::back_inserter(bytes), '\0');
      bytes.push_back(0);
    }
    add(name, bytes);
  }

  void write(const fs::path& file) const { write_safetensors(file, tensors_, {{"format", "regroup audit 1"}}); }

 private:
  std::vector<std::vector<std::byte>> copies_;
  std::vector<TensorBytes> tensors_;
};

class Reader {
 public:
  Reader(SafetensorsFile file, std::string name) : name_(std::move(name)), file_(std::move(file)) {
    const auto format = file_.metadata().find("format");
    if (format == file_.metadata().end() || format->second != "regroup audit 1")
      throw UserError(name_ + ": is not what this regroup audit saves; audit the run again with --overwrite");
  }

  bool has(const std::string& column) const { return file_.find(column) != nullptr; }

  template <class T>
  std::vector<T> numbers(const std::string& column) const {
    const TensorBytes* const tensor = file_.find(column);
    if (tensor == nullptr || tensor->dtype != dtype_of<T>) fail("has no " + column);
    std::vector<T> values(tensor->bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
    return values;
  }

  template <class T>
  std::vector<T> numbers(const std::string& column, std::size_t count) const {
    std::vector<T> values = numbers<T>(column);
    if (values.size() != count) fail(fmt::format("has {} of {} instead of {}", values.size(), column, count));
    return values;
  }

  /// Whole numbers from `low` to `high`.
  std::vector<std::int32_t> numbers_between(const std::string& column, std::size_t count, std::int64_t low,
                                            std::int64_t high) const {
    std::vector<std::int32_t> values = numbers<std::int32_t>(column, count);
    if (std::ranges::any_of(values, [&](std::int32_t value) { return value < low || value > high; }))
      fail("has a number out of range among " + column);
    return values;
  }

  template <std::floating_point T>
  std::vector<T> shares(const std::string& column, std::size_t count) const {
    std::vector<T> values = numbers<T>(column, count);
    if (!std::ranges::all_of(values, [](T value) { return value >= 0 && value <= T(1.0001); }))
      fail("has no probability where one is expected among " + column);
    return values;
  }

  std::vector<std::string> texts(const std::string& column) const {
    const std::vector<std::uint8_t> bytes = numbers<std::uint8_t>(column);
    std::vector<std::string> texts;
    std::string text;
    for (const std::uint8_t byte : bytes) {
      if (byte != 0) {
        text += static_cast<char>(byte);
        continue;
      }
      texts.push_back(std::move(text));
      text.clear();
    }
    if (!text.empty()) fail("has an end within " + column);
    return texts;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{}: {}; the file is damaged, audit the run again with --overwrite", name_, what));
  }

 private:
  std::string name_;
  SafetensorsFile file_;
};

template <class T>
std::vector<T> column_of(const Audit& audit, const auto& value) {
  std::vector<T> values;
  values.reserve(audit.samples.size());
  for (const AuditedSample& sample : audit.samples) values.push_back(static_cast<T>(value(sample)));
  return values;
}

void add_samples(const Audit& audit, Columns& columns) {
  using S = const AuditedSample&;
  columns.add("index", column_of<std::int32_t>(audit, [](S s) { return s.index; }));
  columns.add("part", column_of<std::int32_t>(audit, [](S s) { return s.part; }));
  columns.add("given", column_of<std::int32_t>(audit, [](S s) { return s.given; }));
  columns.add("truth", column_of<std::int32_t>(audit, [](S s) { return s.truth; }));
  columns.add("right", column_of<float>(audit, [](S s) { return s.belief.right; }));
  columns.add("likeliest", column_of<std::int32_t>(audit, [](S s) { return s.belief.likeliest; }));
  columns.add("other", column_of<std::int32_t>(audit, [](S s) { return s.belief.other; }));
  columns.add("other_probability", column_of<float>(audit, [](S s) { return s.belief.other_probability; }));
  columns.add("none_of_these", column_of<float>(audit, [](S s) { return s.none_of_these; }));
  columns.add("duplicates", column_of<std::int32_t>(audit, [](S s) { return s.duplicates; }));
  columns.add("listed", column_of<std::int32_t>(audit, [](S s) { return s.listed ? 1 : 0; }));
  std::vector<std::string> paths;
  for (const AuditedSample& sample : audit.samples) paths.push_back(sample.path);
  columns.add("paths", paths);
  const auto has_text = [](const AuditedSample& sample) { return !sample.text.empty(); };
  if (std::ranges::none_of(audit.samples, has_text)) return;
  std::vector<std::string> texts;
  for (const AuditedSample& sample : audit.samples) texts.push_back(sample.text);
  columns.add("texts", texts);
}

void add_labels(const Audit& audit, Columns& columns) {
  std::vector<std::string> names;
  std::vector<std::int32_t> counts, likely;
  std::vector<float> probabilities;
  std::vector<double> rates, matrices, errors;
  const auto add_rate = [&](const Estimate& rate) { rates.insert(rates.end(), {rate.value, rate.low, rate.high}); };
  const auto classes = static_cast<int>(audit.class_names.size());
  for (const AuditedLabels& labels : audit.labels) {
    const Beliefs& beliefs = labels.beliefs;
    names.push_back(labels.name);
    counts.push_back(static_cast<std::int32_t>(beliefs.samples.size()));
    add_rate(beliefs.noise_rate);
    std::ranges::for_each(beliefs.class_noise_rates, add_rate);
    for (int y = 0; y < classes; ++y)
      for (const double share : beliefs.fit.transition.row(y)) matrices.push_back(share);
    errors.insert(errors.end(), {beliefs.uncertainty, beliefs.doubt});
    for (const LikelyClass& one : beliefs.likely) {
      likely.push_back(one.label);
      probabilities.push_back(one.probability);
    }
  }
  columns.add("labels.names", names);
  columns.add("labels.counts", counts);
  columns.add("labels.rates", rates);
  columns.add("labels.matrices", matrices);
  columns.add("labels.errors", errors);
  columns.add("likely.classes", likely);
  columns.add("likely.probabilities", probabilities);
}

void add_evidence(const Audit& audit, Columns& columns) {
  std::vector<std::int32_t> suspects, similar;
  std::vector<float> similarities;
  for (const Evidence& evidence : audit.evidence) {
    suspects.push_back(static_cast<std::int32_t>(evidence.suspect));
    for (const auto* of : {&evidence.like_given, &evidence.like_suggested}) {
      for (std::size_t k = 0; k < most_similar; ++k) {
        similar.push_back(k < of->size() ? static_cast<std::int32_t>((*of)[k].id) : -1);
        similarities.push_back(k < of->size() ? (*of)[k].similarity : 0);
      }
    }
  }
  columns.add("evidence.suspects", suspects);
  columns.add("evidence.similar", similar);
  columns.add("evidence.similarities", similarities);
}

void read_samples(const Reader& reader, Audit& audit) {
  const std::vector<std::int32_t> index = reader.numbers<std::int32_t>("index");
  const std::size_t count = index.size();
  const auto classes = static_cast<std::int64_t>(audit.class_names.size());
  const auto part = reader.numbers_between("part", count, 0, static_cast<std::int64_t>(audit.parts.size()) - 1);
  const auto given = reader.numbers_between("given", count, 0, classes - 1);
  const auto truth = reader.numbers_between("truth", count, -1, classes - 1);
  const auto likeliest = reader.numbers_between("likeliest", count, 0, classes - 1);
  const auto other = reader.numbers_between("other", count, -1, classes - 1);
  const auto duplicates = reader.numbers_between("duplicates", count, -1, static_cast<std::int64_t>(count));
  const auto listed = reader.numbers_between("listed", count, 0, 1);
  const auto right = reader.shares<float>("right", count);
  const auto other_probability = reader.shares<float>("other_probability", count);
  const auto none = reader.shares<float>("none_of_these", count);
  std::vector<std::string> paths = reader.texts("paths");
  if (paths.size() != count) reader.fail("has not one path per sample");
  std::vector<std::string> texts = reader.has("texts") ? reader.texts("texts") : std::vector<std::string>(count);
  if (texts.size() != count) reader.fail("has not one text per sample");
  audit.samples.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    AuditedSample& sample = audit.samples[i];
    if (index[i] < 0) reader.fail("has a negative index");
    sample.index = static_cast<std::uint32_t>(index[i]);
    sample.part = static_cast<std::uint8_t>(part[i]);
    sample.path = std::move(paths[i]);
    sample.text = std::move(texts[i]);
    sample.given = given[i];
    sample.truth = truth[i];
    sample.belief.right = right[i];
    sample.belief.likeliest = likeliest[i];
    sample.belief.other = other[i];
    sample.belief.other_probability = other_probability[i];
    sample.none_of_these = none[i];
    sample.duplicates = duplicates[i];
    sample.listed = listed[i] != 0;
  }
}

void read_labels(const Reader& reader, Audit& audit) {
  const std::vector<std::string> names = reader.texts("labels.names");
  const std::size_t groups = names.size(), classes = audit.class_names.size(), count = audit.samples.size();
  const auto counts = reader.numbers_between("labels.counts", groups, 0, static_cast<std::int64_t>(count));
  const auto rates = reader.shares<double>("labels.rates", groups * (classes + 1) * 3);
  const auto matrices = reader.shares<double>("labels.matrices", groups * classes * classes);
  const auto errors = reader.numbers<double>("labels.errors", groups * 2);
  if (!std::ranges::all_of(errors, [](double error) { return std::isfinite(error) && error >= 0; }))
    reader.fail("has an error that is none");
  const std::size_t each = std::min(classes, Beliefs::most_likely);
  const auto likely = reader.numbers_between("likely.classes", count * each, 0, static_cast<std::int64_t>(classes) - 1);
  const auto probabilities = reader.shares<float>("likely.probabilities", count * each);
  std::size_t first = 0;
  const auto rate_at = [&](std::size_t at) { return Estimate{rates[at * 3], rates[at * 3 + 1], rates[at * 3 + 2]}; };
  for (std::size_t g = 0; g < groups; ++g) {
    AuditedLabels labels{names[g], Beliefs(), first};
    Beliefs& beliefs = labels.beliefs;
    const auto size = static_cast<std::size_t>(counts[g]);
    if (first + size > count) reader.fail("has more labels than samples");
    for (std::size_t i = first; i < first + size; ++i) beliefs.samples.push_back(audit.samples[i].belief);
    beliefs.noise_rate = rate_at(g * (classes + 1));
    beliefs.fit.transition = TransitionMatrix(static_cast<int>(classes));
    for (std::size_t y = 0; y < classes; ++y) {
      beliefs.class_noise_rates.push_back(rate_at(g * (classes + 1) + 1 + y));
      for (std::size_t o = 0; o < classes; ++o)
        beliefs.fit.transition(static_cast<int>(y), static_cast<int>(o)) = matrices[(g * classes + y) * classes + o];
    }
    beliefs.uncertainty = errors[g * 2];
    beliefs.doubt = errors[g * 2 + 1];
    beliefs.likely_each = each;
    for (std::size_t k = first * each; k < (first + size) * each; ++k)
      beliefs.likely.push_back({likely[k], probabilities[k]});
    audit.labels.push_back(std::move(labels));
    first += size;
  }
  if (first != count) reader.fail("has samples without beliefs");
}

void read_evidence(const Reader& reader, Audit& audit) {
  const std::int64_t last = static_cast<std::int64_t>(audit.samples.size()) - 1;
  const std::size_t count = reader.numbers<std::int32_t>("evidence.suspects").size();
  const auto suspects = reader.numbers_between("evidence.suspects", count, 0, last);
  const auto similar = reader.numbers_between("evidence.similar", count * 2 * most_similar, -1, last);
  const auto similarities = reader.numbers<float>("evidence.similarities", similar.size());
  for (std::size_t e = 0; e < count; ++e) {
    Evidence evidence{static_cast<std::uint32_t>(suspects[e]), {}, {}};
    for (std::size_t k = e * 2 * most_similar; k < (e + 1) * 2 * most_similar; ++k)
      if (similar[k] >= 0)
        (k % (2 * most_similar) < most_similar ? evidence.like_given : evidence.like_suggested)
            .push_back({static_cast<std::uint32_t>(similar[k]), similarities[k]});
    audit.evidence.push_back(std::move(evidence));
  }
}

Audit take_audit(const Reader& reader) {
  Audit audit;
  audit.class_names = reader.texts("class_names");
  audit.parts = reader.texts("parts");
  const std::vector<std::string> root = reader.texts("root");
  if (root.size() != 1) reader.fail("has not one root");
  audit.root = root[0];
  audit.knows_history = reader.numbers_between("knows_history", 1, 0, 1)[0] != 0;
  audit.has_pictures = !reader.has("has_pictures") || reader.numbers_between("has_pictures", 1, 0, 1)[0] != 0;
  constexpr std::size_t most_classes = 20'000;  // as a matrix they fill gigabytes
  if (audit.class_names.empty() || audit.class_names.size() > most_classes || audit.parts.size() > 255)
    reader.fail("has an impossible number of classes or parts");
  read_samples(reader, audit);
  read_labels(reader, audit);
  read_evidence(reader, audit);
  return audit;
}

}  // namespace

void write_audit(const fs::path& file, const Audit& audit) {
  Columns columns;
  columns.add("class_names", audit.class_names);
  columns.add("parts", audit.parts);
  columns.add("root", std::vector<std::string>{audit.root.string()});
  columns.add("knows_history", std::vector<std::int32_t>{audit.knows_history ? 1 : 0});
  columns.add("has_pictures", std::vector<std::int32_t>{audit.has_pictures ? 1 : 0});
  add_samples(audit, columns);
  add_labels(audit, columns);
  add_evidence(audit, columns);
  columns.write(file);
}

Audit read_audit(const fs::path& file) { return take_audit(Reader(SafetensorsFile(file), file.string())); }

Audit read_audit(std::istream& in, const std::string& name) {
  return take_audit(Reader(SafetensorsFile(in, name), name));
}

}  // namespace regroup
