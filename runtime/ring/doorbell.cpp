#include "runtime/ring/doorbell.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace fairgv::ring {
namespace {

int64_t longest_spin(std::chrono::nanoseconds wanted) {
  if (wanted <= std::chrono::nanoseconds::zero() || SpinBudget::usable_cpus() == 1) return 0;
  return std::clamp(wanted, SpinBudget::kShortest, SpinBudget::kLongest).count();
}

/// The group of sleepers that a CPU stands for.
uint32_t group_of(uint32_t cpu) {
  return uint32_t{1} << (cpu % 32);
}

uint32_t own_group() {
  return group_of(static_cast<uint32_t>(sched_getcpu()));
}

}  // namespace

/// The union over its threads, because a program that pins each thread to a CPU of its own has many.
int SpinBudget::usable_cpus() {
  cpu_set_t all;
  CPU_ZERO(&all);
  std::error_code error;
  std::filesystem::directory_iterator tasks("/proc/self/task", error);
  for (; !error && tasks != std::filesystem::directory_iterator(); tasks.increment(error)) {
    cpu_set_t cpus;
    const pid_t thread = static_cast<pid_t>(std::atoi(tasks->path().filename().c_str()));
    // ESRCH: the thread has just ended. EINVAL: more CPUs than a cpu_set_t holds (1024), so surely two.
    if (sched_getaffinity(thread, sizeof(cpus), &cpus) == 0) {
      CPU_OR(&all, &all, &cpus);
    } else if (errno == EINVAL) {
      return CPU_SETSIZE;
    }
  }
  const int count = CPU_COUNT(&all);
  return count > 0 ? count : CPU_SETSIZE;
}

void ring_always(Doorbell& bell) {
  // Change the word first, so that a thread about to sleep does not; then clear the flag, so that the next
  // ring is free; then wake. A waiter that arms in between finds the word changed again or is woken with the
  // others.
  bell.word.fetch_add(Doorbell::kOneRing, std::memory_order_acq_rel);
  bell.word.fetch_and(~Doorbell::kSleeper, std::memory_order_acq_rel);
  futex_wake(bell.word);
}

void ring_on_cpu(Doorbell& bell, uint32_t cpu) {
  const uint32_t before = bell.word.fetch_add(Doorbell::kOneRing, std::memory_order_acq_rel);
  // The flag stays: others may sleep on.
  if ((before & Doorbell::kSleeper) != 0) futex_wake_groups(bell.word, group_of(cpu));
}

SpinBudget::SpinBudget(std::chrono::nanoseconds longest)
    : longest_(longest_spin(longest)), budget_(longest_.load(std::memory_order_relaxed)) {}

void SpinBudget::limit(std::chrono::nanoseconds longest) {
  longest_.store(std::min(this->longest(), std::clamp(longest, kShortest, kLongest).count()),
                 std::memory_order_relaxed);
  set(current().count());
}

void SpinBudget::extend(std::chrono::nanoseconds longest, int cpus) {
  if (this->longest() == 0 || cpus < kManyCpus) return;
  longest_.store(std::clamp(longest, kShortest, kLongestApart).count(), std::memory_order_relaxed);
  budget_.store(longest_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void SpinBudget::succeeded(std::chrono::nanoseconds took) {
  const int64_t budget = current().count();
  // A quarter of the way: one odd wait does not undo the lesson of many.
  set(budget + (std::min(2 * took.count(), longest()) - budget) / 4);
}

void SpinBudget::slept(std::chrono::nanoseconds took) {
  if (took.count() <= longest()) {
    succeeded(took);
  } else {
    set(current().count() / 2);
  }
}

void SpinBudget::set(int64_t nanoseconds) {
  const int64_t most = longest();
  if (most == 0) return;
  budget_.store(std::clamp(nanoseconds, kShortest.count(), most), std::memory_order_relaxed);
}

bool detail::sleep_once(const Doorbell& bell, uint32_t armed, const Deadline& deadline) {
  if (!deadline) {
    futex_wait(bell.word, armed, std::nullopt, own_group());
    return true;
  }
  const auto left = *deadline - std::chrono::steady_clock::now();
  if (left <= std::chrono::steady_clock::duration::zero()) return false;
  futex_wait(bell.word, armed, left, own_group());
  return true;
}

}  // namespace fairgv::ring
