#include "regroup/audit/decision_json.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "regroup/core/error.h"

namespace regroup {
namespace {

using Json = nlohmann::json;

/// A decision lies in an object in a list in an object.
constexpr std::size_t max_depth = 3;

[[noreturn]] void refuse_number(std::size_t number) {
  throw UserError(fmt::format("decisions: {} or more at once; send at most {}", number, max_batch));
}

/// Who nests a million lists in each other, or sends as many objects, is stopped before they are in memory. Whether it
/// is JSON at all, the parser finds out.
void check_shape(std::string_view text) {
  std::size_t depth = 0, begun = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && is_quoted) ++i;
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '{' || c == '[') {
      if (++depth > max_depth) throw UserError("decisions: nested too deeply; send a list of objects");
      if (++begun > max_batch + max_depth - 1) refuse_number(max_batch + 1);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
}

Json parse(std::string_view text) {
  check_shape(text);
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    throw UserError(R"(decisions: the text is no JSON; send {"decisions": [...]})");
  }
}

class Reader {
 public:
  Reader(std::size_t samples, int classes) : samples_(samples), classes_(classes) {}

  Decision read(const Json& json, std::size_t place) const {
    if (!json.is_object()) fail(place, "is no object");
    const Json &id = member(json, "id"), &name = member(json, "decision"), &label = member(json, "label");
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= samples_)
      fail(place, fmt::format("'id' must be a whole number below {}", samples_));
    const auto kind = name.is_string() ? decision_kind(name.get_ref<const std::string&>()) : std::nullopt;
    if (!kind) fail(place, "'decision' must be label, none or clear");
    Decision decision{id.get<std::uint32_t>(), *kind};
    if (*kind == DecisionKind::label) {
      if (!label.is_number_unsigned() || label.get<std::uint64_t>() >= static_cast<std::uint64_t>(classes_))
        fail(place, fmt::format("'label' must be a whole number below {}", classes_));
      decision.label = label.get<std::int32_t>();
    } else if (!label.is_null()) {
      fail(place, fmt::format("the decision '{}' has no label", decision_name(*kind)));
    }
    return decision;
  }

 private:
  static const Json& member(const Json& object, const char* name) {
    static const Json null;
    const auto found = object.find(name);
    return found == object.end() ? null : *found;
  }

  [[noreturn]] static void fail(std::size_t place, const std::string& what) {
    throw UserError(fmt::format("decision {} of the list: {}; none was kept", place + 1, what));
  }

  std::size_t samples_;
  int classes_;
};

}  // namespace

std::vector<Decision> decisions_of_json(std::string_view text, std::size_t samples, int classes) {
  const Json json = parse(text);
  const auto list = json.is_object() ? json.find("decisions") : json.end();
  if (list == json.end() || !list->is_array()) throw UserError(R"(decisions: no list; send {"decisions": [...]})");
  if (list->size() > max_batch) refuse_number(list->size());
  const Reader reader(samples, classes);
  std::vector<Decision> decisions;
  decisions.reserve(list->size());
  for (const Json& decision : *list) decisions.push_back(reader.read(decision, decisions.size()));
  return decisions;
}

std::string json_of_decisions(std::uint64_t last, std::span<const Decision> decisions) {
  std::string json = fmt::format(R"({{"seq":{},"decisions":[)", last);
  const auto end = std::back_inserter(json);
  bool is_first = true;
  for (const Decision& decision : decisions) {
    fmt::format_to(end, R"({}{{"id":{},"decision":"{}")", is_first ? "" : ",", decision.sample,
                   decision_name(decision.kind));
    if (decision.kind == DecisionKind::label) fmt::format_to(end, R"(,"label":{})", decision.label);
    json += '}';
    is_first = false;
  }
  return json + "]}";
}

}  // namespace regroup
