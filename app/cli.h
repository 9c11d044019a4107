#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "regroup/core/settings.h"

namespace regroup {

/// The whole command with its subcommands. A subcommand is one file that adds itself here: flags, and as its callback
/// the library call.
void add_train_command(CLI::App& app);
void add_audit_command(CLI::App& app);
void add_review_command(CLI::App& app);
void add_eval_command(CLI::App& app);
void add_predict_command(CLI::App& app);
void add_export_command(CLI::App& app);
void add_methods_command(CLI::App& app);
void add_presets_command(CLI::App& app);
void add_reproduce_command(CLI::App& app);
void add_runs_command(CLI::App& app);
void add_reference_command(CLI::App& app);
void add_noise_command(CLI::App& app);
void add_completion_command(CLI::App& app);

/// The folder of a run that is given none: runs/fashion-mnist-rml-1, or the next number that is free.
std::string free_output(const Settings& settings);

/// Flags that are given twice are mistakes, also those without a value. For when all subcommands are there.
void refuse_repeats(CLI::App& app);

/// A parse error as one sentence that says where to look.
std::string parse_error_sentence(const CLI::App& app, const CLI::ParseError& error);

/// What a shell needs to complete the command's flags and values: the text of a bash or zsh script.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace regroup
