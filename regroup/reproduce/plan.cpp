#include "regroup/reproduce/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "regroup/core/error.h"
#include "regroup/core/hash.h"
#include "regroup/methods/method.h"
#include "regroup/reproduce/named_files.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

/// Settings that do not decide how a run ends.
bool is_circumstance(std::string_view name) {
  constexpr std::string_view circumstances[] = {"data-dir", "device",     "threads",          "workers",
                                                "cache",    "cache-size", "checkpoint-every", "keep-images"};
  return std::ranges::find(circumstances, name) != std::end(circumstances);
}

std::uint64_t digest(std::string_view text, std::uint64_t before = hash_start) {
  return hash_of(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), before);
}

/// Letters, digits, dots and dashes, so that it can be part of a file's name.
std::string file_word(const std::string& text) {
  std::string word;
  for (const char c : text.substr(0, 40)) word += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '-';
  return word;
}

/// The digest of a file's content. A file that stays as it is is read once: all runs of a grid may name the same.
std::string content_digest(const fs::path& file) {
  std::error_code error;
  const bool is_file = fs::is_regular_file(file, error);
  const auto size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error);
  if (!is_file || error) throw UserError(fmt::format("{}: is not a file that can be read", file.string()));
  static std::map<std::tuple<fs::path, std::uintmax_t, fs::file_time_type>, std::string> known;
  const auto [found, is_new] = known.try_emplace({fs::absolute(file), size, time});
  if (!is_new) return found->second;

  std::ifstream in(file, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 16);
  std::uint64_t hash = digest("");
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0)
    hash = digest({piece.data(), static_cast<std::size_t>(in.gcount())}, hash);
  if (!in.eof()) {
    known.erase(found);
    throw UserError(fmt::format("{}: cannot be read", file.string()));
  }
  return found->second = fmt::format("content {:016x}", hash);
}

/// A setting as it counts for the outcome of a run: a file by its content, so that it may be moved.
std::string outcome_text(const Settings& settings, std::string_view name) {
  const std::string value = to_text(settings.value(name));
  const NamedFile named = named_file(name, value);
  return named.file.empty() ? value : named.kind + content_digest(named.file);
}

/// A setting in the name of a run.
std::string name_part(const Settings& settings, std::string_view name) {
  const std::string& value = settings.text(name);
  const NamedFile named = named_file(name, value);
  return file_word(named.file.empty() ? value : named.kind.substr(0, named.kind.size() - 1));
}

std::string run_name(const Settings& settings, const std::string& after) {
  std::string text = "after = " + after;
  for (const SettingInfo& info : settings.all()) {
    if (is_circumstance(info.name)) continue;
    text += fmt::format("\n{} = {}", info.name, outcome_text(settings, info.name));
  }
  return fmt::format("{}-{}-{}-{:016x}-s{}", name_part(settings, "data"), name_part(settings, "noise"),
                     file_word(settings.text("method")), digest(text), settings.integer("seed"));
}

std::string data_of(const Grid& grid, const GridBlock& block) {
  std::string data;
  for (const auto* values : {&grid.values, &block.values})
    for (const GivenValue& value : *values)
      if (value.name == "data") data = to_text(value.value);
  return data;
}

std::int64_t seeds_of(const Grid& grid, const Scale& scale, const GridBlock& block, const GridColumn& column) {
  const auto found = scale.seeds_of.find(fmt::format("{}/{}/{}", grid.name, data_of(grid, block), column.id));
  if (found != scale.seeds_of.end()) return found->second;
  return scale.seeds == 0 ? grid.seeds : std::min(scale.seeds, grid.seeds);
}

const GridRow* row_before(const GridBlock& block, const GridRow& row) {
  const auto before =
      std::find_if(block.rows.begin(), block.rows.end(), [&](const GridRow& r) { return r.id == row.after; });
  return row.after.empty() || before == block.rows.end() ? nullptr : &*before;
}

/// A row after those that it builds on.
std::vector<const GridRow*> with_those_before(const GridBlock& block, const GridRow& row) {
  std::vector<const GridRow*> rows;
  for (const GridRow* one = &row; one; one = row_before(block, *one)) rows.insert(rows.begin(), one);
  return rows;
}

/// Phases that a grid gives in epochs are shares of its runs: where a scale makes these shorter, so are the phases, to
/// no less than one epoch.
std::vector<GivenValue> shorter_phases(const std::vector<std::vector<GivenValue>>& layers, std::int64_t epochs) {
  const auto own_epochs = static_cast<double>(resolve_settings(layers).integer("epochs"));
  std::vector<GivenValue> phases;
  if (own_epochs == 0 || epochs == 0) return phases;  // refused below
  for (const auto& layer : layers)
    for (const GivenValue& given : layer) {
      const auto* length = std::get_if<std::int64_t>(&given.value);
      if (!given.name.ends_with("-epochs") || length == nullptr || *length <= 0) continue;
      phases.push_back(given);
      phases.back().value =
          std::max(std::int64_t{1}, static_cast<std::int64_t>(std::lround(*length * epochs / own_epochs)));
    }
  return phases;
}

PlannedRun planned_run(const Grid& grid, const Scale& scale, const GridBlock& block, const GridRow& row,
                       const GridColumn& column, std::int64_t seed) {
  PlannedRun run{{}, Settings({}), {}};
  if (const GridRow* before = row_before(block, row))
    run.after = planned_run(grid, scale, block, *before, column, seed).name;
  const std::string place = fmt::format("{}, {}, {}", grid.name, row.label, column.label);
  std::vector<std::vector<GivenValue>> layers{
      grid.values, block.values, column.values, {{"method", row.method, place}}, row.values};
  std::vector<GivenValue> sizes = scale.values;
  if (const auto found = scale.epochs_of.find(row.method); found != scale.epochs_of.end())
    sizes.push_back({"epochs", found->second, "scale " + scale.name});
  std::vector<std::vector<GivenValue>> scaled = layers;
  scaled.push_back(sizes);
  layers.push_back(shorter_phases(layers, resolve_settings(scaled).integer("epochs")));
  layers.push_back(sizes);
  layers.push_back({{"seed", seed, place}});
  run.settings = resolve_settings(layers);
  if (run.settings.integer("epochs") == 0)
    throw UserError(fmt::format(
        "{}: a time budget would give each run epochs of its own; give epochs, or a recipe such as fast", place));
  try {
    run.name = run_name(run.settings, run.after);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", place, error.what()));
  }
  return run;
}

bool is_wanted(const std::vector<std::string>& names, const std::string& one, const std::string& other = {}) {
  return names.empty() ||
         std::any_of(names.begin(), names.end(), [&](const auto& n) { return n == one || n == other; });
}

/// A name that fits nothing is a slip of the pen, and must not become an empty plan.
void check_names(const std::vector<std::string>& names, const std::set<std::string>& known, std::string_view flag) {
  for (const std::string& name : names)
    if (!known.contains(name))
      throw UserError(
          fmt::format("{} {}: not in what was asked for; there are {}", flag, name, fmt::join(known, ", ")));
}

void check_narrowing(const std::vector<Grid>& grids, const Narrowing& narrowing) {
  std::set<std::string> rows, columns, blocks;
  for (const Grid& grid : grids)
    for (const GridBlock& block : grid.blocks) {
      blocks.insert({block.label, data_of(grid, block)});
      for (const GridRow& row : block.rows) rows.insert({row.id, row.method});
      for (const GridColumn& column : block.columns) columns.insert(column.id);
    }
  check_names(narrowing.rows, rows, "--only");
  check_names(narrowing.columns, columns, "--noise");
  check_names(narrowing.blocks, blocks, "--data");
}

}  // namespace

bool method_exists(const std::string& name) {
  return std::any_of(methods().begin(), methods().end(), [&](const MethodInfo& method) { return method.name == name; });
}

std::vector<PlannedRun> cell_runs(const Grid& grid, const Scale& scale, const GridBlock& block, const GridRow& row,
                                  const GridColumn& column) {
  std::vector<PlannedRun> runs;
  if (!method_exists(row.method)) return runs;
  for (std::int64_t seed = 1; seed <= seeds_of(grid, scale, block, column); ++seed)
    runs.push_back(planned_run(grid, scale, block, row, column, seed));
  return runs;
}

std::vector<PlannedRun> plan_runs(const std::vector<Grid>& grids, const Scale& scale, const Narrowing& narrowing) {
  check_narrowing(grids, narrowing);
  std::vector<PlannedRun> plan;
  std::set<std::string> names;
  const auto add = [&](const PlannedRun& run) {
    if (names.insert(run.name).second) plan.push_back(run);
  };
  for (const Grid& grid : grids)
    for (const GridBlock& block : grid.blocks)
      for (const GridColumn& column : block.columns)
        for (const GridRow& row : block.rows) {
          if (!is_wanted(narrowing.rows, row.id, row.method) || !is_wanted(narrowing.columns, column.id) ||
              !is_wanted(narrowing.blocks, block.label, data_of(grid, block)))
            continue;
          for (const GridRow* part : with_those_before(block, row))
            for (const PlannedRun& run : cell_runs(grid, scale, block, *part, column)) add(run);
        }
  std::stable_sort(plan.begin(), plan.end(), [](const PlannedRun& a, const PlannedRun& b) {
    return a.settings.integer("seed") < b.settings.integer("seed");
  });
  return plan;
}

}  // namespace regroup
