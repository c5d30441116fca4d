// TimeGraph's rules written down as simply as they can be, to compare the policy with: every reserve is
// replenished by a timer of its own, one period at a time, and every decision looks at all tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sched/attributes.hpp"
#include "sched/policies/timegraph/priorities.hpp"
#include "sched/time.hpp"

namespace fairgv::sched {

class ReferenceScheduler {
 public:
  struct Task {
    TenantAttributes attributes;
    bool present = false;
    bool waiting = false;
    bool running = false;
    std::uint64_t arrival = 0;
    Duration cost{0};
  };
  struct Reserve {
    Duration c{0};
    Duration t{0};
    bool apriori = false;
    Duration left{0};
    Time next{};
    std::vector<Duration> used;  // in each of its periods, when the command ended
    Duration longest{0};         // command
  };

  std::map<std::uint32_t, Task> tasks;
  std::map<std::uint64_t, Reserve> reserves;  // by key()

  static std::uint64_t key(std::uint32_t id, const Task& task) {
    const std::uint32_t shared = task.attributes.timegraph.shared_reserve;
    return shared == 0 ? id : std::uint64_t{1} << 32 | shared;
  }
  static bool has_reserve(const Task& task) { return !task.attributes.min.empty(); }

  /// A reserve that owes nothing begins anew when its first task comes.
  void add(std::uint32_t id, const TenantAttributes& attributes, Time now) {
    Task& task = tasks[id] = {.attributes = attributes, .present = true};
    if (!has_reserve(task)) return;
    const std::uint64_t name = key(id, task);
    const bool is_first = members(name) == 1;
    Reserve& reserve = reserves[name];
    reserve.c = attributes.min.budget;
    reserve.t = attributes.min.period;
    reserve.apriori = attributes.timegraph.enforcement == Enforcement::apriori;
    if (!is_first || (!reserve.used.empty() && reserve.left < reserve.c)) return;
    reserve.left = reserve.c;
    reserve.next = now + reserve.t;
    reserve.used.emplace_back(0);
  }

  std::size_t members(std::uint64_t name) const {
    return static_cast<std::size_t>(std::count_if(tasks.begin(), tasks.end(), [&](const auto& entry) {
      return entry.second.present && has_reserve(entry.second) && key(entry.first, entry.second) == name;
    }));
  }

  void advance(Time now) {
    for (auto& [name, reserve] : reserves) {
      for (; reserve.next <= now; reserve.next += reserve.t) replenish(reserve, cost_at(name));
    }
  }

  void charge(std::uint32_t id, Duration used) {
    const Task& task = tasks.at(id);
    if (!has_reserve(task)) return;
    Reserve& reserve = reserves.at(key(id, task));
    reserve.left -= used;
    reserve.used.back() += used;
    reserve.longest = std::max(reserve.longest, used);
  }

  /// The waiting task with the highest priority whose reserve allows its command, and which is the first of
  /// its reserve.
  std::optional<std::uint32_t> next() const {
    std::optional<std::uint32_t> best;
    for (const auto& [id, task] : tasks) {
      if (task.present && task.waiting && may_run(id) && (!best || before(id, *best))) best = id;
    }
    return best;
  }

  /// When the first of the tasks that wait may run, if nothing happens until then.
  std::optional<Time> next_chance() const {
    std::optional<Time> first;
    for (const auto& [name, reserve] : reserves) {
      if (!head(name)) continue;
      const Duration cost = tasks.at(*head(name)).cost;
      Reserve later = reserve;
      while (!allows(later, cost)) {
        replenish(later, cost);
        later.next += later.t;
      }
      const Time when = later.next - later.t;
      if (!first || when < *first) first = when;
    }
    return first;
  }

 private:
  static void replenish(Reserve& reserve, Duration x) {
    if (!reserve.apriori) {
      reserve.left = std::min(reserve.c, reserve.left + reserve.c);
    } else if (x <= reserve.c) {
      reserve.left = reserve.c;
    } else {
      reserve.left = std::min(x, reserve.left + reserve.c);
    }
    reserve.used.emplace_back(0);
  }
  static bool allows(const Reserve& reserve, Duration x) {
    return reserve.left > Duration(0) && (!reserve.apriori || reserve.left >= x);
  }

  bool before(std::uint32_t a, std::uint32_t b) const {
    const Task& first = tasks.at(a);
    const Task& second = tasks.at(b);
    const PriorityRank rank_a = rank_of(first.attributes.timegraph, true);
    const PriorityRank rank_b = rank_of(second.attributes.timegraph, true);
    return rank_a != rank_b ? rank_a > rank_b : first.arrival < second.arrival;
  }

  std::optional<std::uint32_t> head(std::uint64_t name) const {
    std::optional<std::uint32_t> best;
    for (const auto& [id, task] : tasks) {
      if (!task.present || !task.waiting || !has_reserve(task) || key(id, task) != name) continue;
      if (!best || before(id, *best)) best = id;
    }
    return best;
  }

  /// x at the end of a period: of the command on the device, else of the first that waits.
  Duration cost_at(std::uint64_t name) const {
    for (const auto& [id, task] : tasks) {
      if (task.present && task.running && has_reserve(task) && key(id, task) == name) return task.cost;
    }
    const auto first = head(name);
    return first ? tasks.at(*first).cost : Duration(0);
  }

  bool may_run(std::uint32_t id) const {
    const Task& task = tasks.at(id);
    if (!has_reserve(task)) return true;
    const std::uint64_t name = key(id, task);
    return head(name) == id && allows(reserves.at(name), task.cost);
  }
};

}  // namespace fairgv::sched
