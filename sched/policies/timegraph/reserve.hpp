// One reserve of TimeGraph (section 5): capacity C of device time in every period T, and the budget e that is
// left of it. The policy asks it whether a command may begin, and when the next one may.
//
// A reserve has one of two rules (section 5.1). x is the predicted cost of the next command.
// - Posterior enforcement (PE): a command may begin while e > 0. An overrun is taken from the next budget:
//   e = min(C, e + C) at the end of each period.
// - Apriori enforcement (AE): a command may begin while e >= x. At the end of each period e = C if x <= C;
//   else e = min(x, e + C), so that the budget of several periods adds up to one long command.
// The use of the device is subtracted when it has been measured (section 5.2): a command that began before
// the end of a period and ended after it counts in the later period.
//
// Chosen here:
// - The paper lets a command begin if x <= e in section 5.1, and only if e > x in section 5.2. Here e > 0 and
//   e >= x must hold. With e > x a command longer than C could never begin, since its budget grows to x and
//   no further. PE assumes x = 0, and without e > 0 a used-up budget would let one more command begin. The
//   same holds for AE while nothing is known about the next command (x = 0).
// - The published rule of AE forgets an overrun (e = C, however negative e was) if the next command fits into
//   C. So a wrong prediction is paid for by the others once, and not by the reserve.
// - While a command runs, it is the one whose cost is x. Otherwise the end of a period would take from it
//   what it has saved up.
// - C >= T is the whole device. Such a reserve never runs out, because no use exceeds it. Counted as above,
//   a command that is longer than T would leave the device idle for as long again.
// - Periods begin when the reserve is made, and go on whether it is used or not.
//
// Exact: integers only. Replenishments that have passed are made up for in one step. Pure logic, not
// thread-safe: one owner.
#pragma once

#include <optional>

#include "sched/attributes.hpp"
#include "sched/budget.hpp"
#include "sched/time.hpp"

namespace fairgv::sched {

class Reserve {
 public:
  /// Precondition: the reservation is not empty. The first budget is C.
  Reserve(const Reservation& reservation, Enforcement enforcement, Time now);

  /// Goes on with another rule: the budget does not grow, and is replenished no later than a new period from
  /// now.
  void configure(const Reservation& reservation, Enforcement enforcement, Time now);

  /// Makes up for the replenishments until now. Call it before x changes, and before any of the rest below.
  void advance(Time now, Duration x);
  void charge(Duration used);

  bool whole_device() const { return capacity_ >= period_; }
  bool enforces_before() const { return enforcement_ == Enforcement::apriori; }
  Duration budget() const { return budget_; }
  Time next_replenishment() const { return next_; }

  /// Whether a command of this predicted cost may begin. PE ignores the cost.
  bool allows(Duration x) const;
  /// The first replenishment after which it may, if nothing is used and it waits until then.
  Time allowed_at(Duration x) const;
  /// The replenishment after which nothing is owed; none: nothing is.
  std::optional<Time> full_at() const;

  ReserveState state() const { return {budget_, next_}; }
  void restore(const ReserveState& state, Time now);

 private:
  Duration relevant(Duration x) const { return enforces_before() ? x : Duration(0); }
  void replenish(Duration::rep times, Duration x);
  Duration::rep replenishments_to(Duration budget) const;
  Time after(Duration::rep replenishments) const;

  Duration capacity_;
  Duration period_;
  Enforcement enforcement_;
  Duration budget_;
  Time next_;
  bool restored_ = false;
};

}  // namespace fairgv::sched
