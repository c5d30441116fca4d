// The sources of reports: for books.hpp and everything that shows the books.
#pragma once

#include "runtime/daemon/devices/table.hpp"
#include "runtime/daemon/dispatch/dispatch_looks.hpp"
#include "runtime/daemon/oversell/markets.hpp"
#include "runtime/daemon/sessions/placements.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

/// All of it outlives who has this.
struct Sources {
  DispatchLooks& dispatch;
  const Tenancies& tenancies;
  const DeviceTable& devices;
  const Sessions& sessions;
  Placements& placements;
  const Markets& markets;
};

}  // namespace fairgv::daemon
