// A load as the monitor would report it, for tests of what goes by loads. All parts are in percent of the
// device.
#pragma once

#include <algorithm>

#include "sched/oversell/monitor.hpp"

namespace fairgv::sched::oversell {

constexpr Share part(double percent) {
  return {static_cast<std::uint32_t>(percent * 10'000)};
}

/// A tenant without a target that has been watched for long.
inline Load load_of(TenantId id, double initial, double cap, double used) {
  Load load{.id = id, .initial = part(initial), .cap = part(cap), .used = part(used)};
  load.utilisation = cap > 0 ? used / cap : 0;
  load.demand = load.used;
  return load;
}

/// ... with a target, of which it reaches so large a part, and needs so much of the device.
inline Load served(Load load, double reached, double needed) {
  load.target = 100;
  load.level = 100 * reached;
  load.shortfall = reached < 1 ? 1 - reached : 0;
  load.needed = part(needed);
  load.demand = std::max(load.used, load.needed);
  return load;
}

}  // namespace fairgv::sched::oversell
