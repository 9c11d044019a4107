#include "regroup/audit/review_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "regroup/audit/page_files.h"
#include "regroup/audit/recalibrate.h"
#include "regroup/core/hash.h"
#include "regroup/report/svg.h"

namespace regroup {
namespace {

using Json = nlohmann::ordered_json;

/// A larger matrix is no picture any more.
constexpr std::size_t largest_matrix = 200;

double rounded(double value, double steps = 1e4) { return std::round(value * steps) / steps; }

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    for (std::size_t k = 0; k < 4; ++k) text += k <= bytes.size() - i ? digits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

/// Names the samples of an audit, whatever is believed about them: decisions that a browser keeps belong to them.
std::string key_of(const Audit& audit) {
  std::uint64_t hash = hash_start;
  const auto add = [&](std::string_view text) {
    hash = hash_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, hash);
  };
  for (const std::string& name : audit.class_names) add(name + '\n');
  for (const AuditedSample& sample : audit.samples)
    add(fmt::format("{} {} {} {}\n", audit.parts[sample.part], sample.index, sample.given, sample.path));
  return fmt::format("{:016x}", hash);
}

Json rate_json(const Estimate& rate) { return {rounded(rate.value), rounded(rate.low), rounded(rate.high)}; }

Json labels_json(const Audit& audit, const AuditedLabels& labels) {
  const Beliefs& beliefs = labels.beliefs;
  const std::size_t classes = audit.class_names.size();
  std::vector<std::size_t> counts(classes);
  std::size_t issues = 0;
  for (std::size_t i = labels.first; i < labels.first + beliefs.samples.size(); ++i) {
    ++counts[static_cast<std::size_t>(audit.samples[i].given)];
    issues += audit.samples[i].is_issue() ? 1 : 0;
  }
  Json json = {{"name", labels.name},
               {"labels", beliefs.samples.size()},
               {"issues", issues},
               {"noise_rate", rate_json(beliefs.noise_rate)}};
  json["classes"] = Json::array();
  for (std::size_t y = 0; y < classes; ++y)
    json["classes"].push_back({{"labels", counts[y]}, {"noise_rate", rate_json(beliefs.class_noise_rates[y])}});
  json["matrix"] = nullptr;
  if (classes > largest_matrix) return json;
  json["matrix"] = Json::array();
  for (std::size_t y = 0; y < classes; ++y) {
    Json row = Json::array();
    for (const double share : beliefs.fit.transition.row(static_cast<int>(y))) row.push_back(rounded(share));
    json["matrix"].push_back(row);
  }
  return json;
}

/// What stands in the place of a picture.
std::string shown_text(const Audit& audit, const AuditedSample& sample) {
  constexpr std::size_t longest = 4000;
  if (sample.text.empty()) return fmt::format("row {} of {}", sample.index, audit.parts[sample.part]);
  return sample.text.substr(0, longest);
}

Json samples_json(const Audit& audit, const ReviewSamples& chosen, const Tiles* tiles) {
  Json json;
  for (const char* column :
       {"id", "index", "part", "name", "given", "right", "likely", "none", "group", "width", "height"})
    json[column] = Json::array();
  for (std::size_t i = 0; i < chosen.samples.size(); ++i) {
    const AuditedSample& sample = audit.samples[chosen.samples[i]];
    Json likely = Json::array();
    for (const LikelyClass& one : audit.likely_of(chosen.samples[i])) {
      likely.push_back(one.label);
      likely.push_back(rounded(static_cast<double>(one.probability)));
    }
    const ImageSize picture = tiles != nullptr ? tiles->pictures[i] : ImageSize{};
    json["id"].push_back(chosen.samples[i]);
    json["index"].push_back(sample.index);
    json["part"].push_back(sample.part);
    json["name"].push_back(sample.path);
    json["given"].push_back(sample.given);
    json["right"].push_back(rounded(static_cast<double>(sample.belief.right), 1e6));
    json["likely"].push_back(std::move(likely));
    json["none"].push_back(rounded(static_cast<double>(sample.none_of_these)));
    json["group"].push_back(sample.duplicates);
    json["width"].push_back(picture.width);
    json["height"].push_back(picture.height);
    if (!audit.has_pictures) json["text"].push_back(shown_text(audit, sample));
  }
  return json;
}

Json evidence_json(const Audit& audit, const ReviewSamples& chosen) {
  std::map<std::uint32_t, std::size_t> place;
  for (std::size_t i = 0; i < chosen.samples.size(); ++i) place[chosen.samples[i]] = i;
  const auto places = [&](const std::vector<Neighbour>& similar) {
    Json json = Json::array();
    for (const Neighbour& neighbour : similar)
      if (const auto found = place.find(neighbour.id); found != place.end()) json.push_back(found->second);
    return json;
  };
  Json json = Json::object();
  for (const Evidence& evidence : audit.evidence) {
    const auto found = place.find(evidence.suspect);
    if (found == place.end() || found->second >= chosen.listed) continue;
    json[std::to_string(found->second)] = {{"given", places(evidence.like_given)},
                                           {"other", places(evidence.like_suggested)}};
  }
  return json;
}

/// The members of groups of duplicates whose labels differ.
std::vector<std::uint32_t> contradicting(const Audit& audit) {
  std::map<std::int32_t, std::vector<std::uint32_t>> groups;
  for (std::uint32_t i = 0; i < audit.samples.size(); ++i)
    if (audit.samples[i].duplicates >= 0) groups[audit.samples[i].duplicates].push_back(i);
  std::vector<std::uint32_t> members;
  for (const auto& [number, group] : groups) {
    const auto label = [&](std::uint32_t i) { return audit.samples[i].given; };
    if (std::ranges::adjacent_find(group, std::ranges::not_equal_to{}, label) != group.end())
      members.insert(members.end(), group.begin(), group.end());
  }
  return members;
}

/// `text` with each {{marker}} replaced; what is put in is not searched again.
std::string filled_in(std::string_view text, const std::map<std::string_view, std::string_view>& values) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find("{{"), end = text.find("}}", begin);
    out += text.substr(0, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) return out;
    out += values.at(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
  }
}

}  // namespace

ReviewSamples choose_review(const Audit& audit, std::size_t most_listed, std::size_t most_others) {
  const std::vector<std::uint32_t> order = audit.worst_first();
  std::vector<std::uint8_t> taken(audit.samples.size());
  std::size_t listed = 0;
  const auto list = [&](std::uint32_t i, std::size_t limit) {
    if (listed >= limit || taken[i] != 0 || !audit.samples[i].listed) return;
    taken[i] = 1;
    ++listed;
  };
  const std::size_t tenth = most_listed / 10;
  for (const std::uint32_t i : contradicting(audit)) list(i, tenth);
  for (const std::uint32_t i : order)
    if (audit.samples[i].none_of_these >= 0.5F) list(i, 2 * tenth);
  for (const std::uint32_t i : order) list(i, most_listed);

  ReviewSamples chosen;
  for (const std::uint32_t i : order)
    if (taken[i] != 0) chosen.samples.push_back(i);
  chosen.listed = chosen.samples.size();
  const auto add = [&](std::uint32_t i) {
    if (taken[i] != 0 || chosen.samples.size() >= chosen.listed + most_others) return;
    taken[i] = 1;
    chosen.samples.push_back(i);
  };
  for (const Evidence& evidence : audit.evidence) {
    for (const Neighbour& neighbour : evidence.like_given) add(neighbour.id);
    for (const Neighbour& neighbour : evidence.like_suggested) add(neighbour.id);
  }
  return chosen;
}

std::string review_json(const Audit& audit, const ReviewRun& run, const ReviewSamples& chosen, const Tiles* tiles,
                        std::span<const Decision> decisions) {
  std::vector<std::uint8_t> listed(audit.samples.size());
  for (std::size_t i = 0; i < chosen.listed; ++i) listed[chosen.samples[i]] = 1;
  std::size_t unlisted = 0;
  double unlisted_wrong = 0;
  for (std::size_t i = 0; i < audit.samples.size(); ++i) {
    if (listed[i] != 0 || !audit.samples[i].listed) continue;
    ++unlisted;
    unlisted_wrong += 1 - static_cast<double>(audit.samples[i].belief.right);
  }
  Json json = {{"version", 1},
               {"served", tiles == nullptr},
               {"title", run.title},
               {"key", key_of(audit)},
               {"run", run.folder},
               {"findings", run.findings},
               {"classes", audit.class_names},
               {"parts", audit.parts},
               {"listed", chosen.listed},
               {"unlisted", unlisted},
               {"unlisted_wrong", rounded(unlisted_wrong)},
               {"spread", shift_spread(audit)},
               {"samples", samples_json(audit, chosen, tiles)},
               {"evidence", evidence_json(audit, chosen)}};
  json["labels"] = Json::array();
  for (const AuditedLabels& labels : audit.labels) json["labels"].push_back(labels_json(audit, labels));
  json["facts"] = run.facts;
  json["charts"] = run.charts;
  json["decisions"] = Json::array();
  for (const Decision& decision : decisions) {
    Json one = {{"id", decision.sample}, {"decision", decision_name(decision.kind)}};
    if (decision.kind == DecisionKind::label) one["label"] = decision.label;
    json["decisions"].push_back(one);
  }
  if (tiles != nullptr) {
    json["tile"] = {{"size", tiles->size}, {"columns", tiles->columns}, {"rows", tiles->rows}};
    json["tile"]["sheets"] = Json::array();
    for (const std::string& sheet : tiles->sheets) json["tile"]["sheets"].push_back(base64(sheet));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string review_page(std::string_view title, std::string_view nonce, std::string_view json) {
  std::string data;
  data.reserve(json.size());
  // Nothing in a name may end the script that it stands in.
  for (const char c : json) c == '<' ? data += "\\u003c" : data += c;
  const std::string safe_title = xml_text(title);
  // One scope of its own, so that nothing of the page is a global name.
  std::string script = "(() => {\n\"use strict\";\n";
  for (const std::string_view file : page_scripts) script += file;
  script += "})();\n";
  return filled_in(page_html,
                   {{"title", safe_title}, {"nonce", nonce}, {"style", page_css}, {"script", script}, {"data", data}});
}

std::string content_security_policy(std::string_view nonce) {
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src 'self' blob: data:; connect-src "
      "'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      nonce);
}

std::string make_nonce() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

}  // namespace regroup
