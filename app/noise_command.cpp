// regroup noise: makes labels wrong on purpose and writes them beside the clean ones.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/file.h"
#include "regroup/core/parallel.h"
#include "regroup/core/printable.h"
#include "regroup/data/labels_file.h"
#include "regroup/noise/transition_csv.h"
#include "regroup/train/run_data.h"
#include "setting_flags.h"

namespace regroup {
namespace {

/// Those of a run that decide which images it has, in which order, and how their labels go wrong.
std::vector<SettingInfo> noise_settings() {
  std::vector<SettingInfo> chosen;
  for (SettingInfo info : common_settings()) {
    constexpr std::array names{"data", "data-dir", "noise", "test-split", "image-size", "on-bad-image", "seed"};
    if (std::find(names.begin(), names.end(), info.name) == names.end()) continue;
    if (info.name == "data") info.help = "The dataset whose training labels are made wrong, see below";
    if (info.name == "noise") info.help = "KIND:RATE or matrix:FILE, see below";
    if (info.name == "seed") info.help = "Another seed, other labels";
    if (info.name == "data" || info.name == "noise") info.fallback = std::string();
    info.group = "Options";
    chosen.push_back(info);
  }
  return chosen;
}

struct NoiseFlags {
  std::unique_ptr<SettingFlags> settings;
  std::string out;
  std::optional<std::string> transitions;
  bool overwrite = false;
  bool quiet = false;
};

template <class Rows>
std::string table_of(const Rows& rows, std::size_t width) {
  std::string text;
  for (const auto& [usage, description] : rows) text += fmt::format("  {:<{}} {}\n", usage, width, description);
  return text;
}

std::string noise_footer() {
  std::vector<std::pair<std::string, std::string>> kinds, sets;
  for (const NoiseKindInfo& kind : noise_kinds()) kinds.emplace_back(kind.usage(), kind.description);
  for (const DatasetInfo& set : datasets()) sets.emplace_back(set.usage(), set.description);
  return "Kinds of noise:\n" + table_of(kinds, 20) + "\nDatasets:\n" + table_of(sets, 20) +
         "\nregroup train --labels FILE reads what is written; give it the same --data, --test-split and "
         "--on-bad-image.\n"
         "\nExample:\n  regroup noise --data fashion-mnist --noise pairflip:0.45 --seed 7 --out labels.csv";
}

void print_report(const NoisyLabels& noisy, const Dataset& dataset) {
  print_out("labels         {}\nnominal rate   {:.4f}\nrealised rate  {:.4f}\n", noisy.labels.size(),
            noisy.nominal_rate, noisy.realised_rate);
  // A wider table does not fit a terminal; --transitions writes one of any size.
  constexpr int most_columns = 16;
  const int classes = dataset.classes();
  if (classes > most_columns) return;
  print_out("\nOf the images of a class (row), the share that now has each label (column):\n{:>18}", "");
  for (int y = 0; y < classes; ++y) print_out("{:>6}", y);
  for (int from = 0; from < classes; ++from) {
    const auto row = static_cast<std::size_t>(from);
    print_out("\n{:>3}  {:<13.13}", from, printable(dataset.class_names[row]));
    for (int to = 0; to < classes; ++to) print_out("{:>6.2f}", noisy.realised(from, to));
  }
  print_out("\n\n");
}

void run_noise(const NoiseFlags& flags) {
  // Everything that can be wrong with the flags is found before the work.
  const Settings settings = resolve_settings({flags.settings->given()});
  parse_noise(settings.text("noise"));
  refuse_existing(flags.out, flags.overwrite);
  if (flags.transitions) refuse_existing(*flags.transitions, flags.overwrite);

  Console console(flags.quiet);
  const Dataset dataset = load_run_images(settings, hardware_threads(), console);
  const LabelledSet& images = dataset.train;
  const NoisyLabels noisy = make_run_noise(settings, dataset, hardware_threads());
  write_file(flags.out, labels_csv(noisy.labels, images.labels, images.paths));
  if (flags.transitions) write_transition(*flags.transitions, noisy.realised);
  if (!flags.quiet) {
    print_report(noisy, dataset);
    print_out("{}: index,label,clean{} for {} images\n", flags.out, images.paths.empty() ? "" : ",path",
              noisy.labels.size());
  }
}

}  // namespace

void add_noise_command(CLI::App& app) {
  auto flags = std::make_shared<NoiseFlags>();
  CLI::App* command = app.add_subcommand("noise", "Make labels wrong on purpose, in a known way");
  flags->settings = std::make_unique<SettingFlags>(*command, noise_settings());
  flags->settings->describe(Settings(noise_settings()));
  for (const char* needed : {"--data", "--noise"}) command->get_option(needed)->required();
  command->add_option("--out", flags->out, "The file to write: index,label,clean, and the path of image files")
      ->required();
  command->add_option("--transitions", flags->transitions,
                      "Also write the realised transition matrix as CSV, as --noise matrix:FILE reads it");
  command->add_flag("--overwrite", flags->overwrite, "Replace files that exist");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but warnings");
  command->footer(noise_footer());
  command->callback([flags] { run_noise(*flags); });
}

}  // namespace regroup
