#include "runtime/daemon/cage/cage.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "runtime/daemon/cage/landlock.hpp"
#include "runtime/daemon/cage/mounts.hpp"
#include "runtime/daemon/cage/process_namespace.hpp"

namespace fairgv::daemon {
namespace {

Error no_filter() {
  return Error{
      "there is no system-call filter for this architecture: set syscall_filter = false in [worker]"};
}

Result<void> plan_private_view(const WorkerRule& rule, const std::string& system_vendors,
                               const WorkerPlace& place, WorkerCage& cage) {
  const uid_t uid = place.run_as ? place.run_as->uid : ::geteuid();
  const gid_t gid = place.run_as ? place.run_as->gid : ::getegid();
  FAIRGV_TRY(cache, worker_cache(rule.cache, uid, gid));
  cage.cache = std::move(cache).value();
  ViewWishes wishes{place.program, place.vendors, system_vendors,    place.drivers,
                    rule.readable, {cage.cache},  cage.own_processes};
  // The environment of the daemon may say where PoCL's cache is.
  if (const char* own = std::getenv("POCL_CACHE_DIR"); own != nullptr && *own == '/') {
    wishes.caches.emplace_back(own);
  }
  cage.view = plan_view(wishes);
  if (cage.view.size() > kMostPlaces) {
    return Error{"workers can be shown " + std::to_string(kMostPlaces) +
                 " folders and devices and should see " + std::to_string(cage.view.size()) +
                 ": name fewer in readable of [worker]"};
  }
  return {};
}

}  // namespace

Result<WorkerCage> plan_cage(const WorkerRule& rule, const std::string& system_vendors,
                             const WorkerPlace& place) {
  WorkerCage cage;
  cage.limits = {.core_dumps = rule.core_dumps, .memory = rule.memory};
  if (rule.syscall_filter) {
    if (!SyscallFilter::supported()) return no_filter();
    cage.filter.emplace();
  }
  if (!rule.private_view) return cage;
  cage.means = view_means();
  if (cage.means == ViewMeans::nothing) return cage;
  cage.own_processes = cage.means == ViewMeans::mounts && may_separate_processes();
  FAIRGV_CHECK(plan_private_view(rule, system_vendors, place, cage));
  return cage;
}

std::optional<std::string> cage_weakness(const WorkerRule& rule) {
  if (!rule.private_view) return std::nullopt;
  if (view_means() == ViewMeans::mounts) {
    if (landlock_version() > 0) return std::nullopt;
    return "workers can reach files through /proc and other processes of their user: the kernel has no "
           "Landlock (see "
           "SECURITY.md)";
  }
  if (view_means() == ViewMeans::landlock) {
    return "workers are confined by Landlock, since this daemon may not mount: they can see names of all "
           "files and "
           "connect to Unix sockets (see SECURITY.md)";
  }
  return "workers see all files of their user: this daemon may not mount, and the kernel has no Landlock "
         "(see "
         "SECURITY.md)";
}

namespace {

/// `daemon`: a pidfd. If the daemon died before, no signal is sent any more. Among process numbers of its own
/// a process cannot see whether its parent has changed.
void die_with(int daemon, const StartFailure& failure) {
  pollfd died{daemon, POLLIN, 0};
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::poll(&died, 1, 0) != 0) failure.give_up("find its daemon");
}

}  // namespace

void enter_cage(WorkerCage& cage, const std::optional<User>& run_as, int daemon,
                const StartFailure& failure) {
  die_with(daemon, failure);
  // A terminal of the daemon's could otherwise be typed into.
  if (::setsid() < 0) failure.give_up("begin a session of its own");
  if (cage.means == ViewMeans::mounts) {
    enter_view(cage.view, failure);
  } else if (::chdir("/") != 0) {
    failure.give_up("change to the root folder");
  }
  close_capability_bounds(failure);
  if (run_as) become(*run_as, failure);
  drop_capabilities(failure);
  limit_resources(cage.limits, failure);
  die_with(daemon, failure);  // the change of user has cleared it
  // Its descendants stay below it while it lives. Number 1 has that without asking.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) failure.give_up("keep its orphans");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) failure.give_up("renounce further rights");
  if (cage.means == ViewMeans::landlock) {
    confine_to(cage.view, failure);
  } else if (cage.means == ViewMeans::mounts && landlock_version() > 0) {
    keep_off_others(failure);
  }
  if (cage.filter && !cage.filter->install()) failure.give_up("filter its system calls");
}

}  // namespace fairgv::daemon
