// regroup presets: the cells of the paper's tables as settings.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/methods/method.h"
#include "regroup/reproduce/presets.h"

namespace regroup {
namespace {

struct PresetFlags {
  std::optional<std::string> name;
  std::string method;
};

void show(const PresetFlags& flags) {
  if (!flags.method.empty()) method_named(flags.method);  // says what is known if this is not
  std::vector<GivenValue> values = preset_values(*flags.name, flags.method);
  std::vector<GivenValue> layer = values;
  if (!flags.method.empty()) layer.push_back({"method", flags.method, "--method"});
  // What belongs to the methods of other rows alone is left out.
  const Settings settings = resolve_settings({layer});
  std::erase_if(values,
                [&](const GivenValue& value) { return !settings.declared(value.name) || value.name == "method"; });
  values.push_back({"method", settings.text("method"), "--method"});
  for (const Preset& preset : presets())
    if (preset.name == *flags.name) print_out("# {}\n", preset.title);
  write_out(config_text(values));
}

}  // namespace

void add_presets_command(CLI::App& app) {
  auto flags = std::make_shared<PresetFlags>();
  CLI::App* command = app.add_subcommand("presets", "List the presets, or show one");
  command->add_option("name", flags->name, "The preset to show");
  command->add_option("--method", flags->method, "Show it for this method, as its row of the table has it");
  command->footer("Example:\n  regroup presets cifar10-sym-0.5 --method pes");
  command->callback([flags] {
    if (flags->name) return show(*flags);
    if (!flags->method.empty()) throw UserError("--method: name the preset that is to be shown for it");
    for (const Preset& preset : presets()) print_out("{:<24} {}\n", preset.name, preset.title);
  });
}

}  // namespace regroup
