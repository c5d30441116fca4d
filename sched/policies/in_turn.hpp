// The base of `fifo` and `round-robin`: runnable tenants take turns in the order in which they arrived, and a
// tenant goes to the back after its turn. Weights and measured time are ignored; nothing is owed, and the
// device is never kept for any tenant.
#pragma once

#include <unordered_set>

#include "sched/arrival_queue.hpp"
#include "sched/policy.hpp"

namespace fairgv::sched {

class InTurnPolicy : public Policy {
 public:
  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  void charge(TenantId id, Duration used, Time now) override;
  Decision next(Time now) override;
  void end(TenantId id, Time now) override;

 private:
  virtual Duration turn_length() const = 0;

  std::unordered_set<TenantId> known_;
  ArrivalQueue runnable_;
};

}  // namespace fairgv::sched
