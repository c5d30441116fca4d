#include "runtime/base/time_slice.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

namespace fairgv {
namespace {

/// sched_attr of sched_setattr(2) in its first version: the kernel's header for it and the C library's
/// <sched.h> define sched_param both (Linux 6.1, glibc 2.36).
struct Attributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;
  std::uint64_t deadline;
  std::uint64_t period;
};
static_assert(sizeof(Attributes) == 48);

std::optional<Attributes> of_this_thread() {
  Attributes attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return std::nullopt;
  return attributes;
}

}  // namespace

bool set_time_slice(std::chrono::nanoseconds slice) {
  auto attributes = of_this_thread();
  if (!attributes) return false;
  if (attributes->policy != SCHED_OTHER && attributes->policy != SCHED_BATCH) return false;
  attributes->runtime = static_cast<std::uint64_t>(slice.count());
  return ::syscall(SYS_sched_setattr, 0, &*attributes, 0) == 0;
}

std::chrono::nanoseconds time_slice() {
  const auto attributes = of_this_thread();
  return std::chrono::nanoseconds(attributes ? attributes->runtime : 0);
}

}  // namespace fairgv
