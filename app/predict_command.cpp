// regroup predict: what a trained network sees in images, or in vectors.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/memory.h"
#include "regroup/core/parallel.h"
#include "regroup/data/folder.h"
#include "regroup/data/image_file.h"
#include "regroup/data/photos.h"
#include "regroup/data/vectors.h"
#include "regroup/io/csv.h"
#include "regroup/train/trained_predictor.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

struct PredictFlags {
  std::string run;
  std::vector<std::string> inputs;
  std::optional<std::string> out;
  std::string checkpoint = "best", on_bad_image = "skip", device = "auto", precision = "auto";
  int top = 1;
  bool probabilities = false, null = false, overwrite = false, quiet = false;
};

/// So many images are predicted before their lines are written.
constexpr std::size_t images_at_a_time = 2000;

/// The files that were named, and those in the folders that were named, sorted. `-` stands for paths from standard
/// input.
std::vector<std::string> listed(const PredictFlags& flags) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& input) { std::ranges::move(list_images(input), std::back_inserter(files)); };
  for (const std::string& input : flags.inputs) {
    if (input != "-") {
      add(input);
      continue;
    }
    for (std::string path; std::getline(std::cin, path, flags.null ? '\0' : '\n');)
      if (!path.empty()) add(path);
  }
  if (files.empty()) throw UserError("no image is named; give files or folders, or their paths on standard input");
  return files;
}

/// Image files are read in colour; a network for grey images gets their brightness.
class Greyed final : public SampleSource {
 public:
  explicit Greyed(const SampleSource& colours) : colours_(colours) {}

  SampleShape shape() const override { return {1, colours_.shape().height, colours_.shape().width}; }
  std::size_t size() const override { return colours_.size(); }
  bool decodes() const override { return colours_.decodes(); }
  std::uint64_t digest(std::uint64_t before = hash_start) const override { return colours_.digest(before); }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override {
    const SampleView sample = colours_.read(index, scratch);
    auto& grey = scratch.grey;
    grey.clear();
    for (const auto* rgb = sample.data(); rgb != sample.data() + sample.size(); rgb += 3)
      grey.push_back(static_cast<std::uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000));
    return {grey, sample.height, sample.width};
  }

 private:
  const SampleSource& colours_;
};

/// Writes a line for each sample.
class PredictionLines {
 public:
  /// `keys` are the columns that say which sample it is.
  PredictionLines(std::vector<std::string> keys, const std::vector<std::string>& class_names, const PredictFlags& flags)
      : names_(class_names), flags_(flags), top_(std::min(static_cast<std::size_t>(flags.top), class_names.size())) {
    fields_ = std::move(keys);
    fields_.insert(fields_.end(), {"label", "confidence"});
    for (std::size_t rank = 2; rank <= top_; ++rank) {
      fields_.push_back(fmt::format("label_{}", rank));
      fields_.push_back(fmt::format("confidence_{}", rank));
    }
    if (flags.probabilities)
      for (const std::string& name : names_) fields_.push_back("p_" + name);
    csv_.row(fields_);
  }

  void add(std::vector<std::string> keys, std::span<const float> shares) {
    order_.resize(shares.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::partial_sort(order_, order_.begin() + static_cast<std::ptrdiff_t>(top_),
                              [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
    fields_ = std::move(keys);
    for (const std::size_t y : std::span(order_).first(top_)) {
      fields_.push_back(names_[y]);
      fields_.push_back(fmt::format("{:.4f}", shares[y]));
    }
    if (flags_.probabilities)
      for (const float share : shares) fields_.push_back(fmt::format("{:.4f}", share));
    csv_.row(fields_);
  }

  /// What was not printed yet, unless it all goes to a file in the end.
  void flush() {
    if (flags_.out) return;
    write_data(csv_.text());
    csv_ = {};
  }

  void finish() {
    if (flags_.out) write_file(*flags_.out, csv_.text());
    flush();
  }

 private:
  const std::vector<std::string>& names_;
  const PredictFlags& flags_;
  std::size_t top_;
  std::vector<std::string> fields_;
  std::vector<std::size_t> order_;
  CsvWriter csv_;
};

/// Some samples of a source at a time, from `begin` on.
class Slice final : public SampleSource {
 public:
  Slice(const SampleSource& all, std::size_t begin, std::size_t count) : all_(all), begin_(begin), count_(count) {}

  SampleShape shape() const override { return all_.shape(); }
  std::size_t size() const override { return count_; }
  std::uint64_t digest(std::uint64_t before = hash_start) const override { return all_.digest(before); }
  SampleView read(std::uint32_t index, SampleScratch& scratch) const override {
    return all_.read(static_cast<std::uint32_t>(begin_ + index), scratch);
  }

 private:
  const SampleSource& all_;
  std::size_t begin_, count_;
};

/// The rows of NPY files.
void predict_vectors(const PredictFlags& flags, const TrainedPredictor& trained, const EvaluationOptions& options,
                     Console& console) {
  constexpr std::size_t rows_at_a_time = 100'000;
  const NetworkCard& card = trained.card;
  std::vector<std::shared_ptr<const VectorFile>> files;
  std::size_t rows = 0, done = 0;
  for (const std::string& input : flags.inputs) {
    if (fs::path(input).extension() != ".npy" && is_image_name(input))
      throw UserError(fmt::format("{}: is an image, and the network is for vectors of {} numbers; give NPY files",
                                  input, card.channels));
    files.push_back(std::make_shared<VectorFile>(input, physical_memory() / 2, hardware_threads(), nullptr));
    if (files.back()->shape() != card.shape())
      throw UserError(fmt::format("{}: vectors of {} numbers; the network is for vectors of {}", input,
                                  files.back()->shape().channels, card.channels));
    rows += files.back()->size();
  }
  const bool several = files.size() > 1;
  PredictionLines lines(several ? std::vector<std::string>{"file", "index"} : std::vector<std::string>{"index"},
                        card.class_names, flags);
  for (std::size_t number = 0; number < files.size(); ++number) {
    const VectorFile& file = *files[number];
    for (std::size_t begin = 0; begin < file.size(); begin += rows_at_a_time) {
      const Slice some(file, begin, std::min(rows_at_a_time, file.size() - begin));
      const at::Tensor shares = probabilities(trained.predictor(), some, options).contiguous();
      for (std::size_t i = 0; i < some.size(); ++i) {
        std::vector<std::string> keys{std::to_string(begin + i)};
        if (several) keys.insert(keys.begin(), flags.inputs[number]);
        lines.add(std::move(keys), {shares.data_ptr<float>() + i * card.class_names.size(), card.class_names.size()});
      }
      lines.flush();
      console.loading(done += some.size(), rows);
    }
  }
  lines.finish();
}

void run_predict(const PredictFlags& flags) {
  if (flags.out) refuse_existing(*flags.out, flags.overwrite);
  const at::Device device = choose_device(flags.device);
  const TrainedPredictor trained = load_trained_predictor(flags.run, flags.checkpoint, device);
  const NetworkCard& card = trained.card;
  if (card.is_vector()) {
    auto options = evaluation_of(card, device, Precision::fp32);
    Console console(flags.quiet);
    return predict_vectors(flags, trained, options, console);
  }
  if (card.height != card.width)
    throw UserError(
        fmt::format("the network is for images of {}x{}; image files become square", card.width, card.height));
  auto options = evaluation_of(card, device, choose_precision(flags.precision, device));
  options.scoring.workers = hardware_threads();
  Console console(flags.quiet);
  PhotosOnDisk::Warn skip;
  if (flags.on_bad_image == "skip") skip = [&console](const std::string& sentence) { console.message(sentence); };
  const PhotoReader reader("", {card.height, card.resize > 0 ? card.resize : card.height});
  const std::vector<std::string> files = listed(flags);
  PredictionLines lines({"path"}, card.class_names, flags);
  std::size_t predicted = 0;
  for (std::size_t begin = 0; begin < files.size(); begin += images_at_a_time) {
    const auto some = std::span(files).subspan(begin, std::min(images_at_a_time, files.size() - begin));
    const PhotosOnDisk photos(reader, {some.begin(), some.end()}, 0, skip);
    const Greyed greyed(photos);
    const SampleSource& source = card.channels == 1 ? static_cast<const SampleSource&>(greyed) : photos;
    const at::Tensor shares = probabilities(trained.predictor(), source, options).contiguous();
    const auto unreadable = photos.unreadable();
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (std::ranges::binary_search(unreadable, static_cast<std::uint32_t>(i))) continue;
      lines.add({some[i]}, {shares.data_ptr<float>() + i * card.class_names.size(), card.class_names.size()});
      ++predicted;
    }
    lines.flush();
    console.loading(begin + some.size(), files.size());
  }
  if (predicted == 0) throw UserError("none of the images can be read");
  lines.finish();
}

}  // namespace

void add_predict_command(CLI::App& app) {
  auto flags = std::make_shared<PredictFlags>();
  CLI::App* command = app.add_subcommand("predict", "Say what a trained network sees in images, or in vectors");
  command->add_option("run", flags->run, "A run's folder, or a .safetensors file of one")->required();
  command
      ->add_option("images", flags->inputs,
                   "Image files, and folders of them; -: their paths on standard input. For a network on "
                   "vectors: NPY files")
      ->required();
  command->add_option("--out", flags->out,
                      "The CSV file to write: path,label,confidence, or index for the path of a vector [printed]");
  command->add_option("--top", flags->top, "Write the so many likeliest classes, each with its confidence")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--probabilities", flags->probabilities, "Add a column for each class");
  command->add_flag("-0,--null", flags->null,
                    "Paths on standard input end with the byte 0, as find -print0 writes them");
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
      "Examples:\n  regroup predict runs/photos new-photos/ --out predictions.csv\n"
      "  find new-photos -name '*.jpg' -print0 | regroup predict runs/photos - --null --top 5\n"
      "  regroup predict runs/vectors-rml-1 new.npy --out predictions.csv");
  command->callback([flags] { run_predict(*flags); });
}

}  // namespace regroup
