// State that the dispatch loop's thread and the server's thread share: all of it under the mutex, which is
// held for microseconds.
#pragma once

#include <mutex>

#include "runtime/daemon/dispatch/broken_sessions.hpp"
#include "runtime/daemon/dispatch/device_dispatchers.hpp"
#include "runtime/daemon/dispatch/host_watch.hpp"
#include "runtime/daemon/dispatch/processor_charges.hpp"

namespace fairgv::daemon {

struct DispatchState {
  std::mutex mutex{};
  DeviceDispatchers dispatchers;
  ProcessorCharges processors{};
  HostWatch host;
  BrokenSessions broken;

  // The mutex is held for all of these.
  // Whether forgetting the tenant loses nothing: it has no sessions and no debt.
  bool may_forget(TenantId id, sched::Time now) const {
    return processors.may_forget(id, now) && dispatchers.may_forget(id);
  }
  /// Charges all turns in progress.
  void charge_holders(sched::Time now) {
    for (Dispatcher& dispatcher : dispatchers.all()) dispatcher.charge_holder(now);
    broken.collect(dispatchers.all());
  }
};

}  // namespace fairgv::daemon
