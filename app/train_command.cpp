// regroup train: trains a classifier and leaves a run folder.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/methods/method.h"
#include "regroup/train/duration.h"
#include "regroup/train/trainer.h"
#include "setting_flags.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

struct TrainFlags {
  std::unique_ptr<SettingFlags> settings;
  std::optional<std::string> preset, config, output, resume;
  bool dry_run = false, quiet = false;
};

/// What the data is called: fashion-mnist, photos of folder:my/photos/, list of csv:list.csv.
std::string data_name(const std::string& data) {
  const auto colon = data.find(':');
  if (colon == std::string::npos) return data;
  // An absolute path has a name also where `.` or `photos/` was given.
  std::error_code unknown;
  auto path = fs::weakly_canonical(fs::absolute(data.substr(colon + 1)), unknown).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = (data.starts_with("csv:") ? path.stem() : path.filename()).string();
  return name.empty() ? data.substr(0, colon) : name;
}

/// runs/fashion-mnist-rml-1, or the next number that is free.
std::string free_output(const Settings& settings) {
  const std::string data = data_name(settings.text("data"));
  for (int number = 1;; ++number) {
    std::string name = fmt::format("runs/{}-{}-{}", data, settings.text("method"), number);
    std::error_code unknown;
    if (!fs::exists(name, unknown)) return name;
  }
}

/// A run is resumed with its own settings; only where it computes may change.
Settings resumed_settings(const TrainFlags& flags, const std::string& folder) {
  const std::string file = (fs::path(folder) / "config.toml").string();
  std::error_code unknown;
  if (!fs::exists(file, unknown))
    throw UserError(fmt::format("{}: there is no run here; give the folder that regroup train --output named", folder));
  if (flags.preset || flags.config || flags.output)
    throw UserError("--resume continues with the run's own settings; leave out --preset, --config and --output");
  const auto given = flags.settings->given();
  for (const GivenValue& value : given)
    for (const SettingInfo& info : all_settings())
      if (info.name == value.name && info.group != "Machine")
        throw UserError(
            fmt::format("{}: --resume continues with the run's own settings; leave it out, or begin a new run "
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
  const auto print_accuracies = [&](const PredictorSummaries& predictors) {
    for (const auto& [name, values] : predictors)
      print_out("{:<15}{:>7.2f} %{:>26.2f} %{:>14.2f} %{}\n", name, 100 * values.last, 100 * values.best_val,
                100 * values.best_test, name == summary.primary ? "  <- primary" : "");
  };
  print_out("\ntest accuracy       last    best on noisy validation    best on test\n");
  print_accuracies(summary.predictors);
  for (const auto& [test, predictors] : summary.more_tests) {
    print_out("on {}\n", test);
    print_accuracies(predictors);
  }
  if (summary.memorised == summary.memorised)
    print_out("\n{:.1f} % of the labels are wrong; the model has memorised {:.1f} % of those.\n",
              100 * summary.noise_rate, 100 * summary.memorised);
  print_out("{} in all, {:.0f} images a second.\nThe run is in {}; its pictures in {}/plots.\n",
            duration_text(summary.seconds), summary.images_per_second, folder, folder);
}

void run_train(const TrainFlags& flags) {
  if (flags.output && flags.output->empty())
    throw UserError("--output is empty; name the run's folder, or leave it out");
  const Settings settings = flags.resume ? resumed_settings(flags, *flags.resume) : new_settings(flags);
  if (flags.dry_run) return write_out(config_text(settings));
  const std::string folder = flags.resume ? *flags.resume : flags.output ? *flags.output : free_output(settings);

  const std::atomic<bool>& stop = stop_requested();
  Console console(flags.quiet);
  const TrainResult result = train(settings, {folder, flags.resume.has_value(), &stop}, console);
  if (!result.finished) {
    console.message(fmt::format("Stopped and saved. Resume by: regroup train --resume {}", shell_word(folder)));
    throw Stopped();
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
  command->add_option("--resume", flags->resume, "Continue a run that was stopped or killed");
  command->add_flag("--dry-run", flags->dry_run, "Print all settings as config.toml has them, and train nothing");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but warnings");
  flags->settings = std::make_unique<SettingFlags>(*command, all_settings());
  command->footer(train_footer());
  command->callback([flags] { run_train(*flags); });
}

}  // namespace regroup
