#include "runtime/daemon/cage/rights.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace fairgv::daemon {
namespace {

using CapabilitySets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

constexpr std::uint32_t kVersion = _LINUX_CAPABILITY_VERSION_3;

bool get_capabilities(CapabilitySets& sets) {
  __user_cap_header_struct header{kVersion, 0};
  return ::syscall(SYS_capget, &header, sets.data()) == 0;
}

bool has(const CapabilitySets& sets, unsigned capability) {
  return (sets.at(CAP_TO_INDEX(capability)).effective & CAP_TO_MASK(capability)) != 0;
}

void lower(int resource, rlim_t wanted, const StartFailure& failure) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) failure.give_up("read its limits");
  limit.rlim_max = std::min(limit.rlim_max, wanted);
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) failure.give_up("limit itself");
}

}  // namespace

bool may_mount() {
  CapabilitySets sets{};
  return get_capabilities(sets) && has(sets, CAP_SYS_ADMIN);
}

void close_capability_bounds(const StartFailure& failure) {
  CapabilitySets sets{};
  if (!get_capabilities(sets)) failure.give_up("read its capabilities");
  if (!has(sets, CAP_SETPCAP)) {
    // no_new_privs keeps everybody else from using the bounds, but root has them with every program it
    // starts.
    if (::geteuid() != 0) return;
    errno = EPERM;
    failure.give_up("give up capabilities: root's fairgvd needs CAP_SETPCAP");
  }
  for (unsigned long each = 0; ::prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; ++each) {
    if (::prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0) failure.give_up("give up capabilities");
  }
  constexpr unsigned long kNoRoot =
      SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  if (::prctl(PR_SET_SECUREBITS, kNoRoot, 0, 0, 0) != 0) failure.give_up("lock its capabilities");
}

void become(const User& user, const StartFailure& failure) {
  if (::setgroups(user.groups.size(), user.groups.data()) != 0 || ::setgid(user.gid) != 0 ||
      ::setuid(user.uid) != 0) {
    failure.give_up("become its user");
  }
}

void drop_capabilities(const StartFailure& failure) {
  __user_cap_header_struct header{kVersion, 0};
  const CapabilitySets none{};
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 ||
      ::syscall(SYS_capset, &header, none.data()) != 0) {
    failure.give_up("drop its capabilities");
  }
}

void limit_resources(const WorkerLimits& limits, const StartFailure& failure) {
  if (!limits.core_dumps) lower(RLIMIT_CORE, 0, failure);
  if (limits.memory) lower(RLIMIT_DATA, *limits.memory, failure);
  lower(RLIMIT_NOFILE, limits.files, failure);
}

}  // namespace fairgv::daemon
