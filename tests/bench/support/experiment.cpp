#include "tests/bench/support/experiment.hpp"

#include <fmt/core.h>

#include <fstream>
#include <thread>

#include "tests/bench/support/command_line.hpp"

namespace fairgv::bench {
namespace {

std::string machine(unsigned device_cores) {
  const unsigned all = std::thread::hardware_concurrency();
  return fmt::format("{} cores, a CPU device on {} of them; FairGV {}", all,
                     device_cores == 0 ? all : device_cores, FAIRGV_VERSION);
}

}  // namespace

Experiment::Experiment(const std::string& name, const std::string& purpose)
    : app_(purpose, "fairgv bench " + name) {
  app_.add_flag("--quick", quick_, "Short runs, to see that it works: the figures mean nothing");
  app_.add_option("--csv", csv_file_, "Also write the table to this file");
  declare_device_cores(app_, device_cores_);
}

int Experiment::run(int argc, char** argv, const Body& measure) {
  if (const auto code = parse_command_line(app_, argc, argv)) return *code;
  const auto placement = placement_of(device_cores_);
  if (!placement) return fail(placement.error().message, 2);
  // Opened before minutes of measuring, not after.
  std::ofstream csv;
  if (!csv_file_.empty()) csv.open(csv_file_);
  if (!csv) return fail("cannot write " + csv_file_, 2);

  fmt::print("{}\n", machine(device_cores_));
  std::fflush(stdout);
  const auto found = measure(placement.value());
  if (!found) return fail(found.error().message, 1);
  if (!csv.is_open()) return 0;
  csv << "# " << machine(device_cores_) << '\n' << found->header << '\n';
  for (const std::string& row : found->rows) csv << row << '\n';
  csv.close();
  return csv ? 0 : fail("cannot write " + csv_file_, 1);
}

int Experiment::fail(const std::string& why, int code) const {
  fmt::print(stderr, "{}: {}\n", app_.get_name(), why);
  return code;
}

}  // namespace fairgv::bench
