// regroup predict: what a trained network sees in images.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/parallel.h"
#include "regroup/data/folder.h"
#include "regroup/data/image_files.h"
#include "regroup/io/csv.h"
#include "regroup/train/trained_predictor.h"

namespace regroup {
namespace {

struct PredictFlags {
  std::string run;
  std::vector<std::string> inputs;
  std::optional<std::string> out;
  std::string checkpoint = "best", on_bad_image = "skip", device = "auto", precision = "auto";
  bool probabilities = false, overwrite = false, quiet = false;
};

/// The files that were named, and those in the folders that were named, sorted.
std::vector<ListedImage> listed(const std::vector<std::string>& inputs) {
  std::vector<ListedImage> images;
  for (const std::string& input : inputs) {
    for (std::string& file : list_images(input)) images.push_back({std::move(file)});
  }
  return images;
}

/// Image files are read in colour; a network for grey images gets their brightness.
std::shared_ptr<const SampleSource> to_grey(const SampleSource& images) {
  const SampleShape shape{1, images.shape().height, images.shape().width};
  std::vector<std::uint8_t> grey, scratch;
  grey.reserve(images.size() * shape.bytes());
  for (std::uint32_t i = 0; i < images.size(); ++i) {
    const auto colours = images.read(i, scratch);
    for (const auto* rgb = colours.data(); rgb != colours.data() + colours.size(); rgb += 3)
      grey.push_back(static_cast<std::uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000));
  }
  return std::make_shared<ImagesInMemory>(shape, std::move(grey));
}

LabelledSet load_images(const PredictFlags& flags, const NetworkCard& card) {
  if (card.height != card.width)
    throw UserError(
        fmt::format("the network is for images of {}x{}; image files become square", card.width, card.height));
  Console console(flags.quiet);
  LoadOptions options;
  options.image_size = card.height;
  options.on_bad_image = flags.on_bad_image == "skip" ? BadImage::skip : BadImage::refuse;
  options.threads = hardware_threads();
  options.progress = [&console](std::size_t done, std::size_t total) { console.loading(done, total); };
  options.warn = [&console](const std::string& sentence) { console.message(sentence); };
  Dataset dataset;
  ListedImages images;
  images.tests["test"] = listed(flags.inputs);
  load_image_files("", std::move(images), options, dataset);
  if (dataset.test().size() == 0) throw UserError("none of the images can be read");
  if (card.channels == 1) dataset.test().source = to_grey(*dataset.test().source);
  return std::move(dataset.test());
}

void run_predict(const PredictFlags& flags) {
  if (flags.out) refuse_existing(*flags.out, flags.overwrite);
  const at::Device device = choose_device(flags.device);
  const TrainedPredictor trained = load_trained_predictor(flags.run, flags.checkpoint, device);
  const auto& names = trained.card.class_names;
  const LabelledSet images = load_images(flags, trained.card);
  const auto options = evaluation_of(trained.card, device, choose_precision(flags.precision, device));
  const at::Tensor shares = probabilities(trained.predictor(), *images.source, options).contiguous();
  const auto predicted = most_likely(shares);

  CsvWriter csv;
  std::vector<std::string> fields{"path", "label", "confidence"};
  if (flags.probabilities)
    for (const std::string& name : names) fields.push_back("p_" + name);
  csv.row(fields);
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const float* row = shares.data_ptr<float>() + i * names.size();
    const auto y = static_cast<std::size_t>(predicted[i]);
    fields = {images.paths[i], names[y], fmt::format("{:.4f}", row[y])};
    if (flags.probabilities)
      for (std::size_t c = 0; c < names.size(); ++c) fields.push_back(fmt::format("{:.4f}", row[c]));
    csv.row(fields);
  }
  if (flags.out) {
    write_file(*flags.out, csv.text());
  } else {
    write_data(csv.text());
  }
}

}  // namespace

void add_predict_command(CLI::App& app) {
  auto flags = std::make_shared<PredictFlags>();
  CLI::App* command = app.add_subcommand("predict", "Say what a trained network sees in images");
  command->add_option("run", flags->run, "A run's folder, or a .safetensors file of one")->required();
  command->add_option("images", flags->inputs, "Image files, and folders of them")->required();
  command->add_option("--out", flags->out, "The CSV file to write: path,label,confidence [printed]");
  command->add_flag("--probabilities", flags->probabilities, "Add a column for each class");
  command->add_option("--checkpoint", flags->checkpoint, "Of a run: best (on the noisy validation split) or last")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  command->add_option("--on-bad-image", flags->on_bad_image, "skip or refuse an image that cannot be read")
      ->check(CLI::IsMember({"skip", "refuse"}))
      ->capture_default_str();
  command->add_option("--device", flags->device, "auto, cpu or cuda")->capture_default_str();
  command->add_option("--precision", flags->precision, "auto, fp32 or bf16")->capture_default_str();
  command->add_flag("--overwrite", flags->overwrite, "Replace a file that exists");
  command->add_flag("-q,--quiet", flags->quiet, "No progress");
  command->footer(
      "Paths and class names are written as they are, for other programs. In a spreadsheet, import them as text: one "
      "that\n"
      "begins with = + - or @ would be taken for a formula.\n\n"
      "Example:\n  regroup predict runs/photos new-photos/ --out predictions.csv");
  command->callback([flags] { run_predict(*flags); });
}

}  // namespace regroup
