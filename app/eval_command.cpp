// regroup eval: the accuracy of a trained network on a dataset's test images.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/core/printable.h"
#include "regroup/train/run_data.h"
#include "regroup/train/run_settings.h"
#include "regroup/train/trained_predictor.h"

namespace regroup {
namespace {

struct EvalFlags {
  std::string run;
  std::string checkpoint = "best";
  std::optional<std::string> data, data_dir;
  std::string device = "auto", precision = "auto";
  bool top5 = false;
};

/// What was found and decided, the training has told.
struct EvalConsole final : Console {
  EvalConsole() : Console(false) {}
  void note(const std::string& /*sentence*/) override {}
};

/// The run's own data, unless other data is asked for.
Dataset load_data(const EvalFlags& flags, const NetworkCard& card) {
  Settings settings = run_settings({});
  if (!flags.data) {
    const auto config = std::filesystem::path(flags.run) / "config.toml";
    if (!std::filesystem::exists(config))
      throw UserError(fmt::format("{}: is not the folder of a run, so its data is not known; give --data", flags.run));
    settings = resolve_settings({read_config(config.string())});
  }
  if (flags.data) settings.set("data", *flags.data, "--data");
  if (flags.data_dir) settings.set("data-dir", *flags.data_dir, "--data-dir");
  settings.set("image-size", std::int64_t{card.height}, "the network");
  settings.set("resize", std::int64_t{card.resize}, "the network");
  EvalConsole console;
  Dataset dataset = load_run_images(settings, hardware_threads(), console);
  if (std::ranges::all_of(dataset.tests, [](const TestSet& test) { return test.set.size() == 0; }))
    throw UserError(fmt::format("{}: there are no test images; give others by --data", settings.text("data")));
  const SampleShape images = dataset.train.source->shape();
  if (images.is_vector && (images != card.shape() || dataset.class_names.size() != card.class_names.size()))
    throw UserError(fmt::format(
        "{}: {} classes of vectors of {} numbers; the network has {} classes{}", settings.text("data"),
        dataset.class_names.size(), images.channels, card.class_names.size(),
        card.is_vector() ? fmt::format(" of vectors of {} numbers", card.channels) : std::string(" of images")));
  if (images != card.shape() || dataset.class_names.size() != card.class_names.size())
    throw UserError(fmt::format("{}: {} classes of {}x{}x{} images; the network has {} classes of {}x{}x{} images",
                                settings.text("data"), dataset.class_names.size(), images.width, images.height,
                                images.channels, card.class_names.size(), card.width, card.height, card.channels));
  return dataset;
}

void print_accuracies(const LabelledSet& test, const std::vector<std::int32_t>& predicted,
                      const std::vector<std::string>& class_names) {
  for (std::size_t y = 0; y < class_names.size(); ++y) {
    std::size_t images = 0, right = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      if (test.labels[i] != static_cast<std::int32_t>(y)) continue;
      ++images;
      right += predicted[i] == test.labels[i] ? 1 : 0;
    }
    if (images > 0)
      print_out("{:<24} {:>6.2f} % of {}\n", printable(class_names[y]),
                100 * static_cast<double>(right) / static_cast<double>(images), images);
  }
}

void run_eval(const EvalFlags& flags) {
  const at::Device device = choose_device(flags.device);
  const TrainedPredictor trained = load_trained_predictor(flags.run, flags.checkpoint, device);
  const Dataset dataset = load_data(flags, trained.card);
  const auto options = evaluation_of(trained.card, device, choose_precision(flags.precision, device));
  for (const auto& [name, test] : dataset.tests) {
    if (test.size() == 0) continue;
    const at::Tensor shares = probabilities(trained.predictor(), *test.source, options);
    const auto predicted = most_likely(shares);
    const bool is_plain = name == "test", has_five = flags.top5 && dataset.class_names.size() > 5;
    print_out("{}{}: {:.2f} % of {} {}{}\n\n", is_plain ? "" : "\n", trained.source,
              100 * accuracy(predicted, test.labels), test.size(), is_plain ? "test images" : "images of " + name,
              has_five ? fmt::format("  top-5 {:.2f} %", 100 * top_accuracy(shares, test.labels, 5)) : "");
    print_accuracies(test, predicted, dataset.class_names);
  }
}

}  // namespace

void add_eval_command(CLI::App& app) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "Measure a trained network on test images");
  command->add_option("run", flags->run, "A run's folder, or a .safetensors file of one")->required();
  command->add_option("--checkpoint", flags->checkpoint, "Of a run: best (on the noisy validation split) or last")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  command->add_option("--data", flags->data, "Another dataset than the run's own");
  command->add_option("--data-dir", flags->data_dir, "Where it lies");
  command->add_option("--device", flags->device, "auto, cpu or cuda")->capture_default_str();
  command->add_option("--precision", flags->precision, "auto, fp32 or bf16")->capture_default_str();
  command->add_flag(
      "--top5", flags->top5,
      "Print beside the accuracy how often the true label is among the five likeliest classes; for more than "
      "five classes");
  command->footer("Example:\n  regroup eval runs/photos-rml-1");
  command->callback([flags] { run_eval(*flags); });
}

}  // namespace regroup
