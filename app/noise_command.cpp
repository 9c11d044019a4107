// regroup noise: makes labels wrong on purpose and writes them beside the clean ones.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli.h"
#include "output.h"
#include "regroup/core/parallel.h"
#include "regroup/core/printable.h"
#include "regroup/data/dataset.h"
#include "regroup/noise/labels_csv.h"
#include "regroup/noise/noise.h"
#include "regroup/noise/transition_csv.h"
#include "regroup/train/run_data.h"
#include "setting_flags.h"

namespace regroup {
namespace {

const SettingInfo seed_setting{"seed", "Options", std::int64_t{0}, "Another seed, other labels", 0, 9e15};

struct NoiseFlags {
  std::string data;
  std::optional<std::string> data_dir;
  std::string noise;
  std::unique_ptr<SettingFlags> seed;
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
  std::uint64_t seed = 0;
  for (const GivenValue& given : flags.seed->given())
    seed = static_cast<std::uint64_t>(std::get<std::int64_t>(given.value));
  const NoiseSpec spec = parse_noise(flags.noise);
  refuse_existing(flags.out, flags.overwrite);
  if (flags.transitions) refuse_existing(*flags.transitions, flags.overwrite);

  const Dataset dataset = load_dataset(flags.data, {.data_dir = flags.data_dir, .threads = hardware_threads()});
  const LabelledSet& images = dataset.train;
  const NoisyLabels noisy =
      make_noisy(spec, images.labels, dataset.classes(), sample_features(images.source), seed, hardware_threads());
  write_labels_csv(flags.out, noisy.labels, images.labels);
  if (flags.transitions) write_transition(*flags.transitions, noisy.realised);
  if (!flags.quiet) {
    print_report(noisy, dataset);
    print_out("{}: index,label,clean for {} images\n", flags.out, noisy.labels.size());
  }
}

}  // namespace

void add_noise_command(CLI::App& app) {
  auto flags = std::make_shared<NoiseFlags>();
  CLI::App* command = app.add_subcommand("noise", "Make labels wrong on purpose, in a known way");
  command->add_option("--data", flags->data, "The dataset whose training labels are made wrong")->required();
  command->add_option("--data-dir", flags->data_dir, "Where the dataset lies, if not where its package puts it");
  command->add_option("--noise", flags->noise, "KIND:RATE or matrix:FILE, see below")->required();
  flags->seed = std::make_unique<SettingFlags>(*command, std::vector{seed_setting});
  command->add_option("--out", flags->out, "The file to write: index,label,clean")->required();
  command->add_option("--transitions", flags->transitions,
                      "Also write the realised transition matrix as CSV, as --noise matrix:FILE reads it");
  command->add_flag("--overwrite", flags->overwrite, "Replace files that exist");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing");
  command->footer(noise_footer());
  command->callback([flags] { run_noise(*flags); });
}

}  // namespace regroup
