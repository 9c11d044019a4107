// regroup completion: a script that completes commands and flags, written from the command line's own description.
#include <fmt/format.h>

#include <memory>

#include "cli.h"
#include "output.h"
#include "regroup/data/dataset.h"
#include "regroup/noise/spec.h"

namespace regroup {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Every spelling of an option.
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options())
    if (!spellings(*option).empty()) options.push_back(option);
  return options;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

/// The values that an option takes, where they can be listed; files otherwise.
std::string values_of(const std::string& option) {
  std::string values;
  if (option == "shell") values = "bash zsh ";
  if (option == "--data")
    for (const DatasetInfo& set : datasets()) values += fmt::format("{}{} ", set.name, set.takes_path ? ":" : "");
  if (option == "--noise")
    for (const NoiseKindInfo& kind : noise_kinds())
      values += fmt::format("{}{} ", kind.name, kind.argument == NoiseArgument::nothing ? "" : ":");
  return values;
}

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : subcommands_of(app)) words.append(sub->get_name()).append(" ");
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : spellings(*option)) words.append(name).append(" ");
    if (option->get_positional()) words += values_of(option->get_name());
  }
  return words;
}

std::string bash_script(const CLI::App& app) {
  std::string words = fmt::format("    *) words=\"{}\" ;;\n", words_of(app));
  std::string values;
  for (const CLI::App* sub : subcommands_of(app)) {
    words.insert(0, fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), words_of(*sub)));
    for (const CLI::Option* option : options_of(*sub)) {
      if (!takes_value(*option)) continue;
      for (const std::string& name : spellings(*option)) {
        const std::string listed = values_of(name);
        values += fmt::format("    {}:{}) {} ;;\n", sub->get_name(), name,
                              listed.empty() ? R"(COMPREPLY=($(compgen -f -- "$word")))"
                                             : fmt::format(R"(COMPREPLY=($(compgen -W "{}" -- "$word")))", listed));
      }
    }
  }
  return "_regroup() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" words\n"
         "  COMPREPLY=()\n"
         "  compopt +o nospace 2>/dev/null\n"
         "  case \"${COMP_WORDS[1]}:$before\" in\n" +
         values +
         "  esac\n"
         "  if [ ${#COMPREPLY[@]} -gt 0 ]; then\n"
         "    [[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null\n"
         "    return\n"
         "  fi\n"
         "  case \"${COMP_WORDS[1]}\" in\n" +
         words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _regroup regroup\n";
}

/// A text inside a quoted zsh specification.
std::string zsh_quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') quoted += '\\';
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted;
}

std::string zsh_options(const CLI::App& app) {
  std::string lines;
  for (const CLI::Option* option : options_of(app)) {
    for (const std::string& name : spellings(*option)) {
      std::string argument;
      if (takes_value(*option)) {
        std::string listed = values_of(name);
        if (!listed.empty()) listed.pop_back();
        // A colon inside a listed value would end the specification.
        argument = ":value:" + (listed.empty() ? std::string("_files") : "(" + zsh_quoted(listed) + ")");
      }
      lines += fmt::format(" \\\n        '{}[{}]{}'", name, zsh_quoted(option->get_description()), argument);
    }
  }
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      lines += fmt::format(" \\\n        ':{}:({})'", option->get_name(), values_of(option->get_name()));
  return lines;
}

std::string zsh_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* sub : subcommands_of(app)) {
    names += fmt::format("        '{}:{}'\n", sub->get_name(), zsh_quoted(sub->get_description()));
    cases += fmt::format("    {})\n      _arguments{}\n      ;;\n", sub->get_name(), zsh_options(*sub));
  }
  return "#compdef regroup\n"
         "_regroup() {\n"
         "  local -a commands\n"
         "  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
         "    commands=(\n" +
         names +
         "    )\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _arguments" +
         zsh_options(app) +
         "\n    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _regroup ]; then _regroup \"$@\"; else compdef _regroup regroup; fi\n";
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  return shell == "zsh" ? zsh_script(app) : bash_script(app);
}

void add_completion_command(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a script that completes this command in a shell");
  command->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->footer("Example:\n  source <(regroup completion bash)");
  command->callback([&app, shell] { write_out(completion_script(app, *shell)); });
}

}  // namespace regroup
