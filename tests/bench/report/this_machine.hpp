// The machine that experiments are about to run on.
#pragma once

#include "tests/bench/report/record.hpp"

namespace fairgv::bench::report {

/// Processor, cores, memory, system, kernel, drivers, and the devices that a daemon of FairGV shares out.
/// Facts that cannot be found out say so.
Machine this_machine();

/// Processes that ran or wanted to, on average over the last minute.
double load();

}  // namespace fairgv::bench::report
