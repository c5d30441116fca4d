// The common part of experiments: --quick, --csv, --figure and --device-cores, the line that names the
// machine, and the exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// The findings of an experiment.
struct Findings {
  std::string header;  // of the CSV
  std::vector<std::string> rows;
  Figure figure{};
};

class Experiment {
 public:
  /// `name` as in `fairgv bench NAME`; `purpose` is one line for --help.
  Experiment(const std::string& name, const std::string& purpose);

  /// Takes --figure too: its findings have one.
  void declare_figure();
  /// For options of its own, before run().
  CLI::App& options() { return app_; }
  /// An option to which --quick gives another value, unless the user gives it one. `value` must outlive
  /// run().
  template <class Value>
  CLI::Option* setting(const std::string& option, Value& value, std::type_identity_t<Value> when_quick,
                       const std::string& help) {
    CLI::Option* const declared = app_.add_option(option, value, help);
    shorten_.push_back([declared, &value, when_quick] {
      if (declared->empty()) value = when_quick;
    });
    return declared;
  }

  using Body = std::function<Result<Findings>(const harness::Placement&)>;

  /// Parses, says on what machine this runs, measures, and writes the CSV and the figure. Returns the exit
  /// code: 0, 1 if the experiment failed, 2 if the command line is wrong; either with one line on standard
  /// error.
  int run(int argc, char** argv, const Body& measure);

 private:
  Result<void> measure_and_write(const Body& measure) const;

  CLI::App app_;
  bool quick_ = false;
  std::vector<std::function<void()>> shorten_;
  unsigned device_cores_ = 0;
  Output output_;
};

}  // namespace fairgv::bench
