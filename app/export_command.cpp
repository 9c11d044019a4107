// regroup export: a trained network as a file that runs without us.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/export/exported_model.h"
#include "regroup/export/onnx.h"
#include "regroup/export/torchscript.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

struct ExportFlags {
  std::string run, out;
  std::optional<std::string> format;
  std::string checkpoint = "best";
  bool no_mirror = false, overwrite = false;
};

struct Format {
  std::string_view name, ending;
};
constexpr std::array formats{Format{"safetensors", ".safetensors"}, Format{"torchscript", ".pt"},
                             Format{"onnx", ".onnx"}};

/// What was asked for, or what the file's name says.
std::string format_of(const ExportFlags& flags) {
  if (flags.format) return *flags.format;
  const std::string ending = fs::path(flags.out).extension().string();
  for (const Format& format : formats)
    if (format.ending == ending) return std::string(format.name);
  throw UserError(fmt::format(
      "{}: the name does not say which format it is to be; give --format safetensors, torchscript or onnx", flags.out));
}

void tell(const ExportFlags& flags, const TrainedPredictor& trained, const ExportedModel& model) {
  const NetworkCard& card = model.card;
  print_out("{}: {}{} of {}, {} classes\n", flags.out,
            trained.networks.size() > 1 ? fmt::format("{} networks, ", trained.networks.size()) : "", card.model,
            trained.source, card.class_names.size());
  print_out("  gets   {}\n", model.input_text());
  if (card.resize > 0 || !model.is_vector())
    print_out("         of a photo: its shorter side scaled to {}, the middle cut out\n",
              card.resize > 0 ? card.resize : card.height);
  print_out("  gives  logits: [samples, {}]; a softmax makes them probabilities\n", card.class_names.size());
  if (card.test_flip)
    print_out("  the mean over an image and its mirror image, as it was measured; --no-mirror takes half the time\n");
}

void run_export(const ExportFlags& flags) {
  const std::string format = format_of(flags);
  refuse_existing(flags.out, flags.overwrite);
  const TrainedPredictor trained = load_trained_predictor(flags.run, flags.checkpoint, at::kCPU);
  const ExportedModel model = exported_model(trained, !flags.no_mirror);
  if (format == "safetensors") {
    write_weights(flags.out, trained, !flags.no_mirror);
  } else {
    write_file(flags.out, format == "onnx" ? onnx_bytes(model) : torchscript_bytes(model));
  }
  tell(flags, trained, model);
}

}  // namespace

void add_export_command(CLI::App& app) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = app.add_subcommand("export", "Write a trained network as a file that runs without Regroup");
  command->add_option("run", flags->run, "A run's folder, or a .safetensors file of one")->required();
  command
      ->add_option("--format", flags->format,
                   "safetensors (weights; regroup predict and Python read them), torchscript (PyTorch, from Python or "
                   "C++) or onnx (ONNX Runtime, OpenCV and others) [by the ending of --out]")
      ->check(CLI::IsMember({"safetensors", "torchscript", "onnx"}));
  command->add_option("--out", flags->out, "The file to write: model.safetensors, model.pt or model.onnx")->required();
  command->add_option("--checkpoint", flags->checkpoint, "Of a run: best (on the noisy validation split) or last")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  command->add_flag("--no-mirror", flags->no_mirror,
                    "Predict from the image alone, also where the run averages over an image and its mirror image");
  command->add_flag("--overwrite", flags->overwrite, "Replace a file that exists");
  command->footer(
      "Pixels go in as they are, 0 to 255: normalisation is part of torchscript and onnx files, and the names of the\n"
      "classes are in all of them. The number of samples is free. Everything is computed in fp32.\n\n"
      "Examples:\n  regroup export runs/photos-rml-1 --out model.onnx\n"
      "  regroup export runs/photos-rml-1 --format torchscript --out model.pt\n"
      "  regroup predict model.safetensors new-photos/");
  command->callback([flags] { run_export(*flags); });
}

}  // namespace regroup
