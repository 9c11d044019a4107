// regroup: the command. Parses, dispatches to a subcommand, and turns what is thrown into exit codes: 2 for the user's
// mistake, 1 for ours, 130 and 143 where work was stopped.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <new>
#include <sstream>

#include "cli.h"
#include "console.h"
#include "output.h"
#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/nn/engine.h"
#include "version.h"

namespace {

constexpr const char* about =
    R"(Regroup trains image classifiers on labels that are partly wrong, and tells which labels are wrong.

Start here:
  regroup train --data folder:photos
      trains on your own images, photos/CLASS/image.jpg
  regroup audit runs/photos-rml-1
      tells which of their labels are wrong
  regroup review runs/photos-rml-1
      shows them in the browser, to put them right
  regroup train --noise symmetric:0.5 --recipe fast
      trains on Fashion-MNIST with half of its labels made wrong, and leaves a run folder with figures and pictures
  regroup noise --data fashion-mnist --noise symmetric:0.5 --out labels.csv
      makes half of Fashion-MNIST's labels wrong and writes them beside the clean ones
  regroup noise --help
      explains the kinds of label noise
  regroup --version
      shows the engine, device, precision and threads in use)";

std::string version_text() {
  const regroup::EngineInfo engine = regroup::engine_info();
  return fmt::format("regroup {}\nengine     {} {}\ndevice     {}\nprecision  {} (native on this CPU)\nthreads    {}",
                     REGROUP_VERSION, engine.name, engine.version, engine.device, engine.cpu_precision, engine.threads);
}

/// A file that is opened where standard output is closed would become standard output.
void keep_standard_files_apart() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(file, F_GETFD) < 0) open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void run(int argc, char** argv) {
  regroup::keep_memory();
  regroup::set_engine_threads(regroup::hardware_threads());

  CLI::App app(about, "regroup");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", version_text, "Show the version, engine, device, precision and threads");
  app.set_help_flag("-h,--help", "Show this help");
  regroup::add_train_command(app);
  regroup::add_audit_command(app);
  regroup::add_review_command(app);
  regroup::add_eval_command(app);
  regroup::add_predict_command(app);
  regroup::add_export_command(app);
  regroup::add_methods_command(app);
  regroup::add_presets_command(app);
  regroup::add_runs_command(app);
  regroup::add_reproduce_command(app);
  regroup::add_noise_command(app);
  regroup::add_reference_command(app);
  regroup::add_completion_command(app);
  regroup::refuse_repeats(app);

  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) regroup::write_out(app.help());
  } catch (const CLI::Success& success) {
    std::ostringstream help;
    app.exit(success, help);
    regroup::write_out(help.str());
  } catch (const CLI::ParseError& error) {
    throw regroup::UserError(regroup::parse_error_sentence(app, error));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto ends_with = [](int code, const std::string& sentence) {
    regroup::print_error("regroup: " + sentence);
    return code;
  };
  try {
    keep_standard_files_apart();
    run(argc, argv);
    regroup::finish_output();
    return 0;
  } catch (const regroup::Stopped&) {
    return regroup::Stopped::exit_code();
  } catch (const regroup::UserError& error) {
    return ends_with(2, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    // A path that is too long, leads in a circle or may not be read: whatever was asked of it.
    return ends_with(2, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::bad_alloc&) {
    return ends_with(1, "out of memory");
  } catch (const std::exception& error) {
    return ends_with(1, fmt::format("internal error: {}", error.what()));
  }
}
