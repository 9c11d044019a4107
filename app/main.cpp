// regroup: the command. Parses, dispatches to a subcommand, and turns what is thrown into exit codes: 2 for the user's
// mistake, 1 for ours, 130 and 143 where work was stopped.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "cli.h"
#include "console.h"
#include "regroup/core/error.h"
#include "regroup/core/parallel.h"
#include "regroup/nn/engine.h"
#include "version.h"

namespace {

constexpr const char* about =
    R"(Regroup trains image classifiers on labels that are partly wrong, and tells which labels are wrong.

Start here:
  regroup train --noise symmetric:0.5 --recipe fast
      trains on Fashion-MNIST with half of its labels made wrong, and leaves a run folder with figures and pictures
  regroup train --data folder:PATH --recipe fast
      trains on your own images, PATH/CLASS/image.jpg; with a GPU, leave out --recipe fast
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

int run(int argc, char** argv) {
  regroup::keep_memory();
  regroup::set_engine_threads(regroup::hardware_threads());

  CLI::App app(about, "regroup");
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", version_text, "Show the version, engine, device, precision and threads");
  app.set_help_flag("-h,--help", "Show this help");
  regroup::add_train_command(app);
  regroup::add_eval_command(app);
  regroup::add_predict_command(app);
  regroup::add_presets_command(app);
  regroup::add_runs_command(app);
  regroup::add_reproduce_command(app);
  regroup::add_noise_command(app);
  regroup::add_reference_command(app);
  regroup::add_completion_command(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "regroup: {}\n", regroup::parse_error_sentence(app, error));
    return 2;
  }
  if (app.get_subcommands().empty()) fmt::print("{}", app.help());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const regroup::Stopped& stopped) {
    return stopped.exit_code();
  } catch (const regroup::UserError& error) {
    fmt::print(stderr, "regroup: {}\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "regroup: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "regroup: internal error: {}\n", error.what());
    return 1;
  }
}
