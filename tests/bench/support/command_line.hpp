// The command line of a benchmark program: parsed, or one line on standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>

#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// Nothing if all is well; else the exit code (0 after --help).
inline std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
    return 2;
  }
}

/// --device-cores: for machines on which the CPU device is to be apart from host code, as an accelerator is.
inline void declare_device_cores(CLI::App& app, unsigned& cores) {
  app.add_option("--device-cores", cores,
                 "Give PoCL's device the first so many cores, and everything else the others (0: all share)");
}
inline Result<harness::Placement> placement_of(unsigned device_cores) {
  return device_cores == 0 ? harness::Placement() : harness::Placement::device_on_first(device_cores);
}

}  // namespace fairgv::bench
