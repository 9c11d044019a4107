// regroup audit: which labels are wrong.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli.h"
#include "console.h"
#include "findings.h"
#include "output.h"
#include "regroup/audit/audit_files.h"
#include "regroup/audit/decision_journal.h"
#include "regroup/audit/pictures.h"
#include "regroup/audit/recalibrate.h"
#include "regroup/audit/review_data.h"
#include "regroup/audit/saved_audit.h"
#include "regroup/audit/sort_into.h"
#include "regroup/core/error.h"
#include "regroup/core/file.h"
#include "regroup/core/parallel.h"
#include "regroup/io/npy.h"
#include "regroup/io/text_file.h"
#include "regroup/train/audit_run.h"
#include "regroup/train/foreign_predictions.h"
#include "regroup/train/trainer.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

struct AuditFlags {
  std::optional<std::string> run, data, data_dir, out, probabilities, labels, sort_into, budget, decisions, text,
      images;
  std::string part = "all", device = "auto";
  bool link = false, save_predictions = false, overwrite = false, quiet = false;
};

AuditPart part_of(const std::string& name) {
  return name == "train"  ? AuditPart::train
         : name == "val"  ? AuditPart::validation
         : name == "test" ? AuditPart::test
                          : AuditPart::all;
}

/// Trains on somebody's data with the defaults, and returns the run's folder.
std::string train_first(const AuditFlags& flags, Console& console) {
  std::vector<GivenValue> given{{"data", *flags.data, "--data"}};
  if (flags.data_dir) given.push_back({"data-dir", *flags.data_dir, "--data-dir"});
  if (flags.budget) given.push_back({"budget", *flags.budget, "--budget"});
  const Settings settings = resolve_settings({given});
  std::string folder = free_output(settings);
  const TrainResult result = train(settings, {folder, false, &stop_requested()}, console);
  if (!result.finished) {
    console.message(fmt::format("Stopped and saved. Resume by: regroup train --resume {}", shell_word(folder)));
    console.message(fmt::format("Then: regroup audit {}", shell_word(folder)));
    throw Stopped();
  }
  return folder;
}

void write_whole(const fs::path& folder, const Audit& audit, const RunLabels& labels) {
  fs::create_directories(folder);
  write_lists(folder, audit, labels);
  write_file(folder / "summary.json", summary_json(audit));
}

/// Who has findings already wants to know before the work.
void refuse_findings(const fs::path& folder, bool overwrite) {
  if (fs::exists(folder / "issues.csv") && !overwrite)
    throw UserError(
        fmt::format("{}: has findings already; give --overwrite, or another folder by --out", folder.string()));
}

void audit_foreign(const AuditFlags& flags) {
  if (!flags.labels) throw UserError("--from-probabilities needs the given labels; name their file by --labels");
  const ForeignPredictions foreign = read_foreign_predictions(*flags.probabilities, *flags.labels);
  const fs::path out = flags.out ? fs::path(*flags.out) : fs::path(*flags.probabilities).replace_extension("audit");
  refuse_findings(out, flags.overwrite);
  const Audit audit =
      audit_probabilities(foreign.class_names, foreign.labels, foreign.probabilities, hardware_threads());
  write_whole(out, audit, {foreign.labels, {}, {}});
  if (flags.quiet) return;
  write_out(audit_text(audit));
  print_out("\nThe list is {}, the worst label first; corrected labels are in corrected.csv beside it.\n",
            (out / "issues.csv").string());
}

/// For other programs: a row per label, those of training images by index, then those of validation images.
void write_predictions(const fs::path& out, const RunPredictions& run) {
  const auto classes = static_cast<std::size_t>(run.data.dataset.classes());
  std::vector<float> probabilities, features = run.train.features;
  std::vector<std::int32_t> indexes;
  for (const ScoredSamples* scored : {&run.train, &run.validation}) {
    for (std::size_t i = 0; i < scored->positions.size(); ++i) {
      probabilities.resize(probabilities.size() + classes);
      scored->last.read(i, std::span(probabilities).last(classes));
      indexes.push_back(static_cast<std::int32_t>(scored->positions[i]));
    }
  }
  features.insert(features.end(), run.validation.features.begin(), run.validation.features.end());
  const std::size_t rows = indexes.size();
  write_npy(out / "indexes.npy", indexes, std::array{rows});
  write_npy(out / "probabilities.npy", probabilities, std::array{rows, classes});
  if (features.size() == rows * run.train.dimension)
    write_npy(out / "features.npy", features, std::array{rows, run.train.dimension});
}

/// What to do next, with the folders in it.
void tell_next(const fs::path& run, const fs::path& out, bool has_paths) {
  const std::string folder = shell_word(out.string());
  print_out("\n{}/issues.csv has every label, the worst first{}.\n", folder,
            has_paths ? "; label-studio.json and metadata.csv are for Label Studio and Hugging Face" : "");
  print_out(
      "See them: open {}/report.html in a browser. To decide about them and keep what was decided:\n"
      "  regroup review {}{}\n",
      folder, shell_word(run.string()), out == run / "audit" ? "" : " --findings " + folder);
  print_out(
      "Train again on the corrected labels:\n  regroup train --config {}/config.toml --labels {}/corrected.csv "
      "--noise none\n",
      shell_word(run.string()), folder);
}

/// A mistake in what was decided, and a review that is still open, are told before the work, where an audit before it
/// makes that possible.
void check_decisions(const AuditFlags& flags, const fs::path& out) {
  Audit before;
  try {
    before = read_audit(out / saved_audit_name);
  } catch (const UserError&) {
    return;  // there is none, or it is to be replaced for that very reason
  }
  if (flags.decisions) parse_decisions(read_text(*flags.decisions), *flags.decisions, before);
  if (fs::exists(out / journal_name)) const DecisionJournal is_free(out / journal_name, before);
}

/// The decisions that the folder has already, and those of a file, which are added to them.
std::vector<Decision> take_decisions(const AuditFlags& flags, const fs::path& out, const Audit& audit,
                                     Console& console) {
  const fs::path file = out / journal_name;
  if (!flags.decisions && !fs::exists(file)) return {};
  std::vector<Decision> added;
  if (flags.decisions) added = parse_decisions(read_text(*flags.decisions), *flags.decisions, audit);
  DecisionJournal journal(file, audit);
  std::vector<Decision> all = journal.since(0).decisions;
  // A file that is given again, or was saved from a page that had these decisions already, adds nothing.
  const std::vector<Decision> before = standing_decisions(all);
  std::erase_if(added, [&](const Decision& one) { return std::ranges::find(before, one) != before.end(); });
  if (!added.empty()) journal.append(added);
  all.insert(all.end(), added.begin(), added.end());
  std::vector<Decision> standing = standing_decisions(all);
  if (!standing.empty())
    console.message(fmt::format("{} decisions of people are taken into account; {} keeps them", standing.size(),
                                shell_word(file.string())));
  return standing;
}

/// A page with the worst labels, in a file of at most 20 MB.
void write_report(const fs::path& run, const fs::path& out, const Audit& audit, const Dataset& dataset,
                  std::span<const Decision> standing) {
  constexpr std::size_t most_listed = 3000, most_others = 2000, most_bytes = 12'500'000;
  const ReviewSamples chosen = choose_review(audit, most_listed, most_others);
  const PictureReader pictures(audit, sources_of(audit, dataset));
  const Tiles tiles = make_tiles(chosen.samples, pictures, most_bytes, hardware_threads());
  const ReviewRun about = review_run(run, out);
  write_file(out / "report.html",
             review_page(about.title, make_nonce(), review_json(audit, about, chosen, &tiles, standing)));
}

void audit_trained(const AuditFlags& flags, const std::string& run, Console& console) {
  const fs::path out = flags.out ? fs::path(*flags.out) : fs::path(run) / "audit";
  refuse_findings(out, flags.overwrite);
  check_decisions(flags, out);
  std::vector<GivenValue> given;
  if (flags.run && flags.data) given.push_back({"data", *flags.data, "--data"});
  if (flags.data_dir) given.push_back({"data-dir", *flags.data_dir, "--data-dir"});
  const RunPredictions predictions = read_run_predictions(run, given, flags.device, console);
  if (predictions.epochs_done < predictions.epochs)
    console.message(fmt::format("{}: {} of {} epochs are done; what is believed may still change", run,
                                predictions.epochs_done, predictions.epochs));
  Audit audit = audit_run(predictions, part_of(flags.part), hardware_threads());
  const bool vectors = predictions.data.dataset.train.source->shape().is_vector;
  if (vectors) show_rows({flags.text, flags.images}, predictions.data.dataset.train.size(), audit);
  if (!vectors && (flags.text || flags.images))
    throw UserError("--text and --images show what vectors are; these are images already");
  if (!audit.knows_history)
    console.message(
        fmt::format("{}: has kept no predictions while it trained; its last ones alone are judged by", run));
  if (!audit.labels.front().beliefs.has_held_out)
    console.message(
        "There are fewer than 50 validation samples to check the network by: how many labels are wrong is less "
        "certain");
  const LabelledSet& images = predictions.data.dataset.train;
  fs::create_directories(out);
  const std::vector<Decision> standing = take_decisions(flags, out, audit, console);
  write_audit(out / saved_audit_name, audit);
  write_report(run, out, audit, predictions.data.dataset, standing);
  apply_decisions(standing, audit);
  write_whole(out, audit, {predictions.data.observed, predictions.data.clean, images.paths});
  if (!audit.evidence.empty()) write_file(out / "neighbours.csv", neighbours_csv(audit));
  const fs::path& root = predictions.data.dataset.root;
  if (!images.paths.empty()) {
    write_file(out / "label-studio.json", label_studio_json(audit, root));
    write_file(out / "metadata.csv", metadata_csv(audit));
  }
  if (flags.save_predictions) write_predictions(out, predictions);
  if (flags.sort_into) {
    const std::size_t sorted = sort_into(audit, root, *flags.sort_into, flags.link ? SortBy::link : SortBy::copy);
    console.message(fmt::format("{} suspects are in {}/GIVEN/SUGGESTED", sorted, *flags.sort_into));
  }
  if (flags.quiet) return;
  write_out(audit_text(audit));
  tell_next(run, out, !images.paths.empty());
}

void run_audit(const AuditFlags& flags) {
  if ((flags.run || flags.data) == flags.probabilities.has_value())
    throw UserError("give a run's folder, or data by --data, or predictions by --from-probabilities, one of them");
  if (flags.probabilities && flags.decisions)
    throw UserError("--decisions belongs to the audit of a run; leave out --from-probabilities");
  if (flags.probabilities) return audit_foreign(flags);
  Console console(flags.quiet);
  audit_trained(flags, flags.run ? *flags.run : train_first(flags, console), console);
}

}  // namespace

void add_audit_command(CLI::App& app) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* command = app.add_subcommand("audit", "Tell which labels are wrong");
  command->add_option("run", flags->run, "A run's folder, finished or not");
  command->add_option(
      "--data", flags->data,
      "Data with doubtful labels, folder:PATH for instance, to train on first; with a run: where its data is now");
  command->add_option("--data-dir", flags->data_dir, "Where the dataset lies, if it was moved");
  command->add_option("--budget", flags->budget, "With --data: how long the training may take, 20m for instance");
  command->add_option("--from-probabilities", flags->probabilities,
                      "NPY file of what another tool predicts, a row of probabilities per label");
  command->add_option("--labels", flags->labels, "With --from-probabilities: the given labels, CSV, text or NPY");
  command->add_option("--part", flags->part, "Which labels are listed: all, train, val or test")
      ->check(CLI::IsMember({"all", "train", "val", "test"}))
      ->capture_default_str();
  command->add_option("--out", flags->out, "Folder of the findings [RUN/audit; of P.npy P.audit]");
  command->add_option("--decisions", flags->decisions,
                      "What people decided, as report.html saves it: CSV; added to those that the folder has");
  command->add_option("--sort-into", flags->sort_into,
                      "Copy the suspects to this folder, by given and suggested label; nothing is moved or deleted");
  command->add_flag("--link", flags->link, "With --sort-into: make links instead of copies");
  command->add_flag("--save-predictions", flags->save_predictions,
                    "Also write indexes.npy, probabilities.npy and features.npy, a row per label, for other tools");
  command->add_option(
      "--text", flags->text,
      "For vectors: a file of the texts that they were made of, one per line, or CSV with a column text");
  command->add_option("--images", flags->images,
                      "For vectors: a folder of the images that they were made of, by the column path of their labels, "
                      "or in the order of the rows");
  command->add_option("--device", flags->device, "auto, cpu or cuda")->capture_default_str();
  command->add_flag("--overwrite", flags->overwrite, "Replace findings that exist");
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but warnings");
  command->footer(
      "Examples:\n  regroup audit runs/photos-rml-1\n"
      "  regroup audit --data folder:photos --budget 20m\n"
      "  regroup audit runs/photos-rml-1 --sort-into suspects --link --overwrite\n"
      "  regroup audit --from-probabilities p.npy --labels labels.csv --out findings");
  command->callback([flags] { run_audit(*flags); });
}

}  // namespace regroup
