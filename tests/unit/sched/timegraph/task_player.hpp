// Plays the caller of a TimeGraphPolicy by hand: tasks by their parts, and a clock.
#pragma once

#include "sched/policies/timegraph/timegraph.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {

inline TenantAttributes task(std::int32_t priority, const Reservation& reservation = {},
                             Enforcement enforcement = Enforcement::posterior, std::uint32_t shared = 0) {
  TenantAttributes attributes;
  attributes.min = reservation;
  attributes.timegraph.priority = priority;
  attributes.timegraph.enforcement = enforcement;
  attributes.timegraph.shared_reserve = shared;
  return attributes;
}

inline TenantAttributes ht_task(std::int32_t priority) {
  TenantAttributes attributes = task(priority);
  attributes.timegraph.scheduling = TimeGraphTask::Scheduling::high_throughput;
  return attributes;
}

inline TenantAttributes automatic_task(bool foreground) {
  TenantAttributes attributes = task(0);
  attributes.timegraph.automatic = true;
  attributes.timegraph.foreground = foreground;
  return attributes;
}

struct TaskPlayer {
  void add_runnable(TenantId id, const TenantAttributes& attributes, Duration cost = {}) {
    policy.add(id, attributes, now);
    policy.expect(id, cost, now);
    policy.wake(id, now);
  }
  std::optional<TenantId> next() {
    const Decision decision = policy.next(now);
    if (!decision.turn) return std::nullopt;
    return decision.turn->tenant;
  }
  Turn turn() { return policy.next(now).turn.value_or(Turn{}); }
  void begin(TenantId id) { policy.begin(id, now); }
  void end(TenantId id, Duration used) {
    policy.charge(id, used, now);
    policy.end(id, now);
  }
  /// The next task runs one command for so long; returns the task, or none if none may run.
  std::optional<TenantId> run(Duration used) {
    const auto id = next();
    if (!id) return id;
    begin(*id);
    now += used;
    end(*id, used);
    return id;
  }
  Duration left(TenantId id) const { return policy.budget(id, now).reserve->left; }

  TimeGraphPolicy policy{std::chrono::milliseconds(6)};
  Time now{std::chrono::seconds(1'000)};
};

}  // namespace fairgv::sched
