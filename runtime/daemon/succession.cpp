#include "runtime/daemon/succession.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "runtime/base/exec_pointers.hpp"

namespace fairgv::daemon {
namespace {

/// How long a program may take to check its arguments.
constexpr unsigned kPatience = 10;  // seconds

/// Runs the program to see whether it starts at all and reads its configuration.
Result<void> try_out(const std::filesystem::path& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program.string());
  const bool configured = std::find(arguments.begin(), arguments.end(), "--config") != arguments.end();
  arguments.emplace_back(configured ? "--check" : "--version");
  const std::vector<char*> list = exec_pointers(arguments);
  const pid_t child = ::fork();
  if (child < 0) return system_error("cannot try out " + program.string());
  if (child == 0) {
    ::alarm(kPatience);  // survives exec; blocked signals would, too
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    // Its messages about a mistake belong in the log, its version does not.
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    if (!configured) ::close(STDOUT_FILENO);
    ::execve(program.c_str(), list.data(), environ);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{program.string() + " does not start with this configuration: try '" + program.string() +
               " --check' by hand, or see the lines above"};
}

/// Returns their ids, in the same order.
std::vector<TenantId> restore_tenants(const Handover& handover, const Estate& estate) {
  std::vector<TenantId> ids;
  for (const HandedTenant& handed : handover.tenants) {
    const Tenant tenant = estate.tenancies.registry().restore({.id = {},
                                                               .name = handed.name,
                                                               .uid = handed.uid,
                                                               .asked = handed.asked,
                                                               .set = handed.set,
                                                               .asked_memory = handed.asked_memory,
                                                               .set_memory = handed.set_memory,
                                                               .class_name = handed.class_name,
                                                               .assigned = handed.assigned,
                                                               .in_background = handed.in_background,
                                                               .paused = handed.paused,
                                                               .probation = handed.probation,
                                                               .counts = handed.counts});
    ids.push_back(tenant.id);
    estate.dispatch.restore_books(tenant.id, handed.books, tenant.attributes, handed.entitled);
    estate.markets.restore(tenant, handed.holdings);
    estate.tenancies.memory().restore_totals(handed.name, handed.memory);
  }
  return ids;
}

}  // namespace

Handover gather(const Estate& estate, int listener, int lock) {
  const auto now = std::chrono::steady_clock::now();
  const auto& kills = estate.sessions.sessions().kills().all();
  Handover handover{.listener = listener,
                    .lock = lock,
                    .last_session = estate.sessions.last_id(),
                    .restarts = estate.life.restarts,
                    .served_s = std::chrono::duration<double>(now - estate.life.serving_since).count(),
                    .devices = estate.devices.table().devices,
                    .hardware = estate.devices.table().hardware,
                    .tenants = {},
                    .sessions = estate.sessions.handed(),
                    .kills = {kills.begin(), kills.end()}};
  const auto& drained = estate.devices.table().drained;
  handover.drained.assign(drained.begin(), drained.end());
  handover.failed = estate.devices.table().failed;
  std::vector<Tenant> tenants = estate.tenancies.registry().all();
  std::sort(tenants.begin(), tenants.end(),
            [](const Tenant& a, const Tenant& b) { return a.id.value < b.id.value; });
  for (const Tenant& tenant : tenants) {
    handover.tenants.push_back({.name = tenant.name,
                                .uid = tenant.uid,
                                .asked = tenant.asked,
                                .set = tenant.set,
                                .books = estate.dispatch.looks().books(tenant.id),
                                .asked_memory = tenant.asked_memory,
                                .set_memory = tenant.set_memory,
                                .counts = tenant.counts,
                                .entitled = estate.dispatch.looks().entitled(tenant.id),
                                .memory = estate.tenancies.memory().totals(tenant.name, now),
                                .sampled = estate.usage.sampled(tenant.id),
                                .class_name = tenant.class_name,
                                .assigned = tenant.assigned,
                                .in_background = tenant.in_background,
                                .paused = tenant.paused,
                                .probation = tenant.probation,
                                .holdings = estate.markets.holdings(tenant.id)});
  }
  return handover;
}

Error replace_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      const Handover& handover) {
  FAIRGV_CHECK(try_out(program, arguments));
  FAIRGV_TRY(file, store(handover));
  std::vector<std::string> all{program.string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"--resume-fd", std::to_string(file->get())});
  const std::vector<char*> list = exec_pointers(all);
  Error error{"a descriptor that is to be handed over is none"};
  if (keep_over_exec(handover, true)) {
    ::execve(program.c_str(), list.data(), environ);
    error = system_error("cannot start " + program.string());
  }
  keep_over_exec(handover, false);
  return error;
}

void go_on(const Handover& handover, const Estate& estate) {
  keep_over_exec(handover, false);
  estate.life.restarts = handover.restarts + 1;
  estate.life.serving_since =
      std::chrono::steady_clock::now() - std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(handover.served_s));
  estate.tenancies.memory().set_devices({});
  // Devices stay grouped as they were: turns that two sessions have now could not be merged.
  for (std::size_t device = 0; device < handover.devices.size(); ++device) {
    estate.devices.add(handover.devices[device], handover.hardware[device]);
  }
  for (const std::uint32_t device : handover.drained) estate.devices.set_drained(device, true);
  for (const auto& [device, reason] : handover.failed) estate.devices.set_failed(device, reason);
  const std::vector<TenantId> ids = restore_tenants(handover, estate);
  estate.tenancies.refresh_memory();
  estate.sessions.continue_after(handover.last_session, handover.kills);
  std::size_t adopted = 0;
  for (const HandedSession& handed : handover.sessions) {
    if (auto done = estate.sessions.adopt(handed); done) {
      ++adopted;
    } else {
      spdlog::error("session {} of tenant {} cannot go on: {}", handed.id, handed.tenant,
                    done.error().message);
    }
  }
  for (const std::string& line : estate.tenancies.admit_reserves()) spdlog::warn("{}", line);
  estate.dispatch.resume();
  estate.markets.configure();
  spdlog::info("went on with {} of {} sessions", adopted, handover.sessions.size());
  estate.usage.skip();
  for (std::size_t i = 0; i < ids.size(); ++i) estate.usage.restore(ids[i], handover.tenants[i].sampled);
  estate.sessions.drains().go_on();
}

}  // namespace fairgv::daemon
