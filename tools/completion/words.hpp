// The words that can be completed on a command line, read from its CLI11 definition, so that completions are
// never old.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fairgv::tools {

/// The value of an option or of a positional argument. `kind` is its type's name in --help: FILE and PATH are
/// completed as files, TENANT, SESSION|TENANT and BENCHMARK by asking `fairgv`, PROGRAM as a command.
struct CompletedValue {
  std::string kind;
  std::vector<std::string> choices;
};

struct CompletedOption {
  std::vector<std::string> names;  // "--json", "-h"
  bool takes_value = false;
  bool repeatable = false;
  CompletedValue value;
  std::string help;  // one line
};

struct CompletedCommand {
  std::vector<std::string> path;  // without the program's name
  std::string help;
  std::vector<CompletedOption> options;
  std::vector<CompletedValue> positionals;
  std::vector<CompletedCommand> commands;
  bool takes_program = false;  // another program's command line follows its options
};

CompletedCommand completed_command(const CLI::App& app);

/// The scripts for a program of this name.
std::string bash_completion(const CompletedCommand& root, const std::string& program);
std::string zsh_completion(const CompletedCommand& root, const std::string& program);

}  // namespace fairgv::tools
