// regroup train: trains a classifier and leaves a run folder.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli.h"
#include "console.h"
#include "regroup/core/error.h"
#include "regroup/methods/method.h"
#include "regroup/train/duration.h"
#include "regroup/train/trainer.h"
#include "setting_flags.h"

namespace regroup {
namespace {

struct TrainFlags {
  std::unique_ptr<SettingFlags> settings;
  std::optional<std::string> preset, config, output, resume;
  bool quiet = false;
};

/// runs/fashion-mnist-rml-1, or the next number that is free.
std::string free_output(const Settings& settings) {
  std::string data = settings.text("data");
  if (const auto colon = data.find(':'); colon != std::string::npos)
    data = std::filesystem::path(data.substr(colon + 1)).stem().string();
  for (int number = 1;; ++number) {
    std::string name = fmt::format("runs/{}-{}-{}", data, settings.text("method"), number);
    if (!std::filesystem::exists(name)) return name;
  }
}

/// A run goes on with its own settings; only where it computes may change.
Settings resumed_settings(const TrainFlags& flags, const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / "config.toml").string();
  if (!std::filesystem::exists(file))
    throw UserError(fmt::format("{}: there is no run here; give the folder that regroup train --output named", folder));
  if (flags.preset || flags.config || flags.output)
    throw UserError("--resume goes on with the run's own settings; leave out --preset, --config and --output");
  const auto given = flags.settings->given();
  for (const GivenValue& value : given)
    for (const SettingInfo& info : common_settings())
      if (info.name == value.name && (info.group != "Machine" || info.name == "seed"))
        throw UserError(
            fmt::format("{}: --resume goes on with the run's own settings; leave it out, or begin a new run "
                        "with --config {}",
                        value.source, file));
  return resolve_settings({read_config(file), given});
}

Settings new_settings(const TrainFlags& flags) {
  std::vector<std::vector<GivenValue>> layers;
  if (flags.preset) layers.push_back(preset_values(*flags.preset));
  if (flags.config) layers.push_back(read_config(*flags.config));
  layers.push_back(flags.settings->given());
  return resolve_settings(layers);
}

void print_summary(const TrainResult& result, const std::string& folder) {
  const RunSummary& summary = result.summary;
  fmt::print("\ntest accuracy       last    best on noisy validation    best on test\n");
  for (const auto& [name, values] : summary.predictors)
    fmt::print("{:<15}{:>7.2f} %{:>26.2f} %{:>14.2f} %{}\n", name, 100 * values.last, 100 * values.best_val,
               100 * values.best_test, name == summary.primary ? "  <- primary" : "");
  if (summary.memorised == summary.memorised)
    fmt::print("\n{:.1f} % of the labels are wrong; the model has memorised {:.1f} % of those.\n",
               100 * summary.noise_rate, 100 * summary.memorised);
  fmt::print("{} in all, {:.0f} images a second.\nThe run is in {}; its pictures in {}/plots.\n",
             duration_text(summary.seconds), summary.images_per_second, folder, folder);
}

void run_train(const TrainFlags& flags) {
  const Settings settings = flags.resume ? resumed_settings(flags, *flags.resume) : new_settings(flags);
  const std::string folder = flags.resume ? *flags.resume : flags.output ? *flags.output : free_output(settings);
  if (!flags.resume && std::filesystem::exists(folder) && !std::filesystem::is_empty(folder))
    throw UserError(fmt::format("{} exists; go on with it by --resume {}, or choose another --output", folder, folder));

  const std::atomic<bool>& stop = stop_requested();
  Console console(flags.quiet);
  const TrainResult result = train(settings, {folder, flags.resume.has_value(), &stop}, console);
  if (!result.finished) {
    console.message(fmt::format("Stopped and saved. Go on by: regroup train --resume {}", folder));
    return;
  }
  if (!flags.quiet) print_summary(result, folder);
}

std::string train_footer() {
  std::string text = "Methods:\n";
  for (const MethodInfo& method : methods()) text += fmt::format("  {:<12} {}\n", method.name, method.description);
  text += "\nRecipes:\n";
  for (const Recipe& recipe : recipes()) text += fmt::format("  {:<12} {}\n", recipe.name, recipe.description);
  return text +
         "\nExamples:\n"
         "  regroup train --data fashion-mnist --noise symmetric:0.5 --recipe fast\n"
         "  regroup train --data folder:photos --recipe fast --output runs/photos\n"
         "  regroup train --preset cifar10-sym-0.5 --data-dir cifar --method ce\n"
         "  regroup train --resume runs/photos\n\n"
         "A value on the command line is stronger than one of --config, and that than one of --preset.";
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* command = app.add_subcommand("train", "Train a classifier on labels that are partly wrong");
  command->add_option("--preset", flags->preset, "A cell of the paper's tables, see regroup presets");
  command->add_option("--config", flags->config, "A TOML file of settings, such as the config.toml of another run");
  command->add_option("--output", flags->output, "The run's folder [runs/DATA-METHOD-NUMBER]");
  command->add_option("--resume", flags->resume, "Go on with a run that was stopped or killed");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but warnings");
  flags->settings = std::make_unique<SettingFlags>(*command, all_settings());
  command->footer(train_footer());
  command->callback([flags] { run_train(*flags); });
}

}  // namespace regroup
