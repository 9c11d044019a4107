// regroup presets: the cells of the paper's tables as settings.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>

#include "cli.h"
#include "output.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

/// The comment in a preset's first line.
std::string_view title_of(const Preset& preset) {
  const std::string_view line = preset.text.substr(0, preset.text.find('\n'));
  return line.starts_with("# ") ? line.substr(2) : line;
}

void show(const std::string& name) {
  preset_values(name);  // says what is known if this is not
  for (const Preset& preset : presets())
    if (preset.name == name) write_out(preset.text);
}

}  // namespace

void add_presets_command(CLI::App& app) {
  auto name = std::make_shared<std::optional<std::string>>();
  CLI::App* command = app.add_subcommand("presets", "List the presets, or show one");
  command->add_option("name", *name, "The preset to show");
  command->footer("Example:\n  regroup presets cifar10-sym-0.5");
  command->callback([name] {
    if (*name) return show(**name);
    for (const Preset& preset : presets()) print_out("{:<24} {}\n", preset.name, title_of(preset));
  });
}

}  // namespace regroup
