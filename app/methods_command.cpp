// regroup methods: the ways of learning from labels that are partly wrong.
#include <fmt/format.h>

#include "cli.h"
#include "output.h"
#include "regroup/methods/method.h"

namespace regroup {
namespace {

/// What it needs and what it is, on lines that fit a terminal.
std::string entry_of(const MethodInfo& method) {
  std::string entry =
      fmt::format("{} ({}{}{})\n  {}.\n", method.name, method.needs_images ? "images" : "images, vectors",
                  method.networks > 1 ? fmt::format("; {} networks", method.networks) : "",
                  method.semi_supervised ? "; semi-supervised" : "", method.description);
  if (method.year != 0) entry += fmt::format("  {}, {}\n", method.paper, method.year);
  return entry;
}

void print_methods() {
  for (const MethodInfo& method : methods()) write_out(entry_of(method));
}

}  // namespace

void add_methods_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("methods", "List the methods that a run can train by, and their papers");
  command->footer(
      "Semi-supervised: samples whose labels are not believed are learnt from without their labels.\n"
      "The settings of a method: regroup train --method NAME --help");
  command->callback(print_methods);
}

}  // namespace regroup
