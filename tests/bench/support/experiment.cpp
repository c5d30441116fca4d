#include "tests/bench/support/experiment.hpp"

#include <fmt/core.h>

#include "tests/bench/support/text/command_line.hpp"

namespace fairgv::bench {

Experiment::Experiment(const std::string& name, const std::string& purpose)
    : app_(purpose, "fairgv bench " + name) {
  app_.add_flag("--quick", quick_, "Short runs, to see that it works: the figures mean nothing");
  declare_csv(app_, output_);
  declare_device_cores(app_, device_cores_);
}

void Experiment::declare_figure() {
  bench::declare_figure(app_, output_);
}

int Experiment::run(int argc, char** argv, const Body& measure) {
  if (const auto code = parse_command_line(app_, argc, argv)) return *code;
  if (quick_) {
    for (const auto& shorten : shorten_) shorten();
  }
  return exit_code(app_, measure_and_write(measure));
}

Result<void> Experiment::measure_and_write(const Body& measure) const {
  FAIRGV_TRY(placement, placement_of(device_cores_));
  fmt::print("{}\n", machine(device_cores_));
  std::fflush(stdout);
  FAIRGV_TRY(found, measure(placement.value()));
  if (auto written = write_csv(output_, device_cores_, found->header, found->rows); !written) return written;
  return draw(output_, found->figure);
}

}  // namespace fairgv::bench
