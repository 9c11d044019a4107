#include "regroup/audit/audit_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "regroup/core/error.h"
#include "regroup/data/labels_file.h"
#include "regroup/io/csv.h"

namespace regroup {
namespace {

using Json = nlohmann::ordered_json;

bool has_texts(const Audit& audit) {
  return std::ranges::any_of(audit.samples, [](const AuditedSample& sample) { return !sample.text.empty(); });
}

bool has_paths(const Audit& audit) {
  return std::ranges::any_of(audit.samples, [](const AuditedSample& sample) { return !sample.path.empty(); });
}

bool has_truth(const Audit& audit) {
  return std::ranges::any_of(audit.samples, [](const AuditedSample& sample) { return sample.truth >= 0; });
}

const std::string& name_of(const Audit& audit, std::int32_t label) {
  static const std::string none;
  return label < 0 ? none : audit.class_names[static_cast<std::size_t>(label)];
}

bool is_train_part(const Audit& audit, const AuditedSample& sample) {
  return !audit.parts[sample.part].starts_with("test");
}

double rounded(double value) { return std::round(value * 1e5) / 1e5; }

Json estimate_json(const Estimate& estimate) {
  return {{"value", rounded(estimate.value)}, {"low", rounded(estimate.low)}, {"high", rounded(estimate.high)}};
}

/// How many samples were given each label.
std::vector<std::size_t> given_counts(const Audit& audit, const AuditedLabels& labels) {
  std::vector<std::size_t> counts(audit.class_names.size());
  for (std::size_t i = labels.first; i < labels.first + labels.beliefs.samples.size(); ++i)
    ++counts[static_cast<std::size_t>(audit.samples[i].given)];
  return counts;
}

Json labels_json(const Audit& audit, const AuditedLabels& labels) {
  const Beliefs& beliefs = labels.beliefs;
  Json json;
  json["labels"] = beliefs.samples.size();
  std::size_t issues = 0;
  for (const Belief& belief : beliefs.samples) issues += belief.right < 0.5F ? 1 : 0;
  json["label_issues"] = issues;
  json["noise_rate"] = estimate_json(beliefs.noise_rate);
  Json classes = Json::array(), matrix = Json::array();
  const std::vector<std::size_t> counts = given_counts(audit, labels);
  for (std::size_t y = 0; y < audit.class_names.size(); ++y) {
    classes.push_back({{"name", audit.class_names[y]},
                       {"labels", counts[y]},
                       {"noise_rate", estimate_json(beliefs.class_noise_rates[y])}});
    Json row = Json::array();
    for (const double share : beliefs.fit.transition.row(static_cast<int>(y))) row.push_back(rounded(share));
    matrix.push_back(row);
  }
  json["classes"] = classes;
  json["transition_matrix"] = matrix;
  json["sharpness"] = rounded(beliefs.fit.sharpness);
  json["trained_on"] = {{"scale", rounded(beliefs.trained_on.scale)}, {"shift", rounded(beliefs.trained_on.shift)}};
  json["held_out"] = {{"scale", rounded(beliefs.held_out.scale)}, {"shift", rounded(beliefs.held_out.shift)}};
  if (const auto quality = audit_quality(audit, labels)) {
    json["truth"] = {{"known", quality->known},
                     {"noise_rate", rounded(static_cast<double>(quality->wrong) / static_cast<double>(quality->known))},
                     {"calibration_error", rounded(quality->calibration_error)}};
    if (quality->wrong > 0) {
      json["truth"]["average_precision"] = rounded(quality->average_precision);
      json["truth"]["precision_worst_1_percent"] = rounded(quality->worst_precision);
      json["truth"]["recall_at_noise_rate"] = rounded(quality->recall);
      json["truth"]["suggestion_accuracy"] = rounded(quality->suggestion_accuracy);
    }
  }
  return json;
}

/// The same file by a name that no spreadsheet takes for a formula, for programs that open it.
std::string safe_path(const std::string& path) { return spreadsheet_text(path) == path ? path : "./" + path; }

/// Class names come from outside; no spreadsheet may take one for a formula.
std::string name_field(const Audit& audit, std::int32_t label) { return spreadsheet_text(name_of(audit, label)); }

/// The columns of a sample beside its index and path.
std::vector<std::string> finding_fields(const Audit& audit, const AuditedSample& sample) {
  return {name_field(audit, sample.given),
          name_field(audit, sample.belief.likeliest),
          fmt::format("{:.5f}", sample.belief.right),
          sample.is_issue() ? "True" : "False",
          name_field(audit, sample.belief.other),
          fmt::format("{:.5f}", sample.belief.other_probability),
          fmt::format("{:.5f}", sample.none_of_these),
          sample.duplicates < 0 ? "" : std::to_string(sample.duplicates)};
}

constexpr const char* finding_names[] = {"given_label",    "predicted_label",     "label_score",
                                         "is_label_issue", "suggested_label",     "suggested_probability",
                                         "none_of_these",  "near_duplicate_group"};

/// A text in JSON. Names of files may hold bytes that are no UTF-8, which JSON cannot hold; they are replaced.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct Confusion {
  std::int32_t given = 0, suggested = 0;
  std::size_t count = 0;
};

std::vector<Confusion> worst_confusions(const Audit& audit, std::size_t most) {
  const auto classes = audit.class_names.size();
  std::map<std::size_t, std::size_t> counts;
  for (const AuditedSample& sample : audit.samples)
    if (sample.is_issue() && sample.belief.other >= 0)
      ++counts[static_cast<std::size_t>(sample.given) * classes + static_cast<std::size_t>(sample.belief.other)];
  std::vector<Confusion> all;
  all.reserve(counts.size());
  for (const auto& [pair, count] : counts)
    all.push_back({static_cast<std::int32_t>(pair / classes), static_cast<std::int32_t>(pair % classes), count});
  std::ranges::stable_sort(all, std::greater{}, &Confusion::count);
  all.resize(std::min(all.size(), most));
  return all;
}

}  // namespace

std::string issues_csv(const Audit& audit) {
  const bool paths = has_paths(audit), truth = has_truth(audit), texts = has_texts(audit);
  CsvWriter csv;
  std::vector<std::string> fields{"index", "part"};
  if (paths) fields.emplace_back("path");
  fields.insert(fields.end(), std::begin(finding_names), std::end(finding_names));
  if (truth) fields.emplace_back("true_label");
  if (texts) fields.emplace_back("text");
  csv.row(fields);
  for (const std::uint32_t i : audit.worst_first()) {
    const AuditedSample& sample = audit.samples[i];
    fields = {std::to_string(sample.index), audit.parts[sample.part]};
    if (paths) fields.push_back(spreadsheet_text(sample.path));
    std::ranges::move(finding_fields(audit, sample), std::back_inserter(fields));
    if (truth) fields.push_back(name_field(audit, sample.truth));
    if (texts) fields.push_back(spreadsheet_text(sample.text));
    csv.row(fields);
  }
  return csv.text();
}

std::string summary_json(const Audit& audit) {
  Json json;
  json["class_names"] = audit.class_names;
  json["near_duplicates_with_different_labels"] = audit.contradictions();
  std::size_t none = 0;
  for (const AuditedSample& sample : audit.samples) none += sample.none_of_these >= 0.5F ? 1 : 0;
  json["none_of_these"] = none;
  for (const AuditedLabels& labels : audit.labels) {
    if (&labels == &audit.labels.front()) {
      json.update(labels_json(audit, labels));
    } else {
      json["tests"][labels.name] = labels_json(audit, labels);
    }
  }
  return dump(json, 1);
}

std::string label_studio_json(const Audit& audit, const std::filesystem::path& folder) {
  Json tasks = Json::array();
  for (const std::uint32_t i : audit.worst_first()) {
    const AuditedSample& sample = audit.samples[i];
    if (sample.path.empty()) continue;
    Json choice = {{"from_name", "label"},
                   {"to_name", "image"},
                   {"type", "choices"},
                   {"value", {{"choices", Json::array({name_of(audit, sample.belief.likeliest)})}}}};
    tasks.push_back(
        {{"data",
          {{"image", (folder / sample.path).string()},
           {"given_label", name_of(audit, sample.given)},
           {"label_score", rounded(static_cast<double>(sample.belief.right))}}},
         {"predictions",
          Json::array(
              {{{"model_version", "regroup"},
                {"score", rounded(static_cast<double>(std::max(sample.belief.right, sample.belief.other_probability)))},
                {"result", Json::array({choice})}}})}});
  }
  return dump(tasks, 0);
}

std::string metadata_csv(const Audit& audit) {
  CsvWriter csv;
  std::vector<std::string> fields{"file_name"};
  fields.insert(fields.end(), std::begin(finding_names), std::end(finding_names));
  csv.row(fields);
  for (const AuditedSample& sample : audit.samples) {
    if (sample.path.empty() || !sample.listed) continue;
    fields = {safe_path(sample.path)};
    std::ranges::move(finding_fields(audit, sample), std::back_inserter(fields));
    csv.row(fields);
  }
  return csv.text();
}

std::string corrected_csv(const Audit& audit, std::vector<std::int32_t> given, std::span<const std::int32_t> clean,
                          std::span<const std::string> paths) {
  for (const AuditedSample& sample : audit.samples) {
    if (!is_train_part(audit, sample)) continue;
    if (sample.index >= given.size())
      throw UserError(
          fmt::format("the audit knows image {} and there are {} labels; audit the run again with --overwrite",
                      sample.index, given.size()));
    given[sample.index] = sample.corrected();
  }
  std::vector<std::string> safe_paths;
  std::ranges::transform(paths, std::back_inserter(safe_paths), safe_path);
  return labels_csv(given, clean, safe_paths);
}

std::string trusted_csv(const Audit& audit) {
  std::vector<std::uint32_t> clear;
  for (const AuditedSample& sample : audit.samples)
    if (is_train_part(audit, sample) && sample.is_clear()) clear.push_back(sample.index);
  std::ranges::sort(clear);
  CsvWriter csv;
  csv.row(std::vector<std::string>{"index"});
  for (const std::uint32_t index : clear) csv.row(std::vector<std::string>{std::to_string(index)});
  return csv.text();
}

std::string neighbours_csv(const Audit& audit) {
  const bool paths = has_paths(audit);
  CsvWriter csv;
  std::vector<std::string> fields{"index",           "part",      "neighbour_index", "neighbour_part",
                                  "neighbour_label", "similarity"};
  if (paths) {
    fields.emplace_back("path");
    fields.emplace_back("neighbour_path");
  }
  csv.row(fields);
  for (const Evidence& evidence : audit.evidence) {
    const AuditedSample& suspect = audit.samples[evidence.suspect];
    for (const auto* similar : {&evidence.like_given, &evidence.like_suggested}) {
      for (const Neighbour& neighbour : *similar) {
        const AuditedSample& other = audit.samples[neighbour.id];
        fields = {std::to_string(suspect.index),  audit.parts[suspect.part],
                  std::to_string(other.index),    audit.parts[other.part],
                  name_field(audit, other.given), fmt::format("{:.4f}", neighbour.similarity)};
        if (paths) fields.insert(fields.end(), {spreadsheet_text(suspect.path), spreadsheet_text(other.path)});
        csv.row(fields);
      }
    }
  }
  return csv.text();
}

std::string audit_text(const Audit& audit) {
  constexpr std::size_t pairs = 5;
  std::string text;
  for (const AuditedLabels& labels : audit.labels) {
    const Beliefs& beliefs = labels.beliefs;
    const auto all = static_cast<double>(beliefs.samples.size());
    std::size_t issues = 0;
    for (const Belief& belief : beliefs.samples) issues += belief.right < 0.5F ? 1 : 0;
    text += fmt::format(
        "{} {}: about {:.0f} are wrong ({:.1f} %, between {:.1f} and {:.1f} %); {} are more probably wrong "
        "than right.\n",
        beliefs.samples.size(), labels.name, beliefs.noise_rate.value * all, 100 * beliefs.noise_rate.value,
        100 * beliefs.noise_rate.low, 100 * beliefs.noise_rate.high, issues);
    if (const auto quality = audit_quality(audit, labels); quality && quality->wrong > 0)
      text += fmt::format(
          "Of these labels the truth is known: {:.1f} % are wrong; average precision of the list {:.3f}, "
          "calibration error {:.3f}.\n",
          100 * static_cast<double>(quality->wrong) / static_cast<double>(quality->known), quality->average_precision,
          quality->calibration_error);
  }
  const auto confusions = worst_confusions(audit, pairs);
  if (!confusions.empty()) text += "\nMost frequent among them:\n";
  for (const Confusion& pair : confusions)
    text += fmt::format("  {:>6}  labelled {}, more probably {}\n", pair.count, name_of(audit, pair.given),
                        name_of(audit, pair.suggested));
  const auto none =
      std::ranges::count_if(audit.samples, [](const AuditedSample& s) { return s.none_of_these >= 0.5F; });
  if (none > 0) text += fmt::format("{} seem to belong to none of the classes.\n", none);
  if (audit.contradictions() > 0)
    text += fmt::format("{} {} are there more than once, with different labels.\n", audit.contradictions(),
                        audit.has_pictures ? "pictures" : "samples");
  return text;
}

}  // namespace regroup
