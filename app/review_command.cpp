// regroup review: the labels that an audit doubts, in a browser, to be put right.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>

#include "cli.h"
#include "console.h"
#include "findings.h"
#include "output.h"
#include "regroup/audit/decision_journal.h"
#include "regroup/audit/pictures.h"
#include "regroup/audit/recalibrate.h"
#include "regroup/audit/review_server.h"
#include "regroup/audit/saved_audit.h"
#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/io/text_file.h"
#include "regroup/train/run_data.h"
#include "regroup/train/run_settings.h"

namespace regroup {
namespace {

namespace fs = std::filesystem;

struct ReviewFlags {
  std::string run;
  std::optional<std::string> findings, images, data_dir, text;
  int port = 0;
  bool quiet = false;
};

/// Where the pictures come from that are no files.
std::vector<std::shared_ptr<const SampleSource>> load_sources(const ReviewFlags& flags, const Audit& audit,
                                                              Console& console) {
  const auto is_no_file = [](const AuditedSample& sample) { return sample.path.empty(); };
  if (!audit.has_pictures || std::ranges::none_of(audit.samples, is_no_file)) return {};
  std::vector<GivenValue> given;
  if (flags.data_dir) given.push_back({"data-dir", *flags.data_dir, "--data-dir"});
  const Settings settings = resolve_settings({read_config((fs::path(flags.run) / "config.toml").string()), given});
  return sources_of(audit, load_run_images(settings, hardware_threads(), console));
}

/// A folder that was moved would show as nothing but missing pictures.
void refuse_missing_images(const Audit& audit) {
  constexpr std::size_t enough = 50;
  std::size_t looked_at = 0;
  const AuditedSample* missing = nullptr;
  for (const std::uint32_t i : audit.worst_first()) {
    const AuditedSample& sample = audit.samples[i];
    std::error_code error;
    if (sample.path.empty() || fs::exists(audit.root / sample.path, error)) return;
    if (missing == nullptr) missing = &sample;
    if (++looked_at == enough) break;
  }
  if (missing != nullptr)
    throw UserError(fmt::format("{}: is not there, nor are the other image files; say by --images where they are now",
                                (audit.root / missing->path).string()));
}

/// Someone who closes the program in the middle of work finds the lists up to date.
class Lists {
 public:
  Lists(fs::path folder, const Audit& audit, RunLabels labels, const DecisionJournal& journal)
      : folder_(std::move(folder)), audit_(audit), labels_(std::move(labels)), journal_(journal) {}

  void follow() {
    const DecisionJournal::Part decisions = journal_.since(0);
    if (decisions.last == written_) return;
    Audit decided = audit_;
    apply_decisions(standing_decisions(decisions.decisions), decided);
    write_lists(folder_, decided, labels_);
    written_ = decisions.last;
  }

 private:
  fs::path folder_;
  const Audit& audit_;
  RunLabels labels_;
  const DecisionJournal& journal_;
  std::uint64_t written_ = 0;
};

/// The address is the same when the program is started again, so that windows that are open go on and send what they
/// have kept. Only its owner may read the file: who knows the token may decide.
class KeptAddress {
 public:
  explicit KeptAddress(const fs::path& folder) : file_(folder / "review-address") {
    std::error_code error;
    if (!fs::is_regular_file(file_, error)) return;
    const std::string text = read_text(file_);
    const std::size_t space = text.find(' '), end = text.find('\n');
    if (space == std::string::npos || end == std::string::npos || space > end) return;
    const auto port = whole_number(text.substr(0, space));
    const std::string token = text.substr(space + 1, end - space - 1);
    const bool is_token =
        token.size() == token_size && token.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!port || *port < 1 || *port > most_port || !is_token) return;
    port_ = static_cast<int>(*port);
    token_ = token;
  }

  std::unique_ptr<ReviewServer> open(const ReviewContent& content, DecisionJournal& journal, int port) const {
    ReviewServerOptions options;
    options.token = token_;
    options.port = port != 0 ? port : port_;
    try {
      return std::make_unique<ReviewServer>(content, journal, options);
    } catch (const UserError&) {
      if (port != 0 || port_ == 0) throw;
    }
    options.port = 0;
    return std::make_unique<ReviewServer>(content, journal, options);
  }

  void keep(const ReviewServer& server) const {
    const std::string address = server.address();
    const std::size_t slash = address.find('/', address.find(std::to_string(server.port())));
    const std::string line = fmt::format("{} {}\n", server.port(), address.substr(slash + 1, token_size));
    constexpr mode_t owner_only = 0600;
    const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, owner_only);
    // Without the file the next address is another one, and nothing else.
    if (file < 0) return;
    if (fchmod(file, owner_only) == 0) std::ignore = write(file, line.data(), line.size());
    close(file);
  }

 private:
  static constexpr std::size_t token_size = 32;
  static constexpr int most_port = 65535;

  fs::path file_;
  int port_ = 0;
  std::string token_;
};

void serve(ReviewServer& server, Lists& lists) {
  constexpr auto pause = std::chrono::milliseconds(100);
  constexpr int pauses_between_lists = 10;
  std::exception_ptr failure;
  std::atomic<bool> ended = false;
  std::jthread serving([&] {
    try {
      server.run();
    } catch (...) {
      failure = std::current_exception();
    }
    ended = true;
  });
  for (int turn = 1; !ended && !stop_requested(); ++turn) {
    std::this_thread::sleep_for(pause);
    if (turn % pauses_between_lists == 0) lists.follow();
  }
  server.stop();
  serving.join();
  lists.follow();
  if (failure) std::rethrow_exception(failure);
}

void run_review(const ReviewFlags& flags) {
  const fs::path run = flags.run, folder = flags.findings ? fs::path(*flags.findings) : run / "audit";
  if (!fs::exists(run / "config.toml"))
    throw UserError(fmt::format("{}: is not the folder of a run; regroup train makes one, and regroup runs lists them",
                                run.string()));
  if (!fs::exists(folder / saved_audit_name))
    throw UserError(fmt::format("{}: has no findings to review; make them by: regroup audit {}{}", folder.string(),
                                shell_word(flags.run), fs::exists(folder / "issues.csv") ? " --overwrite" : ""));
  Console console(flags.quiet);
  stop_requested();
  Audit audit = read_audit(folder / saved_audit_name);
  RunLabels labels = read_run_labels(run, static_cast<int>(audit.class_names.size()));
  const bool vectors =
      resolve_settings({read_config((run / "config.toml").string())}).text("data").starts_with("features:");
  if (flags.text && !vectors) throw UserError("--text shows what vectors are; these are images already");
  if (vectors && (flags.text || flags.images)) show_rows({flags.text, flags.images}, labels.given.size(), audit);
  if (!vectors && flags.images) audit.root = *flags.images;
  if (audit.has_pictures) refuse_missing_images(audit);
  DecisionJournal journal(folder / journal_name, audit);
  const PictureReader pictures(audit, load_sources(flags, audit, console));

  constexpr std::size_t most_listed = 100'000, most_others = 100'000;
  const ReviewRun about = review_run(run, folder);
  const std::string nonce = make_nonce();
  ReviewContent content;
  content.page = review_page(about.title, nonce, R"({"served": true})");
  content.policy = content_security_policy(nonce);
  content.data_json = review_json(audit, about, choose_review(audit, most_listed, most_others), nullptr,
                                  standing_decisions(journal.since(0).decisions));
  content.samples = audit.samples.size();
  content.classes = static_cast<int>(audit.class_names.size());
  content.picture = [&pictures](std::uint32_t sample, int longest_side) { return pictures.read(sample, longest_side); };
  const KeptAddress kept(folder);
  const std::unique_ptr<ReviewServer> server = kept.open(content, journal, flags.port);
  kept.keep(*server);
  Lists lists(folder, audit, std::move(labels), journal);
  print_out("Open this address in a browser on this machine; Ctrl-C ends it.\n  {}\n", server->address());
  finish_output();
  serve(*server, lists);
  if (flags.quiet) return;
  const std::size_t standing = standing_decisions(journal.since(0).decisions).size();
  const std::string out = shell_word(folder.string());
  print_out(
      "{} labels are decided. Train again on them:\n  regroup train --config {}/config.toml --labels {}/corrected.csv "
      "--trusted {}/trusted.csv --noise none\n",
      standing, shell_word(flags.run), out, out);
}

}  // namespace

void add_review_command(CLI::App& app) {
  auto flags = std::make_shared<ReviewFlags>();
  CLI::App* command = app.add_subcommand("review", "Look at the labels that an audit doubts, and put them right");
  command->add_option("run", flags->run, "A run's folder, audited before")->required();
  command->add_option("--findings", flags->findings, "Folder of the findings, where it is not RUN/audit");
  command->add_option(
      "--images", flags->images,
      "Where the image files are now, if they were moved; for vectors: the images that they were made of");
  command->add_option(
      "--text", flags->text,
      "For vectors: a file of the texts that they were made of, one per line, or CSV with a column text");
  command->add_option("--data-dir", flags->data_dir, "Where the dataset lies, if it was moved");
  command->add_option("--port", flags->port, "Port on this machine [0: a free one]")->check(CLI::Range(0, 65535));
  command->add_flag("-q,--quiet", flags->quiet, "Print nothing but the address and warnings");
  command->footer(
      "Each decision is on the disk before the page shows it as saved; corrected.csv and trusted.csv follow.\n"
      "Only this machine can open the page. Over SSH: ssh -L 8000:127.0.0.1:8000 HOST, and --port 8000.\n\n"
      "Example:\n  regroup review runs/photos-rml-1");
  command->callback([flags] { run_review(*flags); });
}

}  // namespace regroup
