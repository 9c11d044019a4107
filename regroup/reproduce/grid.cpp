#include "regroup/reproduce/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "regroup/core/error.h"
#include "regroup/io/text_file.h"
#include "regroup/io/toml_file.h"

namespace regroup {
namespace {

/// A table of a TOML file, which says where it stands when something is wrong with it.
class Section {
 public:
  Section(const toml::table& table, std::string place) : table_(table), place_(std::move(place)) {}

  std::string text(std::string_view key, const std::string& fallback = {}) {
    const toml::node* node = take(key);
    if (!node) return fallback;
    if (!node->is_string()) throw UserError(fmt::format("{}: {} is not a text", place_, key));
    return node->as_string()->get();
  }

  std::string needed_text(std::string_view key) {
    std::string value = text(key);
    if (value.empty()) throw UserError(fmt::format("{}: {} is missing", place_, key));
    return value;
  }

  std::int64_t count(std::string_view key, std::int64_t fallback) {
    const toml::node* node = take(key);
    if (!node) return fallback;
    const auto* number = node->as_integer();
    if (!number || number->get() < 1 || number->get() > 10'000)
      throw UserError(fmt::format("{}: {} is not a whole number from 1 to 10000", place_, key));
    return number->get();
  }

  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> values;
    each(key, [&](const toml::node& node, const std::string& place) {
      if (!node.is_string()) throw UserError(fmt::format("{} is not a text", place));
      values.push_back(node.as_string()->get());
    });
    return values;
  }

  std::vector<Section> sections(std::string_view key) {
    std::vector<Section> found;
    each(key, [&](const toml::node& node, const std::string& place) {
      if (!node.is_table()) throw UserError(fmt::format("{} is not a table", place));
      found.emplace_back(*node.as_table(), place);
    });
    return found;
  }

  /// The settings in a table of their own.
  std::vector<GivenValue> settings(std::string_view key) {
    const toml::node* node = take(key);
    if (!node) return {};
    if (!node->is_table()) throw UserError(fmt::format("{}: {} is not a table of settings", place_, key));
    return Section(*node->as_table(), fmt::format("{}: {}", place_, key)).other_settings();
  }

  std::map<std::string, std::int64_t> counts(std::string_view key) {
    std::map<std::string, std::int64_t> values;
    each_named(key, "numbers",
               [&](Section& inner, std::string_view name) { values[std::string(name)] = inner.count(name, 1); });
    return values;
  }

  std::map<std::string, std::string> named_texts(std::string_view key) {
    std::map<std::string, std::string> values;
    each_named(key, "texts",
               [&](Section& inner, std::string_view name) { values[std::string(name)] = inner.needed_text(name); });
    return values;
  }

  /// What was not asked for yet: the settings of a run.
  std::vector<GivenValue> other_settings() {
    toml::table rest = table_;
    rest.is_inline(false);
    for (const std::string& key : taken_) rest.erase(key);
    std::ostringstream text;
    text << rest;
    std::vector<GivenValue> values = parse_config(text.str(), place_);
    for (GivenValue& value : values) value.optional = true;
    return values;
  }

  void nothing_else() {
    for (const auto& [key, node] : table_)
      if (!taken_.contains(std::string(key.str())))
        throw UserError(fmt::format("{}: '{}' is not known here; settings of the runs stand in settings = {{ ... }}",
                                    place_, key.str()));
  }

 private:
  const toml::node* take(std::string_view key) {
    taken_.insert(std::string(key));
    return table_.get(key);
  }

  template <class Use>
  void each(std::string_view key, Use use) {
    const toml::node* node = take(key);
    if (!node) return;
    if (!node->is_array()) throw UserError(fmt::format("{}: {} is not a list", place_, key));
    std::size_t number = 0;
    for (const toml::node& element : *node->as_array()) use(element, fmt::format("{}: {} {}", place_, key, ++number));
  }

  template <class Use>
  void each_named(std::string_view key, std::string_view what, Use use) {
    const toml::node* node = take(key);
    if (!node) return;
    if (!node->is_table()) throw UserError(fmt::format("{}: {} is not a table of {}", place_, key, what));
    Section inner(*node->as_table(), fmt::format("{}: {}", place_, key));
    for (const auto& [name, value] : inner.table_) use(inner, name.str());
  }

  const toml::table& table_;
  std::string place_;
  std::set<std::string> taken_;
};

Shown shown_of(const std::string& word, const std::string& name) {
  if (word == "accuracy") return Shown::accuracy;
  if (word == "curves") return Shown::curves;
  if (word == "losses") return Shown::losses;
  if (word == "cost") return Shown::cost;
  if (word == "audit") return Shown::audit;
  throw UserError(fmt::format("{}: show: unknown '{}'; known: accuracy, curves, losses, cost, audit", name, word));
}

GridColumn column_of(Section section) {
  GridColumn column;
  column.label = section.needed_text("label");
  column.id = section.text("id", column.label);
  column.group = section.text("group");
  column.preset = section.text("preset");
  column.test = section.text("test", column.test);
  column.values = section.other_settings();
  return column;
}

GridRow row_of(Section section) {
  GridRow row;
  row.label = section.needed_text("label");
  row.method = section.needed_text("method");
  row.id = section.text("id", row.method);
  row.series = section.text("series", row.label);
  row.after = section.text("after");
  row.paper = section.texts("paper");
  row.values = section.other_settings();
  return row;
}

GridBlock block_of(Section section, const std::string& name, const std::string& reference) {
  GridBlock block;
  block.label = section.needed_text("label");
  block.reference = section.text("reference", reference);
  block.values = section.settings("settings");
  for (Section& column : section.sections("columns")) block.columns.push_back(column_of(column));
  for (Section& row : section.sections("rows")) block.rows.push_back(row_of(row));
  section.nothing_else();
  const std::string place = fmt::format("{}, block {}", name, block.label);
  if (block.columns.empty() || block.rows.empty())
    throw UserError(fmt::format("{}: needs columns = [...] and rows = [...]", place));
  if (block.reference.empty()) block.reference = block.rows.back().label;
  if (std::none_of(block.rows.begin(), block.rows.end(),
                   [&](const GridRow& row) { return row.label == block.reference; }))
    throw UserError(fmt::format("{}: reference: no row is called '{}'", place, block.reference));
  for (const GridColumn& column : block.columns)
    if (column.test != "test" && !column.test.starts_with("test-"))
      throw UserError(fmt::format("{}: column {}: test = '{}' is no test set; give test or test-NAME", place,
                                  column.label, column.test));
  for (const GridRow& row : block.rows) {
    if (!row.paper.empty() && row.paper.size() != block.columns.size())
      throw UserError(fmt::format("{}: row {} has {} figures of the paper for {} columns", place, row.label,
                                  row.paper.size(), block.columns.size()));
    const auto is_earlier = [&](const GridRow& other) { return other.id == row.after && &other < &row; };
    if (!row.after.empty() && std::none_of(block.rows.begin(), block.rows.end(), is_earlier))
      throw UserError(
          fmt::format("{}: row {} comes after '{}', which is no row before it", place, row.label, row.after));
  }
  return block;
}

/// The TOML of a built-in by its name, or of a file.
std::string find_text(const std::vector<BuiltIn>& built_in, const std::string& name, std::string_view what) {
  if (name.ends_with(".toml")) return read_text(name);
  std::vector<std::string_view> names;
  for (const BuiltIn& one : built_in) {
    if (one.name == name) return std::string(one.text);
    names.push_back(one.name);
  }
  throw UserError(
      fmt::format("unknown {} '{}'; known: {}, or a file that ends with .toml", what, name, fmt::join(names, ", ")));
}

}  // namespace

Grid parse_grid(std::string_view toml, const std::string& name) {
  const toml::table table = parse_toml(toml, name);
  Section section(table, name);
  Grid grid;
  grid.name = name;
  grid.title = section.text("title", name);
  grid.caption = section.text("caption");
  grid.source = section.text("source");
  const std::string reference = section.text("reference");
  grid.notes = section.texts("notes");
  grid.needs = section.named_texts("needs");
  grid.seeds = section.count("seeds", 1);
  grid.values = section.settings("settings");
  for (const std::string& word : section.texts("show")) grid.shown.push_back(shown_of(word, name));
  if (grid.shown.empty()) grid.shown.push_back(Shown::accuracy);
  grid.against = section.text("against");
  if (grid.against.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    throw UserError(
        fmt::format("{}: against = '{}' is no column of metrics.csv; give one, or minutes", name, grid.against));
  for (Section& block : section.sections("block")) grid.blocks.push_back(block_of(block, name, reference));
  section.nothing_else();
  if (grid.blocks.empty()) throw UserError(fmt::format("{}: has no [[block]]", name));
  return grid;
}

Scale parse_scale(std::string_view toml, const std::string& name) {
  const toml::table table = parse_toml(toml, name);
  Section section(table, name);
  Scale scale;
  scale.name = name;
  scale.description = section.text("description");
  scale.seeds = section.count("seeds", 0);
  scale.seeds_of = section.counts("seeds-of");
  scale.values = section.settings("settings");
  scale.epochs_of = section.counts("epochs-of");
  section.nothing_else();
  return scale;
}

Grid find_grid(const std::string& name_or_file, std::string* text) {
  std::string found = find_text(built_in_grids(), name_or_file, "table");
  Grid grid = parse_grid(found, std::filesystem::path(name_or_file).stem().string());
  if (text) *text = std::move(found);
  return grid;
}

Scale find_scale(const std::string& name_or_file) {
  return parse_scale(find_text(built_in_scales(), name_or_file, "scale"),
                     std::filesystem::path(name_or_file).stem().string());
}

}  // namespace regroup
