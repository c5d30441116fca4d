// The reserves of one device with the tasks that wait for them, in the order in which they may run: the run
// queue of the policy `timegraph`.
//
// Within a reserve, tasks wait by priority, and among equals in the order in which they arrived. The first
// of them decides for the reserve: it is *ready* if the reserve allows the first task's command, else
// *stalled* until the replenishment after which it does. So all that is asked of a decision (the first task
// of the ready reserves, the earliest of the stalled ones) lies at the front of an ordered set: O(log n) for
// n tasks, and each reserve that becomes ready costs O(log n) once.
//
// Chosen here: in a shared reserve with apriori enforcement, a task with a short command does not overtake
// the first task while that one saves up for a long one, or it would save in vain.
//
// A reserve that no task has any more lives on until nothing is owed. So nobody refills a budget by going
// away and coming back.
//
// Pure logic, not thread-safe; part of the policy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sched/policies/timegraph/priorities.hpp"
#include "sched/policies/timegraph/reserve.hpp"

namespace fairgv::sched {

/// A waiting task's place in the order.
struct TaskPlace {
  PriorityRank rank = 0;
  std::uint64_t arrival = 0;  // unique
  TenantId id{};

  bool operator<(const TaskPlace& other) const {
    return rank != other.rank ? rank > other.rank : arrival < other.arrival;
  }
};

/// A reserve and the tasks that have it.
struct ReserveGroup {
  ReserveGroup(std::uint64_t group_name, const Reserve& first_state)
      : name(group_name), reserve(first_state) {}

  const std::uint64_t name;
  Reserve reserve;
  std::map<TaskPlace, Duration> waiting{};  // with the predicted cost of the next command
  std::optional<Duration> running{};        // the predicted cost of the command on the device
  std::size_t tasks = 0;
  std::optional<TenantId> founder{};  // the first task, if it is still here: C and T are its own

  /// x: the predicted cost that counts now.
  Duration cost() const {
    if (running) return *running;
    return waiting.empty() ? Duration(0) : waiting.begin()->second;
  }

 private:
  friend class ReserveTable;
  std::optional<TaskPlace> ready{};
  std::optional<Time> due{};  // stalled until then, or kept until then though no task has it
};

class ReserveTable {
 public:
  /// Null: there is none of this name.
  ReserveGroup* find(std::uint64_t name);
  /// Precondition: there is none of this name. The reserve is kept while `tasks` is above 0, and for a while
  /// after that.
  ReserveGroup& make(std::uint64_t name, const Reserve& reserve);

  /// All changes of a group go through here: `alter` finds its reserve replenished until now. The group may
  /// be gone afterwards, if it has no tasks.
  template <typename Alter>
  void change(ReserveGroup& group, Time now, Alter&& alter) {
    take_out(group, now);
    std::forward<Alter>(alter)();
    put_back(group, now);
  }

  /// Stalled reserves that are replenished by now become ready.
  void advance(Time now);

  /// The group whose first task goes next; null: none may run now.
  ReserveGroup* first_ready() const { return ready_.empty() ? nullptr : ready_.begin()->second; }
  bool is_ready(const ReserveGroup& group) const { return group.ready.has_value(); }
  /// The earliest replenishment after which a waiting task may run.
  std::optional<Time> next_due() const {
    if (stalled_.empty()) return std::nullopt;
    return stalled_.begin()->first;
  }
  /// Of all reserves, those that live on included.
  std::size_t size() const { return groups_.size(); }

 private:
  using Dues = std::set<std::pair<Time, std::uint64_t>>;  // with the group's name

  void take_out(ReserveGroup& group, Time now);
  void put_back(ReserveGroup& group, Time now);

  std::map<std::uint64_t, ReserveGroup> groups_;
  std::map<TaskPlace, ReserveGroup*> ready_;  // by the place of the group's first task
  Dues stalled_;
  Dues fading_;  // groups without tasks, until they owe nothing
};

}  // namespace fairgv::sched
