// The command line of a benchmark program: parsed, or one line on standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// Nothing if all is well; else the exit code (0 after --help, 2 after a line that says what is wrong).
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

/// The value for main() to return: 0, or 1 after a line that says what failed.
int exit_code(const CLI::App& app, const Result<void>& done);

/// Checks of option values, as CLI11 wants them: the fault, or nothing.
std::string known_policy(const std::string& name);
std::string known_workload(const std::string& name);

/// --device-cores: for machines on which the CPU device is to be apart from host code, as an accelerator is.
void declare_device_cores(CLI::App& app, unsigned& cores);
Result<harness::Placement> placement_of(unsigned device_cores);

}  // namespace fairgv::bench
