#include "regroup/audit/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "regroup/core/error.h"
#include "regroup/io/csv.h"
#include "regroup/io/text_file.h"

namespace regroup {
namespace {

constexpr std::array<std::string_view, 3> kind_names{"label", "none", "clear"};

/// The page has its texts from JSON, which holds no bytes that are not UTF-8: they have been replaced in what it saves.
std::string as_json_holds_it(const std::string& text) {
  using Json = nlohmann::json;
  const std::string json = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(json).get<std::string>();
}

/// From names of classes to their numbers and back.
class ClassNames {
 public:
  explicit ClassNames(const std::vector<std::string>& names) : names_(names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto [entry, is_new] = numbers_.emplace(as_json_holds_it(names[i]), static_cast<std::int32_t>(i));
      if (!is_new) entry->second = several;
    }
  }

  std::string text_of(std::int32_t label) const {
    const std::string& name = names_.at(static_cast<std::size_t>(label));
    std::string number = std::to_string(label);
    if (numbers_.at(as_json_holds_it(name)) != several) return spreadsheet_text(name);
    if (numbers_.contains(number))
      throw UserError(
          fmt::format("two classes are called '{}', and another one is called {}, which is the number of "
                      "one of them; give them other names",
                      shown(name), number));
    return number;
  }

  std::int32_t number_of(const CsvReader& reader, const std::string& field) const {
    const auto found = numbers_.find(as_json_holds_it(plain_text(field)));
    if (found != numbers_.end() && found->second != several) return found->second;
    if (found != numbers_.end())
      reader.fail(fmt::format("several classes are called '{}'; give the number of one", shown(field)));
    const auto number = whole_number(field);
    if (number && *number >= 0 && static_cast<std::uint64_t>(*number) < names_.size())
      return static_cast<std::int32_t>(*number);
    reader.fail(fmt::format("no class is called '{}'; the first one is '{}'", shown(field),
                            names_.empty() ? "" : shown(names_.front())));
  }

 private:
  static constexpr std::int32_t several = -1;

  const std::vector<std::string>& names_;
  std::map<std::string, std::int32_t> numbers_;
};

/// From a part and an index to the sample.
class SampleLookup {
 public:
  explicit SampleLookup(const Audit& audit) : audit_(audit) {
    samples_.reserve(audit.samples.size());
    for (std::size_t i = 0; i < audit.samples.size(); ++i)
      samples_.emplace(key(audit.samples[i].part, audit.samples[i].index), static_cast<std::uint32_t>(i));
  }

  std::uint32_t find(const CsvReader& reader, const std::string& index_field, const std::string& part_field) const {
    const auto part = std::ranges::find(audit_.parts, plain_text(part_field));
    if (part == audit_.parts.end())
      reader.fail(fmt::format("no part of the dataset is called '{}'; known: {}", shown(part_field), known_parts()));
    const auto index = whole_number(index_field);
    if (!index) reader.fail(fmt::format("index '{}' is not a whole number", shown(index_field)));
    const bool fits = *index >= 0 && *index <= std::int64_t{UINT32_MAX};
    const auto found = fits ? samples_.find(key(static_cast<std::size_t>(part - audit_.parts.begin()),
                                                static_cast<std::uint32_t>(*index)))
                            : samples_.end();
    if (found == samples_.end())
      reader.fail(fmt::format("the audit has judged no label {} of '{}'; are these decisions about another dataset?",
                              *index, shown(part_field)));
    return found->second;
  }

  void check_path(const CsvReader& reader, std::uint32_t sample, const std::string& field) const {
    const std::string& path = audit_.samples[sample].path;
    const std::string given = plain_text(field);
    if (given == path || as_json_holds_it(given) == as_json_holds_it(path)) return;
    reader.fail(fmt::format(
        "label {} is that of '{}' in the file and {} here; the file is about another dataset, or the "
        "folder has changed",
        audit_.samples[sample].index, shown(given), path.empty() ? "of no file" : fmt::format("of '{}'", shown(path))));
  }

 private:
  static std::uint64_t key(std::size_t part, std::uint32_t index) { return std::uint64_t{part} << 32 | index; }

  std::string known_parts() const {
    std::string parts;
    for (const std::string& part : audit_.parts) parts += (parts.empty() ? "" : ", ") + shown(part);
    return parts;
  }

  const Audit& audit_;
  std::unordered_map<std::uint64_t, std::uint32_t> samples_;
};

DecisionKind kind_of(const CsvReader& reader, const std::string& field) {
  const auto kind = decision_kind(field);
  if (!kind) reader.fail(fmt::format("unknown decision '{}'; known: label, none, clear", shown(field)));
  return *kind;
}

}  // namespace

std::string_view decision_name(DecisionKind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }

std::optional<DecisionKind> decision_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kind_names, name);
  if (found == kind_names.end()) return std::nullopt;
  return static_cast<DecisionKind>(found - kind_names.begin());
}

std::string decision_lines(std::span<const Decision> decisions, const Audit& audit) {
  const ClassNames classes(audit.class_names);
  CsvWriter csv;
  for (const Decision& decision : decisions) {
    const AuditedSample& sample = audit.samples.at(decision.sample);
    csv.row({std::to_string(sample.index), spreadsheet_text(audit.parts.at(sample.part)), spreadsheet_text(sample.path),
             std::string(decision_name(decision.kind)),
             decision.kind == DecisionKind::label ? classes.text_of(decision.label) : ""});
  }
  return csv.text();
}

std::string decisions_csv(std::span<const Decision> decisions, const Audit& audit) {
  return std::string(decisions_header) + decision_lines(decisions, audit);
}

std::vector<Decision> parse_decisions(std::string_view text, const std::string& name, const Audit& audit) {
  constexpr std::array<std::string_view, 5> known{"index", "part", "decision", "label", "path"};
  constexpr std::size_t required = 4;
  CsvReader reader(text, name);
  if (!reader.next())
    throw UserError(
        fmt::format("{}: is empty; its first line has to be {}", name, trimmed(lines(decisions_header)[0])));
  const auto columns = find_columns(reader, known, required, {});
  const std::size_t width = reader.fields().size();
  const SampleLookup samples(audit);
  const ClassNames classes(audit.class_names);
  std::vector<Decision> decisions;
  while (reader.next()) {
    reader.expect(width);
    const auto& fields = reader.fields();
    const std::string& label = fields[*columns[3]];
    Decision decision{samples.find(reader, fields[*columns[0]], fields[*columns[1]]),
                      kind_of(reader, fields[*columns[2]])};
    if (columns[4]) samples.check_path(reader, decision.sample, fields[*columns[4]]);
    if (decision.kind == DecisionKind::label) {
      decision.label = classes.number_of(reader, label);
    } else if (!label.empty()) {
      reader.fail(fmt::format("the decision '{}' has the label '{}'; leave the label empty, or decide 'label'",
                              decision_name(decision.kind), shown(label)));
    }
    decisions.push_back(decision);
  }
  return decisions;
}

std::vector<Decision> standing_decisions(std::span<const Decision> decisions) {
  std::map<std::uint32_t, Decision> last;
  for (const Decision& decision : decisions) last[decision.sample] = decision;
  std::vector<Decision> standing;
  for (const auto& [sample, decision] : last)
    if (decision.kind != DecisionKind::clear) standing.push_back(decision);
  return standing;
}

}  // namespace regroup
