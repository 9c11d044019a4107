#include "cli.h"

#include <fmt/format.h>

#include <sstream>

namespace regroup {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Of the words that the parser could not place, the one to name: the flag, if there is one, and not its value.
std::string culprit(const std::string& words) {
  std::istringstream in(words);
  std::string first, word;
  while (in >> word) {
    if (word.starts_with('-')) return word;
    if (first.empty()) first = word;
  }
  return first;
}

}  // namespace

void refuse_repeats(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (CLI::Option* option : command->get_options())
      if (option->get_items_expected_max() <= 1 && option != command->get_help_ptr())
        option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

std::string parse_error_sentence(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "regroup" : "regroup " + chosen.front()->get_name();
  std::string message = first_line(error.what());
  if (const auto missing = message.find(": 1 required "); missing != std::string::npos)
    message = message.substr(0, missing) + " needs a value";
  for (const CLI::App* command_given : chosen)
    for (const CLI::Option* option : command_given->get_options())
      if (option->get_items_expected_max() <= 1 && option->count() > 1)
        message = fmt::format("{} is given {}", option->get_name(),
                              option->count() == 2 ? "twice" : fmt::format("{} times", option->count()));
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    message = fmt::format("'{}' is not known here", culprit(message.substr(message.rfind(": ") + 2)));
    if (chosen.empty()) {
      std::string names;
      for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        names += (names.empty() ? "" : ", ") + sub->get_name();
      message += "; the commands are " + names;
    }
  }
  return fmt::format("{}; see '{} --help'", message, command);
}

}  // namespace regroup
