// `fair`: start-time fair queuing, made work-conserving (FairGV, sections 3.2.1 and 3.2.2), with promises.
// The default.
//
// The order is FairQueue's. This policy adds the treatment of a tenant that pauses between two kernels, which
// the paper leaves open. Without it tenants with pauses would alternate, whatever their weights:
//
// - Credit: after a pause of at most a slice a tenant keeps its start tag, but comes back no more than a
//   slice and a lead behind virtual time. After a longer sleep it starts at virtual time, as in the paper.
// - Lead: a tenant whose last turn was no longer than an eighth of a slice gets a lead of an eighth of a
//   slice when it wakes, over the tenants that wait. So a tenant that needs the device for moments is served
//   within the slice of the running tenant, however many others wait. If it is next, the running turn is
//   asked for when a quarter of its slice is over: the slice bounds the wait even if that turn has just
//   begun.
// - Interruption: where the device can stop in the midst of a command, such a tenant does not wait at all: it
//   has a turn of up to an eighth of a slice while the running turn stands still.
// - Anticipation: if the tenant that has just paused is still next, and its pauses have lately been short,
//   the device is kept for it, for at most 500 us. A tenant that wakes with a smaller start tag takes the
//   device at once. A long pause for which the device was not kept teaches nothing: where the device is the
//   host's own processors, the program may only have lacked a processor. So the device is kept once in a
//   while, and ever more rarely, for tenants with long pauses, too. A tenant that comes back to a device that
//   was kept for it pays for the time, because nobody else could use it.
// - Stake: a tenant that has kept the device for far more than a slice, in a kernel that cannot be cut, owes
//   as much to the tenant that has paused. Virtual time would forget that debt in the shortest pause, and a
//   tenant with such kernels would have more than its share. So the device is kept for up to a sixteenth of
//   the debt, whether pauses have been short or not, and more rarely as that turns out to be in vain.
//
// Promises come before the weights, in this order (bounds and proofs: docs/SCHEDULING.md):
//
// 1. Latency tenants that have just woken, whatever their turns are like, unless they are more than a slice
//    ahead of virtual time. The turn of another class is asked for at once. Tags do not change, so they gain
//    no device time by it. While such a tenant is about, others keep only as much in flight as keeps the
//    device busy; where turns can be interrupted, that is not needed.
// 2. Guarantees that are due (sched/promises/guarantees.hpp), while several tenants have work. The time that
// a
//    guarantee takes is not charged to the start tag: weights share what is not promised. A tenant that has
//    the device to itself is served by that, and has no claim to catch up on when others come.
// 3. Normal and latency tenants by their tags.
// 4. Batch tenants by tags of their own, when no other has work, and for the floor of their class, which is a
//    guarantee like any other. They give the device up as soon as another tenant wakes. What they had while
//    no other had work counts for the floor of the next period, too.
//
// A tenant that has reached its ceiling takes part in nothing until it may go on; its turns have an end even
// if it is alone. A turn without an end that was granted before the tenant had a ceiling is asked for.
//
// budget() and restore() keep tags, ceilings, and what was served of guarantees and of the floor of the batch
// class. Tenants that wake between restore() and the next turn go on from there: their tags are not raised to
// virtual time, which would be that of the tenant that happens to wake first.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "sched/fair_queue.hpp"
#include "sched/policy.hpp"
#include "sched/probe_pace.hpp"
#include "sched/promises/promises.hpp"

namespace fairgv::sched {

class FairPolicy final : public Policy, public Interrupter {
 public:
  /// The longest time for which the device is kept idle for the next tenant.
  static constexpr Duration kLongestAnticipation = std::chrono::microseconds(500);

  /// The device is kept for this part of the time that the next tenant would lose.
  static constexpr int kStakeFraction = 16;
  /// ... and at most for so long.
  static constexpr Duration kLongestForStake = std::chrono::milliseconds(100);

  /// Part of a slice: the lead of a tenant that wakes.
  static constexpr int kLeadFraction = 8;

  /// Part of a slice that a turn gets before it is asked for because of a tenant with a lead. Too many
  /// changes of turns cost everybody.
  static constexpr int kUndisturbedFraction = 4;

  /// A turn runs for at least so long before a tenant with a lead interrupts it, or does so again: an
  /// interruption costs some 20 us.
  static constexpr Duration kLeastUndisturbed = std::chrono::milliseconds(1);

  /// The device time in flight in turns of others while a latency tenant is about: two commands at least, and
  /// enough to keep the device busy while a worker wakes up.
  static constexpr Duration kLeastInFlight = std::chrono::microseconds(300);
  /// Part of the response that a latency tenant wants: the others' commands in flight may take as long.
  static constexpr int kInFlightPart = 4;
  /// How long after its last waking a latency tenant counts as being about.
  static constexpr Duration kLatencyMemory = std::chrono::seconds(10);

  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  void charge(TenantId id, Duration used, Time now) override;
  void rest(Duration free, Time now) override;
  bool may_forget(TenantId id) const override;
  double position(TenantId id) const override;
  bool held_back(TenantId id, Time /*now*/) const override { return promises_ && promises_->is_held(id); }
  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  void end(TenantId id, Time now) override;
  std::optional<Time> pause(TenantId id, Time now) override;
  std::optional<Time> preempts(TenantId newcomer, TenantId holder, Time now) const override;
  Interrupter* interrupter() override { return this; }
  std::optional<Duration> interrupts(TenantId newcomer, TenantId holder, Time now) const override;
  void interrupted(TenantId holder, Time now) override;
  void resumed(TenantId holder, Time now) override;
  std::optional<Time> review_at(TenantId holder, Time now) const override;
  bool must_yield(TenantId holder, Time now) override;

  /// For display and tests: the queue of normal and latency tenants.
  const FairQueue& queue() const { return queue_; }

 private:
  struct Pauses {
    Time blocked{};              // when it last ran out of work
    Duration last_turn{0};       // time used since its last turn began
    std::optional<Time> paused;  // when it gave its turn back with nothing to issue; none once it came back
    bool kept = false;           // the device, after that, because its pauses are short
    bool keeping = false;        // it still is
    ProbePace probes{};          // of pauses that were not expected to be short
    ProbePace stakes{};          // of keeping the device because of the stake
    Duration usual{0};           // how long it took to come back: a running mean, of twice the longest
                                 // anticipation at most
  };

  struct Member : Pauses {
    ServiceClass service = ServiceClass::normal;
    bool wants = false;    // the device
    Duration response{0};  // of a latency tenant: wanted
  };

  /// The tenant that is to have the device, and the guarantee that it then serves.
  struct Choice {
    TenantId tenant;
    std::optional<Promises::Due> serves{};
  };

  /// A turn, from begin() to end().
  struct Holding {
    std::optional<TenantId> tenant{};
    Time began{};                           // later by interruptions
    Time undisturbed{};                     // since then
    std::optional<Promises::Due> serves{};  // the guarantee that it serves
    bool bounded = false;
    bool yield_asked = false;
  };

  FairQueue& queue_of(ServiceClass service) { return service == ServiceClass::batch ? batch_ : queue_; }
  const FairQueue& queue_of(ServiceClass service) const {
    return service == ServiceClass::batch ? batch_ : queue_;
  }
  std::size_t runnable() const { return queue_.runnable_count() + batch_.runnable_count(); }
  /// Whether weights alone decide, and all are of one class.
  bool plain() const { return !promises_ && classified_ == 0; }

  void promise(TenantId id, Member& member, const TenantAttributes& attributes, Time now);
  void classify(Member& member, ServiceClass service);
  void enqueue(TenantId id, Member& member, Time now);
  void dequeue(TenantId id, const Member& member, Time now);
  Decision next_by_promises(Time now);
  bool charge_promises(TenantId id, Duration used, Time now);
  void end_promises(TenantId id, Time now);
  bool lacks_end(TenantId holder) const;
  void begin_choice(TenantId id, const Member* member, Time now);
  void note_alone(TenantId id, const Member& member, Time now);
  void settle_alone(Time now);
  void update_floor(Time now);
  Member* find(TenantId id) { return const_cast<Member*>(std::as_const(*this).find(id)); }
  const Member* find(TenantId id) const {
    return last_found_ != nullptr && last_ == id ? last_found_ : look_up(id);
  }
  const Member* look_up(TenantId id) const;
  std::optional<Choice> choose(Time now) const;
  bool is_next(TenantId id, Time now) const;
  Duration in_flight(Time now) const;
  bool latency_about(Time now) const;
  void note_latency(const Member& member, Time now);

  Duration lead() const { return slice() / kLeadFraction; }
  bool has_lead(const Pauses& pauses) const { return pauses.last_turn <= lead(); }
  Duration credit(const Pauses& pauses, Time now) const;
  Duration stake(TenantId id, const FairQueue& queue) const;
  Duration keep_for_stake(TenantId id, const FairQueue& queue, Pauses& pauses);

  FairQueue queue_;
  FairQueue batch_;
  std::unordered_map<TenantId, Member> members_;
  /// The last look-up that found somebody: most calls concern the tenant whose turn it is.
  mutable TenantId last_{};
  mutable const Member* last_found_ = nullptr;
  std::size_t classified_ = 0;          // members that are not of the normal class
  std::unique_ptr<Promises> promises_;  // none while nothing is promised

  Holding holding_{};                      // the turn in progress, or the latest one
  std::optional<Holding> aside_;           // the turn that stands still
  std::optional<TenantId> bounded_;        // the tenant that next() would give a bounded turn
  bool restoring_ = false;                 // since restore(), no turn has begun
  std::optional<Time> alone_since_;        // a turn began while its tenant was the only runnable one
  std::optional<Time> batch_alone_since_;  // ... while only batch tenants were
  std::optional<Time> latency_woke_;       // a latency tenant, last
  Duration least_response_{0};             // wanted by those that are about; 0: as soon as may be
  Time latest_{};                          // of all events
};

}  // namespace fairgv::sched
