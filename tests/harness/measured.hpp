// A program whose last line on standard output is a JSON object with its own measurements: every workload and
// probe.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/ring/result.hpp"
#include "tests/harness/child.hpp"

namespace fairgv::harness {

/// Runs the program and returns that object. An Error if it fails, is not verified, or prints no such line.
Result<nlohmann::json> run_measured(const CommandLine& command);

/// The object on `line`, or a discarded value when it is none.
nlohmann::json parse_line(const std::string& line);

}  // namespace fairgv::harness
