// regroup train: trains a classifier and leaves a run folder.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/methods/method.h"
#include "regroup/methods/schedule.h"
#include "regroup/reproduce/presets.h"
#include "regroup/train/checkpoint.h"
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
  const std::string name = (fs::is_regular_file(path, unknown) ? path.stem() : path.filename()).string();
  return name.empty() ? data.substr(0, colon) : name;
}

bool may_change(const std::string& setting) {
  if (setting == "epochs") return true;
  const std::vector<SettingInfo> common = common_settings();
  return std::any_of(common.begin(), common.end(),
                     [&](const auto& info) { return info.name == setting && info.group == "Machine"; });
}

/// A run is resumed with its own settings. Where it computes may change, and there may be more epochs.
Settings resumed_settings(const TrainFlags& flags, const std::string& folder) {
  const std::string file = (fs::path(folder) / "config.toml").string();
  std::error_code unknown;
  if (!fs::exists(file, unknown))
    throw UserError(fmt::format("{}: there is no run here; give the folder that regroup train --output named", folder));
  if (flags.preset || flags.config || flags.output)
    throw UserError("--resume continues with the run's own settings; leave out --preset, --config and --output");
  const auto given = flags.settings->given();
  for (const GivenValue& value : given)
    if (!may_change(value.name))
      throw UserError(
          fmt::format("{}: --resume continues with the run's own settings; leave it out, or begin a new run "
                      "with --config {}",
                      value.source, file));
  const Settings settings = resolve_settings({read_config(file), given});
  const auto had = resolve_settings({read_config(file)}).integer("epochs"), epochs = settings.integer("epochs");
  const bool is_given =
      std::any_of(given.begin(), given.end(), [](const auto& value) { return value.name == "epochs"; });
  const fs::path last = fs::path(folder) / "last";
  const bool is_done = has_checkpoint(last) && read_progress(last).place.epoch >= had;
  if (epochs < had || (is_given && is_done && epochs == had))
    throw UserError(
        fmt::format("--epochs: --resume can only add epochs, and {} has {}; give more than {}", folder, had, had));
  return settings;
}

/// What it means that a run gets more epochs than it had.
void tell_longer(const Settings& settings, const fs::path& folder, Console& console) {
  const Settings before = resolve_settings({read_config((folder / "config.toml").string())});
  const auto had = before.integer("epochs"), epochs = settings.integer("epochs");
  if (epochs == had || !has_checkpoint(folder / "last")) return;
  const RunProgress progress = read_progress(folder / "last");
  const auto rate = [&](const Settings& of) {
    return learning_rate(of, static_cast<double>(progress.place.epoch) / static_cast<double>(of.integer("epochs")));
  };
  console.note(fmt::format(
      "The run gets {} epochs instead of {}. From here on the learning rate follows the schedule of {} epochs: {:.3g} "
      "instead of {:.3g}, unless the method has a rate of its own. Phases of the method that are shares of the run "
      "move "
      "too.{} The result differs from that of a run with {} epochs from the start.",
      epochs, had, epochs, rate(settings), rate(before),
      progress.place.step > 0 ? fmt::format(" Epoch {} begins again.", progress.place.epoch + 1) : "", epochs));
}

Settings new_settings(const std::optional<std::string>& preset, const std::optional<std::string>& config,
                      const std::vector<GivenValue>& given) {
  std::vector<std::vector<GivenValue>> layers;
  if (config) layers.push_back(read_config(*config));
  layers.push_back(given);
  if (preset) {
    std::string method;
    for (const auto& layer : layers)
      for (const GivenValue& value : layer)
        if (value.name == "method") method = to_text(value.value);
    layers.insert(layers.begin(), preset_values(*preset, method));
  }
  return resolve_settings(layers);
}

void print_summary(const TrainResult& result, const std::string& folder) {
  const RunSummary& summary = result.summary;
  const auto print_accuracies = [&](const PredictorSummaries& predictors) {
    for (const auto& [name, values] : predictors)
      print_out("{:<15}{:>7.2f} %{:>26.2f} %{:>14.2f} %{}{}\n", name, 100 * values.last, 100 * values.best_val,
                100 * values.best_test,
                std::isnan(values.top5) ? "" : fmt::format("  top-5 {:.2f} %", 100 * values.top5),
                name == summary.primary ? "  <- primary" : "");
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
  print_out(
      "{} in all, {:.0f} samples a second.\nThe run is in {}; its pictures in {}/plots.\n"
      "Which labels are wrong: regroup audit {}\n",
      duration_text(summary.seconds), summary.images_per_second, folder, folder, shell_word(folder));
}

void run_train(const TrainFlags& flags) {
  if (flags.output && flags.output->empty())
    throw UserError("--output is empty; name the run's folder, or leave it out");
  const Settings settings = flags.resume ? resumed_settings(flags, *flags.resume)
                                         : new_settings(flags.preset, flags.config, flags.settings->given());
  if (flags.dry_run) return write_out(config_text(settings));
  const std::string folder = flags.resume ? *flags.resume : flags.output ? *flags.output : free_output(settings);

  const std::atomic<bool>& stop = stop_requested();
  Console console(flags.quiet);
  if (flags.resume) tell_longer(settings, folder, console);
  if (flags.preset)
    if (const std::string need = preset_need(*flags.preset, settings); !need.empty()) console.message(need);
  const TrainResult result = train(settings, {folder, flags.resume.has_value(), &stop}, console);
  if (!result.finished) {
    console.message(fmt::format("Stopped and saved. Resume by: regroup train --resume {}", shell_word(folder)));
    throw Stopped();
  }
  if (!flags.quiet) print_summary(result, folder);
}

/// The word that was given for a flag. A help text is made before the variables of flags are filled.
std::optional<std::string> word_of(const CLI::App& command, const std::string& flag) {
  const CLI::Option* const option = command.get_option(flag);
  return option->count() > 0 ? std::optional(option->results().back()) : std::nullopt;
}

/// The help of the method that is on the command line, with the defaults that hold for what is there.
std::string train_help(CLI::App& command, SettingFlags& flags, const std::string& name) {
  std::vector<GivenValue> given = flags.given();
  std::erase_if(given, [](const GivenValue& value) { return value.name != "method" && value.name != "recipe"; });
  flags.describe(new_settings(word_of(command, "--preset"), word_of(command, "--config"), given));
  return CLI::Formatter().make_help(&command, name, CLI::AppFormatMode::Normal);
}

std::string train_footer() {
  std::string text = "Methods; regroup train --method NAME --help shows the settings and defaults of one:\n";
  for (const MethodInfo& method : methods()) text += fmt::format("  {:<12} {}\n", method.name, method.description);
  text += "\nRecipes; with --recipe NAME the defaults in the help are those of that recipe:\n";
  for (const Recipe& recipe : recipes()) text += fmt::format("  {:<12} {}\n", recipe.name, recipe.description);
  return text +
         "\nExamples:\n"
         "  regroup train --data fashion-mnist --noise symmetric:0.5 --recipe fast\n"
         "  regroup train --data folder:photos --budget 20m --output runs/photos\n"
         "  regroup train --preset cifar10-sym-0.5 --data-dir cifar --method pes\n"
         "  regroup train --resume runs/photos\n"
         "  regroup train --resume runs/photos --epochs 300\n\n"
         "A value on the command line is stronger than one of --config, and that than one of --preset.";
}

}  // namespace

std::string free_output(const Settings& settings) {
  const std::string data = data_name(settings.text("data"));
  for (int number = 1;; ++number) {
    std::string name = fmt::format("runs/{}-{}-{}", data, settings.text("method"), number);
    std::error_code unknown;
    if (!fs::exists(name, unknown)) return name;
  }
}

void add_train_command(CLI::App& app) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* command = app.add_subcommand("train", "Train a classifier on labels that are partly wrong");
  command->add_option(
      "--preset", flags->preset,
      "Settings of a cell of the paper's tables, for the method that is given; regroup presets lists them");
  command->add_option("--config", flags->config, "TOML file of settings, such as the config.toml of another run");
  command->add_option("--output", flags->output, "Folder of the run [runs/DATA-METHOD-NUMBER]");
  command->add_option(
      "--resume", flags->resume,
      "Folder of a run that was stopped or killed, to continue it; with more --epochs, also of one that is done");
  command->add_flag("--dry-run", flags->dry_run, "Print all settings in the form of config.toml, and train nothing");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but warnings");
  flags->settings = std::make_unique<SettingFlags>(*command, all_settings());
  command->footer(train_footer());
  command->formatter_fn([command, flags](const CLI::App*, const std::string& name, CLI::AppFormatMode) {
    return train_help(*command, *flags->settings, name);
  });
  command->callback([flags] { run_train(*flags); });
}

}  // namespace regroup
