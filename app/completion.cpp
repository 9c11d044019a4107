// regroup completion: a script that completes commands, flags and their values, written from the command line's own
// description.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <set>

#include "cli.h"
#include "output.h"
#include "regroup/data/dataset.h"
#include "regroup/noise/spec.h"
#include "regroup/reproduce/grid.h"
#include "regroup/reproduce/presets.h"
#include "regroup/train/run_settings.h"

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

/// What can be offered for a value: words, and paths of a kind.
struct Values {
  enum class Paths { none, files, folders, runs, behind_colon };
  std::vector<std::string> words;
  Paths paths = Paths::none;
};

template <class List>
std::vector<std::string> names_in(const List& list) {
  std::vector<std::string> names;
  for (const auto& element : list) names.emplace_back(element.name);
  return names;
}

std::vector<std::string> dataset_words() {
  std::vector<std::string> words;
  for (const DatasetInfo& set : datasets()) words.push_back(std::string(set.name) + (set.takes_path ? ":" : ""));
  return words;
}

std::vector<std::string> noise_words() {
  std::vector<std::string> words;
  for (const NoiseKindInfo& kind : noise_kinds())
    words.push_back(std::string(kind.name) + (kind.argument == NoiseArgument::nothing ? "" : ":"));
  return words;
}

/// What rows or columns of the built-in grids are called.
template <class Members>
std::vector<std::string> ids_in_grids(Members members) {
  std::set<std::string> ids;
  for (const BuiltIn& built_in : built_in_grids())
    for (const GridBlock& block : parse_grid(built_in.text, std::string(built_in.name)).blocks)
      for (const auto& member : block.*members)
        if (member.id.find(' ') == std::string::npos) ids.insert(member.id);
  return {ids.begin(), ids.end()};
}

std::vector<std::string> choices_of(const std::string& setting) {
  std::vector<std::string> choices;  // of every method that has such a setting
  for (const SettingInfo& info : all_settings())
    for (const std::string_view choice : info.choices)
      if (info.name == setting && std::find(choices.begin(), choices.end(), choice) == choices.end())
        choices.emplace_back(choice);
  return choices;
}

Values values_of_grids(const std::string& name) {
  using Paths = Values::Paths;
  if (name == "scale") return {names_in(built_in_scales()), Paths::files};
  if (name == "only") return {ids_in_grids(&GridBlock::rows)};
  if (name == "noise") return {ids_in_grids(&GridBlock::columns)};
  if (name == "data") return {names_in(datasets())};
  Values tables{names_in(built_in_grids()), Paths::files};
  tables.words.emplace_back("all");
  return tables;
}

Values values_of(const CLI::App& command, const CLI::Option& option) {
  using Paths = Values::Paths;
  const std::string name = option.get_lnames().empty() ? option.get_name() : option.get_lnames().front();
  const auto is = [&name](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (command.get_name() == "reproduce" && is({"tables", "scale", "only", "noise", "data"}))
    return values_of_grids(name);
  if (is({"shell"})) return {{"bash", "zsh"}};
  if (is({"checkpoint"})) return {{"best", "last"}};
  if (is({"k"})) return {{"auto"}};
  if (is({"preset"}) || (command.get_name() == "presets" && is({"name"}))) return {names_in(presets())};
  if (is({"data"})) return {dataset_words(), Paths::behind_colon};
  if (is({"noise"})) return {noise_words(), Paths::behind_colon};
  if (is({"run", "resume"})) return {{}, Paths::runs};
  if (is({"data-dir", "output", "folder"})) return {{}, Paths::folders};
  if (is({"config", "labels", "trusted", "init-weights", "ce-weights", "out", "transitions", "images"}))
    return {{}, Paths::files};
  return {choices_of(name)};
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& app) {
  std::vector<const CLI::Option*> arguments;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional()) arguments.push_back(option);
  return arguments;
}

bool takes_many(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string flags_of(const CLI::App& app) {
  std::string flags;
  for (const CLI::Option* option : options_of(app))
    for (const std::string& name : spellings(*option)) flags += " " + name;
  return flags;
}

/// What is offered, as variables that _regroup_offer reads.
std::string bash_offer(const Values& values) {
  constexpr const char* kinds[] = {"none", "files", "folders", "runs", "behind_colon"};
  return fmt::format("paths={} list=\"{}\"", kinds[static_cast<int>(values.paths)], fmt::join(values.words, " "));
}

constexpr const char* bash_functions = R"bash(
# Words of the list and paths of the kind that begin with the word. Paths may have spaces in them.
_regroup_offer() {
  local run
  mapfile -t COMPREPLY < <(
    case $paths:$word in
      behind_colon:folder:*) compgen -d -- "${word#*:}" ;;
      behind_colon:csv:* | behind_colon:matrix:*) compgen -f -- "${word#*:}" ;;
      behind_colon:*:*) ;;
      *) compgen -W "$list" -- "$word" ;;
    esac
    case $paths in
      files) compgen -f -- "$word" ;;
      folders) compgen -d -- "$word" ;;
      runs)
        for run in runs/*/config.toml runs/*/runs/*/config.toml; do
          [[ -e $run && $run == "$word"* ]] && echo "${run%/config.toml}"
        done
        compgen -d -- "$word"
        ;;
    esac)
  if [[ $paths == behind_colon && $word != *:* ]]; then
    [[ ${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
  elif [[ $paths != none ]]; then
    compopt -o filenames 2>/dev/null
    # What is before the colon stays, unless Bash is told to take words apart otherwise.
    [[ $word == *:* && $COMP_WORDBREAKS != *:* ]] && COMPREPLY=("${COMPREPLY[@]/#/${word%%:*}:}")
  fi
}

_regroup() {
  local words=(regroup) token glue='' paths=none list='' word command arguments=1 i last
  # Bash takes words apart at = and at colons.
  for token in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    case $glue$token in
      = | +=) words+=(''); glue=+ ;;
      : | +:) words[-1]+=: glue=+ ;;
      +?*) words[-1]+=$token; glue='' ;;
      *) words+=("$token"); glue='' ;;
    esac
  done
  last=$((${#words[@]} - 1))
  command=${words[1]}
  word=${words[last]//\\/}
  word=${word#[\"\']}
  for ((i = 2; i < last; i++)); do
    if _regroup_flag "$command" "${words[i]}"; then
      ((i++))
    elif [[ ${words[i]} != -* ]]; then
      ((arguments++))
    fi
  done
  if ((last == 1)); then
    _regroup_flags ''
  elif ((i == last)); then
    paths=none list=''
    [[ $word == -* ]] || _regroup_argument "$command" $arguments || _regroup_flags "$command"
    [[ $word == -* ]] && _regroup_flags "$command"
  fi
  _regroup_offer
}
complete -F _regroup regroup
)bash";

std::string bash_script(const CLI::App& app) {
  std::string commands, flags, values, arguments;
  for (const CLI::App* sub : subcommands_of(app)) {
    commands += " " + sub->get_name();
    flags += fmt::format("    {}) list=\"{}\" ;;\n", sub->get_name(), flags_of(*sub));
    for (const CLI::Option* option : options_of(*sub))
      if (takes_value(*option))
        for (const std::string& name : spellings(*option))
          values += fmt::format("    {}:{}) {} ;;\n", sub->get_name(), name, bash_offer(values_of(*sub, *option)));
    int number = 0;
    for (const CLI::Option* argument : arguments_of(*sub))
      arguments +=
          fmt::format("    {}:{}) {} ;;\n", sub->get_name(), takes_many(*argument) ? "*" : std::to_string(++number),
                      bash_offer(values_of(*sub, *argument)));
  }
  return fmt::format(
             "# _regroup_flags COMMAND: its flags\n"
             "_regroup_flags() {{\n  case $1 in\n{}    *) list=\"{}{}\" ;;\n  esac\n}}\n\n"
             "# _regroup_flag COMMAND FLAG: what its value may be; fails where it takes none\n"
             "_regroup_flag() {{\n  case $1:$2 in\n{}    *) return 1 ;;\n  esac\n}}\n\n"
             "# _regroup_argument COMMAND NUMBER: what that argument may be; fails where there is none\n"
             "_regroup_argument() {{\n  case $1:$2 in\n{}    *) return 1 ;;\n  esac\n}}\n",
             flags, commands, flags_of(app), values, arguments) +
         bash_functions;
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

/// The end of a specification that says what a value may be. A colon inside it is quoted, since one would end it.
std::string zsh_offer(const Values& values) {
  const std::string words = zsh_quoted(fmt::format("{}", fmt::join(values.words, " ")));
  switch (values.paths) {
    case Values::Paths::files:
      return words.empty() ? "_files" : fmt::format("{{compadd -- {}; _files}}", words);
    case Values::Paths::folders:
      return "_files -/";
    case Values::Paths::runs:
      return "_regroup_runs";
    case Values::Paths::behind_colon:
      return "_regroup_behind_colon " + words;
    case Values::Paths::none:
      break;
  }
  return words.empty() ? " " : "(" + words + ")";
}

std::string zsh_options(const CLI::App& app) {
  std::string lines;
  for (const CLI::Option* option : options_of(app))
    for (const std::string& name : spellings(*option)) {
      const std::string help = zsh_quoted(option->get_description());
      lines += " \\\n        ";
      if (takes_value(*option))
        lines += fmt::format("'{}{}[{}]:value:{}'", name, name.starts_with("--") ? "=" : "", help,
                             zsh_offer(values_of(app, *option)));
      else
        lines += fmt::format("'{}[{}]'", name, help);
    }
  for (const CLI::Option* argument : arguments_of(app))
    lines += fmt::format(" \\\n        '{}:{}:{}'", takes_many(*argument) ? "*" : "", argument->get_name(),
                         zsh_offer(values_of(app, *argument)));
  return lines;
}

constexpr const char* zsh_functions = R"zsh(
_regroup_runs() {
  local -a found
  found=(runs/*/config.toml(N:h) runs/*/runs/*/config.toml(N:h))
  # Behind a slash the folders themselves are found.
  [[ $PREFIX == */* ]] || compadd -f -- $found
  _files -/
}
_regroup_behind_colon() {
  if compset -P 'folder:'; then
    _files -/
  elif compset -P '(csv|matrix):'; then
    _files
  elif [[ $PREFIX != *:* ]]; then
    compadd -- ${@:#*:}
    compadd -S '' -- ${(M)@:#*:}
  fi
}
)zsh";

std::string zsh_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* sub : subcommands_of(app)) {
    names += fmt::format("        '{}:{}'\n", sub->get_name(), zsh_quoted(sub->get_description()));
    cases += fmt::format("    {})\n      _arguments{}\n      ;;\n", sub->get_name(), zsh_options(*sub));
  }
  return std::string("#compdef regroup\n") + zsh_functions +
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
