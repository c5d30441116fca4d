#include "runtime/daemon/sessions/worker_page.hpp"

#include "runtime/session/service_unit.hpp"

namespace fairgv::daemon {

void tell_configuration(Session& session, const Config& config, const TenantRegistry& tenants) {
  for (session::DeviceTurn& turn : session.turns.page().devices) {
    turn.slicing_floor.store(config.tuning.slicing_floor, std::memory_order_relaxed);
  }
  const Tenant* const tenant = tenants.find(session.tenant);
  if (tenant == nullptr) return;
  const session::ServiceUnit unit =
      tenants.rule_of(tenant->name, tenant->class_name).units.value_or(session::ServiceUnit{});
  const bool calls = unit.kind == session::ServiceUnit::Kind::calls;
  session.header.header().coscheduling.counts_calls.store(calls ? 1 : 0, std::memory_order_relaxed);
  session::TurnPromises* const promises = session.turns.promises();
  if (promises == nullptr) return;
  for (session::TurnPromise& promise : promises->devices) {
    promise.counted.store(calls ? 0 : session::number_of(unit), std::memory_order_relaxed);
  }
}

}  // namespace fairgv::daemon
