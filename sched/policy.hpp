// A scheduling policy decides which tenant has the next turn on one device, for how long, and which tenants
// wait meanwhile. The dispatcher asks it; the simulator asks the same object under a clock of its own.
//
// The caller has the device and the sessions, and knows when a tenant has something to run. It reports events
// to the policy and obeys its answers:
//
//   add --> wake --> next() says "this one" --> begin --> charge ... --> end --> next() ...
//             ^                                                           |
//             |            pause() says "keep the device until then" <----+--> block
//             +------ it has work again <--------------+                         |
//             +----------------------------------------+-------------------------+
//
// - A tenant is *runnable* from wake() to block(), and stays so while it has the turn, and while the device
//   is kept for it after pause().
// - A session that is the only one to want the device gets a turn without an end whatever the policy: no
//   contention, no cost. Only a turn that the policy calls bounded ends then, too. begin() and end() are
//   called for it as for any other.
// - While a turn lasts, review_at() says when must_yield() is to be asked. The caller asks it when another
//   tenant wakes, too.
// - budget() and restore() carry the state of promises from one policy to the next.
// - Time is an argument, and never goes backwards.
//
// Pure logic without threads; not thread-safe: one owner, the dispatcher of one device. Events about unknown
// tenants do nothing, since a report may arrive after its tenant has left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sched/attributes.hpp"
#include "sched/budget.hpp"
#include "sched/interrupter.hpp"
#include "sched/time.hpp"
#include "sched/types.hpp"

namespace fairgv::sched {

/// The condition that ends a turn while others wait.
enum class TurnEnd {
  measured,  // its session has used the device for the slice, as measured (sched/turn_plan.hpp)
  clock,     // the slice has passed since the turn began: nothing is measured, and commands in flight drain
};

/// Commands that a session keeps in flight while they are not measured: a driver's queue, which knows no
/// time.
inline constexpr std::uint32_t kDriverQueue = 16;

struct Turn {
  TenantId tenant;
  Duration slice{0};  // at least one command runs however short it is
  TurnEnd end = TurnEnd::measured;
  bool bounded = false;     // it ends with its slice even if nobody else wants the device
  std::uint32_t depth = 0;  // the most commands in flight; 0: as many as keep the device busy
  Duration in_flight{0};    // the most device time in flight, as predicted, but two commands; 0: no bound
  Duration cost_limit{0};   // no command that is predicted to take longer begins; 0: none is too long
  bool gives_back = false;  // by the clock, too, its session gives it back when it has nothing to issue
  bool promised = false;    // it serves a guarantee: its time is not of the tenant's share by weight
  bool switch_in = false;   // the host side of an interactive program is woken with the turn
};

/// The answer to "who is next".
struct Decision {
  std::optional<Turn> turn;  // empty: no tenant may run now
  std::optional<Time>
      ask_again;  // then: when to ask although nothing has happened; none: only after an event
};

/// The host's processors and a tenant's programs, as the host's scheduler would tell it (Pegasus,
/// section 4.3).
struct HostState {
  bool scheduled = false;   // one of its threads runs, or is about to
  Duration credit_left{0};  // processor time that it is still entitled to in this period; may be negative
};

/// The facts about the host that a policy goes by.
struct HostInterest {
  std::optional<Duration>
      tick;              // how often host() is to be called while several want the device; none: never
  bool weights = false;  // TenantAttributes::host_weight
};

class Policy {
 public:
  /// slice: the device's time slice, at least 1 ns.
  explicit Policy(Duration slice) { set_slice(slice); }
  virtual ~Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  Duration slice() const { return slice_; }
  /// For turns that begin from now on.
  void set_slice(Duration slice) { slice_ = std::max(slice, Duration(1)); }

  // -- tenants

  /// Adds a tenant, blocked. Throws std::invalid_argument for an invalid weight or a tenant that is here
  /// already: check outside values with is_valid_weight().
  virtual void add(TenantId id, const TenantAttributes& attributes, Time now) = 0;
  /// Forgets the tenant, running or not. Ask may_forget() first if it may come back under the same name.
  virtual void remove(TenantId id, Time now) = 0;
  /// Holds for later charges. Throws std::invalid_argument for an invalid weight.
  virtual void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) = 0;
  /// The tenant has something to run. Also called for a runnable tenant that comes back to a device that was
  /// kept for it.
  virtual void wake(TenantId id, Time now) = 0;
  /// The tenant has nothing to run, and the device is not kept for it.
  virtual void block(TenantId id, Time now) = 0;
  /// The tenant has used the device for this long. It may be running, waiting, or blocked by now.
  virtual void charge(TenantId id, Duration used, Time now) = 0;
  /// The device was free for this long, until now, and nobody waited for it.
  virtual void rest(Duration /*free*/, Time /*now*/) {}
  /// Whether removing the tenant would lose nothing that it owes.
  virtual bool may_forget(TenantId /*id*/) const { return true; }

  // -- facts that some policies go by

  /// The tenant's next command is predicted to take this long; 0: nobody knows.
  virtual void expect(TenantId /*id*/, Duration /*cost*/, Time /*now*/) {}
  virtual HostInterest host_interest() const { return {}; }
  /// The host's scheduler tells this of the tenant's programs, once in a tick of its own. must_yield() is to
  /// be asked afterwards.
  virtual void host(TenantId /*id*/, const HostState& /*state*/, Time /*now*/) {}

  // -- promises of one policy, for the next

  /// The state of the tenant's promises; empty for an unknown tenant.
  virtual TenantBudget budget(TenantId /*id*/, Time /*now*/) const { return {}; }
  /// Goes on from a state that another policy object has left. Called after add() and before wake(), for all
  /// tenants before the first of them wakes.
  virtual void restore(TenantId /*id*/, const TenantBudget& /*budget*/, Time /*now*/) {}

  /// Whether a promise keeps the tenant, which has something to run, from the device: its ceiling is reached.
  virtual bool held_back(TenantId /*id*/, Time /*now*/) const { return false; }

  /// Orders tenants by their next turns: larger is later. Only a guess, to compare two tenants by.
  virtual double position(TenantId /*id*/) const { return 0; }

  // -- turns

  /// The tenant that gets the free device. Ask only while a tenant is runnable. Asking twice changes nothing;
  /// the turn counts from begin().
  virtual Decision next(Time now) = 0;
  virtual void begin(TenantId /*id*/, Time /*now*/) {}
  /// The turn is over and charged.
  virtual void end(TenantId /*id*/, Time /*now*/) {}
  /// Called after end(), if the tenant gave its turn back because it had nothing to issue. Returns until when
  /// the device is kept for it; none: block() it and go on to the next tenant.
  virtual std::optional<Time> pause(TenantId /*id*/, Time /*now*/) { return std::nullopt; }
  /// The time from which on a tenant that has just woken takes the device from the tenant that has it, or for
  /// which it is kept; none: it does not.
  virtual std::optional<Time> preempts(TenantId /*newcomer*/, TenantId /*holder*/, Time /*now*/) const {
    return std::nullopt;
  }

  /// The part of the policy that interrupts turns; null: it never does.
  virtual Interrupter* interrupter() { return nullptr; }

  /// When must_yield() is to be asked although nothing has happened; none: it need not be.
  virtual std::optional<Time> review_at(TenantId /*holder*/, Time /*now*/) const { return std::nullopt; }
  /// Whether the tenant that has the turn is to give it back now, before its slice is used up.
  virtual bool must_yield(TenantId /*holder*/, Time /*now*/) { return false; }

 private:
  Duration slice_{1};
};

}  // namespace fairgv::sched
