// The tenants with all that is kept of them: names and wishes, memory, and their debt at the dispatchers. A
// change to a tenant in one of the three is carried to all three here.
//
// Used by the server's thread only. The configuration and the dispatch loop outlive it.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon/books/memory_book.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/tenants/tenant_reserves.hpp"

namespace fairgv::daemon {

class Tenancies {
 public:
  Tenancies(const Config& config, DispatchLoop& dispatch);

  TenantRegistry& registry() { return registry_; }
  const TenantRegistry& registry() const { return registry_; }
  MemoryBook& memory() { return memory_; }
  const MemoryBook& memory() const { return memory_; }
  /// Sets a call that lets the keepers of totals look once more, before tenants are forgotten.
  void call_before_forgetting(std::function<void()> call) { before_forgetting_ = std::move(call); }
  void about_to_forget() const { before_forgetting_(); }
  /// Sets a call that hears of every tenant whose attributes may have changed.
  void call_on_attributes(std::function<void(const Tenant&)> call) { on_attributes_ = std::move(call); }

  /// The tenant must be known.
  const sched::TenantAttributes& attributes_of(TenantId id) const { return registry_.find(id)->attributes; }
  /// One more session of a tenant; see TenantRegistry.
  Result<Tenant> join(const std::string& name, const TenantRegistry::Applicant& who,
                      const session::TenantWish& wish, std::optional<MemorySize> memory);
  /// The tenant's new session has not come to be.
  void give_up(TenantId id);
  /// A session of the tenant is gone. Forgets departed tenants that are too many and owe nothing.
  void leave(TenantId id);

  /// Call this after `fairgv set`, or when the tenant's latest program has asked for something.
  void apply_attributes(const Tenant& tenant) {
    dispatch_.set_attributes(tenant.id, tenant.attributes);
    on_attributes_(tenant);
  }
  /// Call this after a rule or a tenant has changed.
  void refresh_memory() { memory_.refresh(config_.devices, registry_); }
  /// The amount of memory that the tenant holds may have changed just now.
  void account_memory(const std::string& tenant);
  /// The configuration was read again, and the dispatch loop has its rules. Returns a line for each tenant
  /// that has lost its reserve.
  std::vector<std::string> configure();
  /// The same after a device's policy, or the limit of TimeGraph's reserves, may have changed.
  std::vector<std::string> admit_reserves();
  /// Whether they count: a device has the policy `timegraph`.
  bool reserves_count() const { return TenantReserves::count(registry_); }
  /// `fairgv focus`: the tenants in front from now on; see TenantRegistry.
  void bring_to_front(std::set<std::string> names);

 private:
  const Config& config_;
  DispatchLoop& dispatch_;
  TenantRegistry registry_;
  MemoryBook memory_;
  std::function<void()> before_forgetting_ = [] {};
  std::function<void(const Tenant&)> on_attributes_ = [](const Tenant&) {};
};

}  // namespace fairgv::daemon
