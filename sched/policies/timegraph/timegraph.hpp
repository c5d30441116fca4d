// `timegraph`: priorities and reserves for tasks on one device (TimeGraph, sections 3 to 5).
//
// The waiting task with the highest priority goes next, whenever the device is free (section 4.1):
// - A predictable task (PRT) has one command on the device at a time. A turn is one command; after it, the
//   highest priority decides anew.
// - A high-throughput task (HT) goes on with its next commands at once, as long as no task with a higher
//   priority waits. What it has in flight then runs to its end first.
//
// A task may have a reserve of C device time in every T, alone or with others (section 5; reserve.hpp has the
// rules). When its budget does not suffice it waits, even if the device is idle: such turns are bounded.
// Tasks without a reserve share Background, a reserve with posterior enforcement. A reserve that does not fit
// beside those that are active becomes Background (section 3, admission control).
//
// Of TenantAttributes, `timegraph` counts, and `min` where that names no C and T. Weights are ignored.
//
// Chosen here:
// - Among equal priorities, tasks go in the order in which they arrived, and after a turn to the back.
// - The paper lets an HT task go on for ever beside tasks of its own priority. Here its turn is a slice, and
//   equals go next.
// - Reservation works with PRT tasks only (section 5): a command that has followed at once cannot be held
//   back. So an HT task with a reserve that can run out is served as PRT.
// - Background is the whole device: C = T (kBackground). Its tasks already have the lowest priority, unless
//   an administrator has raised it, and a smaller part would leave the device idle while they wait.
// - A task whose reserve is refused has the lowest priority, too. Otherwise it would use as much as it likes
//   before those that were admitted. It is tried again when its attributes are set.
// - C and T of a shared reserve, and its rule, are those of its first task as long as that task has it, and
//   stay when it leaves, until another task of the reserve is given others. A change of them that does not
//   fit is ignored. A task that names a shared reserve that does not exist, and has no C and T of its own,
//   has Background.
// - A reserve that the caller has admitted (TimeGraphTask::admitted) is not subject to the limit here. So a
//   caller whose tasks come and go for longer than the policy knows them has an admission control of its own.
//
// next() and all events take O(log n) for n tasks (reserve_table.hpp).
#pragma once

#include <unordered_map>

#include "sched/policies/timegraph/admission.hpp"
#include "sched/policies/timegraph/reserve_table.hpp"
#include "sched/policy.hpp"

namespace fairgv::sched {

class TimeGraphPolicy final : public Policy {
 public:
  /// Of all tasks together that have no reserve of their own.
  static constexpr Reservation kBackground{std::chrono::milliseconds(25), std::chrono::milliseconds(25)};

  explicit TimeGraphPolicy(Duration slice, const Reservation& background = kBackground);

  /// The part of the device that reserves may have together; for reserves that come from now on.
  void set_admission_limit(Share limit) { admission_.set_limit(limit); }

  void add(TenantId id, const TenantAttributes& attributes, Time now) override;
  void remove(TenantId id, Time now) override;
  void set_attributes(TenantId id, const TenantAttributes& attributes, Time now) override;
  void wake(TenantId id, Time now) override;
  void block(TenantId id, Time now) override;
  void charge(TenantId id, Duration used, Time now) override;
  void rest(Duration free, Time now) override;
  /// Not while a reserve of its own owes time.
  bool may_forget(TenantId id) const override;
  void expect(TenantId id, Duration cost, Time now) override;
  TenantBudget budget(TenantId id, Time now) const override;
  void restore(TenantId id, const TenantBudget& budget, Time now) override;
  Decision next(Time now) override;
  void begin(TenantId id, Time now) override;
  void end(TenantId id, Time now) override;
  std::optional<Time> preempts(TenantId newcomer, TenantId holder, Time now) const override;
  std::optional<Time> review_at(TenantId holder, Time now) const override;
  bool must_yield(TenantId holder, Time now) override;

  /// For display and tests; throws std::out_of_range for an unknown tenant.
  const Reserve& reserve(TenantId id) const { return tasks_.at(id).group->reserve; }
  bool in_background(TenantId id) const { return tasks_.at(id).group == background_; }
  double promised() const { return admission_.total(); }

 private:
  struct Task {
    TimeGraphTask wanted{};
    Reservation reservation{};
    PriorityRank rank = 0;
    bool refused = false;  // by admission control
    ReserveGroup* group = nullptr;
    bool runnable = false;
    bool running = false;
    std::uint64_t arrival = 0;
    Duration cost{0};  // predicted, of its next command
  };

  Task* find(TenantId id);
  const Task* find(TenantId id) const;
  void advance(Time now);
  static TaskPlace place(TenantId id, const Task& task) { return {task.rank, task.arrival, id}; }
  static void wait(TenantId id, Task& task);
  static void leave_line(TenantId id, Task& task);
  void join(TenantId id, Task& task, Time now);
  void leave(TenantId id, Task& task, Time now);
  ReserveGroup* group_for(TenantId id, Task& task, Time now);
  bool keeps_reserve(TenantId id, const Task& task, const TenantAttributes& attributes, Time now);
  Turn turn_of(TenantId id) const;

  std::unordered_map<TenantId, Task> tasks_;
  ReserveTable reserves_;
  ReserveGroup* background_;
  Admission admission_;
  std::uint64_t arrivals_ = 0;
  Time latest_{};  // the time of the last event
};

}  // namespace fairgv::sched
