// A program whose last line on standard output is a JSON object with its own measurements: every workload and
// probe.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/base/result.hpp"
#include "tests/harness/child.hpp"

namespace fairgv::harness {

/// Runs the program and returns that object. An Error if it fails, is not verified, or prints no such line.
Result<nlohmann::json> run_measured(const CommandLine& command);

/// The same of a program that has run already.
Result<nlohmann::json> result_of(const CommandLine& command, const Finished& finished);

/// The object on `line`, or a discarded value when it is none.
nlohmann::json parse_line(const std::string& line);

/// Now, on the clock of the workloads' --start-at.
double monotonic_seconds();

}  // namespace fairgv::harness
