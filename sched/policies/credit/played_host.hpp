// A schedule of one processor of the host, for `strict-cosched` where nothing tells it of the real one.
//
// - The schedule is a sequence of fixed turns of one slice by the clock, given in proportion to the
//   weights. A turn counts whole, used or not; commands that drain after it count for nobody.
// - It holds every tenant that wants the device, and keeps it for 100 ms after that, because it is taken
//   to compute on the host. Its turns come, and the device stays idle in them unless the tenant comes back
//   within.
#pragma once

#include <unordered_map>

#include "sched/fair_queue.hpp"
#include "sched/policy.hpp"

namespace fairgv::sched {

class PlayedHost {
 public:
  /// For how long after its last command a tenant is taken to compute on the host.
  static constexpr Duration kHostWork = std::chrono::milliseconds(100);

  void add(TenantId id, std::uint32_t weight);
  void remove(TenantId id);
  void set_weight(TenantId id, std::uint32_t weight) { schedule_.set_weight(id, weight); }
  void wake(TenantId id);
  void block(TenantId id, Time now);

  /// The tenant that has the processor, and with it the device, or none until it comes back.
  Decision next(Duration slice, Time now);
  /// Until when the tenant has the processor; none: not any more.
  std::optional<Time> turn_ends(TenantId id, Time now) const;

 private:
  struct Member {
    bool runnable = false;
    Time blocked{};
  };

  void open_turn(Duration slice, Time now);

  FairQueue schedule_;
  std::unordered_map<TenantId, Member> members_;
  std::optional<TenantId> owner_;  // of the turn in progress
  Time turn_ends_{};
};

}  // namespace fairgv::sched
