#include "sched/policies/timegraph/timegraph.hpp"

#include <utility>

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {
namespace {

constexpr std::uint64_t kBackgroundName = 0;

/// Reserves are named by what they belong to.
std::uint64_t own_reserve(TenantId id) {
  return std::uint64_t{1} << 32 | id.value;
}

std::uint64_t reserve_name(TenantId id, const TimeGraphTask& task) {
  return task.shared_reserve == 0 ? own_reserve(id) : std::uint64_t{2} << 32 | task.shared_reserve;
}

bool same_reserve(const TimeGraphTask& a, const TimeGraphTask& b) {
  return a.shared_reserve == b.shared_reserve && a.enforcement == b.enforcement;
}

}  // namespace

TimeGraphPolicy::TimeGraphPolicy(Duration slice, const Reservation& background)
    : Policy(slice),
      background_(&reserves_.make(kBackgroundName, Reserve(background, Enforcement::posterior, Time{}))) {
  background_->tasks = 1;  // the policy itself: this reserve is there for ever
}

// -- tenants

void TimeGraphPolicy::add(TenantId id, const TenantAttributes& attributes, Time now) {
  require_valid_weight(id, attributes.weight);
  advance(now);
  const auto [added, is_new] = tasks_.try_emplace(id);
  if (!is_new) refuse_known_tenant(id);
  Task& task = added->second;
  task.wanted = attributes.timegraph;
  task.reservation = attributes.timegraph_reserve();
  join(id, task, now);
}

void TimeGraphPolicy::remove(TenantId id, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr) return;
  leave(id, *task, now);
  tasks_.erase(id);
}

void TimeGraphPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time now) {
  require_valid_weight(id, attributes.weight);
  advance(now);
  Task* task = find(id);
  if (task == nullptr) return;
  const bool stays = keeps_reserve(id, *task, attributes, now);
  if (!stays) leave(id, *task, now);
  const auto take_over = [&] {
    task->wanted = attributes.timegraph;
    task->reservation = attributes.timegraph_reserve();
  };
  if (!stays) {
    take_over();
    return join(id, *task, now);
  }
  reserves_.change(*task->group, now, [&] {
    leave_line(id, *task);
    take_over();
    task->rank = rank_of(task->wanted, true);
    wait(id, *task);
  });
}

void TimeGraphPolicy::wake(TenantId id, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr || task->runnable) return;
  reserves_.change(*task->group, now, [&] {
    task->runnable = true;
    task->arrival = ++arrivals_;
    wait(id, *task);
  });
}

void TimeGraphPolicy::block(TenantId id, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr || !task->runnable) return;
  reserves_.change(*task->group, now, [&] {
    leave_line(id, *task);
    task->runnable = false;
  });
}

void TimeGraphPolicy::charge(TenantId id, Duration used, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr || task->group->reserve.whole_device()) return;
  reserves_.change(*task->group, now, [&] { task->group->reserve.charge(used); });
}

void TimeGraphPolicy::rest(Duration, Time now) {
  advance(now);
}

bool TimeGraphPolicy::may_forget(TenantId id) const {
  const Task* task = find(id);
  if (task == nullptr || task->group->name != own_reserve(id)) return true;
  const auto full = task->group->reserve.full_at();
  return !full || *full <= latest_;
}

void TimeGraphPolicy::expect(TenantId id, Duration cost, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr) return;
  reserves_.change(*task->group, now, [&] {
    task->cost = std::max(cost, Duration(0));
    wait(id, *task);
  });
}

// -- promises

TenantBudget TimeGraphPolicy::budget(TenantId id, Time now) const {
  const Task* task = find(id);
  if (task == nullptr || task->group->reserve.whole_device()) return {};
  Reserve reserve = task->group->reserve;
  reserve.advance(now, task->group->cost());
  TenantBudget budget;
  budget.reserve = reserve.state();
  return budget;
}

void TimeGraphPolicy::restore(TenantId id, const TenantBudget& budget, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr || !budget.reserve) return;
  reserves_.change(*task->group, now, [&] { task->group->reserve.restore(*budget.reserve, now); });
}

// -- turns

Decision TimeGraphPolicy::next(Time now) {
  advance(now);
  const ReserveGroup* group = reserves_.first_ready();
  if (group == nullptr) return {std::nullopt, reserves_.next_due()};
  return {turn_of(group->waiting.begin()->first.id), std::nullopt};
}

Turn TimeGraphPolicy::turn_of(TenantId id) const {
  const Task& task = tasks_.at(id);
  const Reserve& reserve = task.group->reserve;
  Turn turn;
  turn.tenant = id;
  if (reserve.whole_device() && task.wanted.scheduling == TimeGraphTask::Scheduling::high_throughput) {
    turn.slice = slice();
    return turn;
  }
  turn.slice = Duration(1);  // used up by any command
  turn.depth = 1;
  turn.bounded = !reserve.whole_device();
  if (turn.bounded && reserve.enforces_before()) turn.cost_limit = reserve.budget();
  return turn;
}

void TimeGraphPolicy::begin(TenantId id, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr) return;
  reserves_.change(*task->group, now, [&] {
    leave_line(id, *task);
    task->running = true;
    task->group->running = task->cost;
  });
}

void TimeGraphPolicy::end(TenantId id, Time now) {
  advance(now);
  Task* task = find(id);
  if (task == nullptr) return;
  reserves_.change(*task->group, now, [&] {
    leave_line(id, *task);
    if (std::exchange(task->running, false)) task->group->running.reset();
    task->arrival = ++arrivals_;
    wait(id, *task);
  });
}

std::optional<Time> TimeGraphPolicy::preempts(TenantId newcomer, TenantId holder, Time now) const {
  const Task* came = find(newcomer);
  const Task* holds = find(holder);
  if (came == nullptr || holds == nullptr || !came->runnable || came->running) return std::nullopt;
  if (came->rank <= holds->rank || !reserves_.is_ready(*came->group)) return std::nullopt;
  return now;
}

std::optional<Time> TimeGraphPolicy::review_at(TenantId, Time) const {
  return reserves_.next_due();
}

bool TimeGraphPolicy::must_yield(TenantId holder, Time now) {
  advance(now);
  const Task* holds = find(holder);
  const ReserveGroup* first = reserves_.first_ready();
  return holds != nullptr && first != nullptr && first->waiting.begin()->first.rank > holds->rank;
}

// -- inside

TimeGraphPolicy::Task* TimeGraphPolicy::find(TenantId id) {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

const TimeGraphPolicy::Task* TimeGraphPolicy::find(TenantId id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

void TimeGraphPolicy::advance(Time now) {
  latest_ = now;
  reserves_.advance(now);
}

/// Lines up at its reserve if it has something to run and does not run already; called while its group is
/// changed.
void TimeGraphPolicy::wait(TenantId id, Task& task) {
  if (task.runnable && !task.running) task.group->waiting.insert_or_assign(place(id, task), task.cost);
}

void TimeGraphPolicy::leave_line(TenantId id, Task& task) {
  task.group->waiting.erase(place(id, task));
}

void TimeGraphPolicy::join(TenantId id, Task& task, Time now) {
  task.group = group_for(id, task, now);
  task.rank = rank_of(task.wanted, !task.refused);
  reserves_.change(*task.group, now, [&] {
    if (task.group->tasks++ == 0) {
      task.group->founder = id;
      task.group->reserve.configure(task.reservation, task.wanted.enforcement, now);
    }
    if (task.running) task.group->running = task.cost;
    wait(id, task);
  });
}

void TimeGraphPolicy::leave(TenantId id, Task& task, Time now) {
  ReserveGroup& group = *task.group;
  reserves_.change(group, now, [&] {
    leave_line(id, task);
    if (task.running) group.running.reset();
    if (group.founder == id) group.founder.reset();
    if (--group.tasks == 0) admission_.release(group.name);
  });
  task.group = nullptr;
}

/// The reserve of the task: one that is there, or a new one if it fits, or Background.
ReserveGroup* TimeGraphPolicy::group_for(TenantId id, Task& task, Time now) {
  task.refused = false;
  const std::uint64_t name = reserve_name(id, task.wanted);
  ReserveGroup* group = reserves_.find(name);
  if (group != nullptr && group->tasks > 0) return group;
  if (task.reservation.empty()) return background_;
  if (!task.wanted.admitted && !admission_.admit(name, task.reservation)) {
    task.refused = true;
    return background_;
  }
  if (group != nullptr) return group;
  return &reserves_.make(name, Reserve(task.reservation, task.wanted.enforcement, now));
}

/// Whether the task keeps its reserve with the new attributes. Changes the reserve if it is the task's to
/// change.
bool TimeGraphPolicy::keeps_reserve(TenantId id, const Task& task, const TenantAttributes& attributes,
                                    Time now) {
  if (task.refused) return false;
  const TimeGraphTask& wanted = attributes.timegraph;
  const Reservation& reservation = attributes.timegraph_reserve();
  if (same_reserve(task.wanted, wanted) && task.reservation == reservation) return true;
  ReserveGroup& group = *task.group;
  if (group.name != reserve_name(id, wanted)) return false;
  if (group.founder.value_or(id) != id) return true;
  const bool shared = wanted.shared_reserve != 0;
  if (reservation.empty()) return shared;
  if (wanted.admitted) {
    admission_.release(group.name);
  } else if (!admission_.admit(group.name, reservation)) {
    return shared;
  }
  group.founder = id;
  reserves_.change(group, now, [&] { group.reserve.configure(reservation, wanted.enforcement, now); });
  return true;
}

}  // namespace fairgv::sched
