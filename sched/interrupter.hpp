// The part of a policy by which a turn is interrupted: where the device can stop in the midst of a command, a
// tenant has a short turn while the turn in progress stands still.
//
//   interrupts() says yes --> interrupted() --> begin() of the other ... end() of the other --> resumed()
//
// Pure logic, as the policy that has it (sched/policy.hpp); the dispatcher of one device calls both.
#pragma once

#include <optional>

#include "sched/time.hpp"
#include "sched/types.hpp"

namespace fairgv::sched {

class Interrupter {
 public:
  virtual ~Interrupter() = default;

  /// Whether interrupts() is asked at all, because the device can stop.
  void set_possible(bool yes) { possible_ = yes; }
  bool possible() const { return possible_; }

  /// The longest turn of a tenant that has just woken, and is next, while the turn of the holder stands
  /// still; none: it waits as Policy::preempts() says.
  virtual std::optional<Duration> interrupts(TenantId newcomer, TenantId holder, Time now) const = 0;
  /// The holder's turn stands still from now on.
  virtual void interrupted(TenantId holder, Time now) = 0;
  /// It goes on. Also for a turn that stood still before this policy came.
  virtual void resumed(TenantId holder, Time now) = 0;

 private:
  bool possible_ = false;
};

}  // namespace fairgv::sched
