// What experiments without a figure have in common: --quick, --csv and --device-cores, the line that names
// the machine, and the exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "runtime/ring/result.hpp"
#include "tests/bench/support/output.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// What an experiment found, as the CSV has it.
struct Csv {
  std::string header;
  std::vector<std::string> rows;
};

class Experiment {
 public:
  /// `name` as in `fairgv bench NAME`; `purpose` is one line for --help.
  Experiment(const std::string& name, const std::string& purpose);

  /// For options of its own, before run().
  CLI::App& options() { return app_; }
  /// Short runs were asked for. Valid within run().
  bool quick() const { return quick_; }

  using Body = std::function<Result<Csv>(const harness::Placement&)>;

  /// Parses, says on what machine this runs, measures, and writes the CSV. Returns the exit code: 0, 1 if the
  /// experiment failed, 2 if it was asked for wrongly; either with one line on standard error.
  int run(int argc, char** argv, const Body& measure);

 private:
  Result<void> measure_and_write(const Body& measure) const;

  CLI::App app_;
  bool quick_ = false;
  unsigned device_cores_ = 0;
  Output output_;
};

}  // namespace fairgv::bench
