// `fair`: start-time fair queuing, made work-conserving (FairGV, sections 3.2.1 and 3.2.2). The default.
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
#pragma once

#include <unordered_map>

#include "sched/fair_queue.hpp"
#include "sched/policy.hpp"
#include "sched/probe_pace.hpp"

namespace fairgv::sched {

class FairPolicy final : public Policy {
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

  using Policy::Policy;

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  void charge(TenantId id, Duration used, Time now) override;
  void rest(Duration free, Time now) override;
  bool may_forget(TenantId id) const override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  std::optional<Time> pause(TenantId id, Time now) override;
  std::optional<Time> preempts(TenantId newcomer, TenantId holder, Time now) const override;

  /// For display and tests.
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

  Duration lead() const { return slice() / kLeadFraction; }
  bool has_lead(const Pauses& pauses) const { return pauses.last_turn <= lead(); }
  Duration credit(const Pauses& pauses, Time now) const;
  Duration stake(TenantId id) const;
  Duration keep_for_stake(TenantId id, Pauses& pauses);

  FairQueue queue_;
  Time turn_began_{};  // the latest one
  std::unordered_map<TenantId, Pauses> pauses_;
};

}  // namespace fairgv::sched
