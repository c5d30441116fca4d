// Checks that there is a daemon, that it can be trusted, and that its configuration is right.
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <variant>

#include "runtime/session/paths.hpp"
#include "runtime/session/trust/daemon_users.hpp"
#include "runtime/session/trust/trusted_path.hpp"
#include "runtime/session/trust/trusted_users.hpp"
#include "sched/policies/registry.hpp"
#include "tools/fairgv/doctor/accounts.hpp"
#include "tools/fairgv/doctor/checks/checks.hpp"
#include "tools/fairgv/promises.hpp"

namespace fairgv::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "socket's folder";
constexpr const char* kStart =
    "fairgv run -- PROGRAM starts one of your own; for everybody: fairgvd --daemonize, as root";

/// fairgvd makes these two by itself.
bool is_made_by_daemon(const fs::path& folder) {
  return folder == session::private_directory() || folder == fs::path(session::kSystemSocket).parent_path();
}

/// The clients' doubt about the folder (trusted_daemon.hpp), with a remedy for this machine.
Finding finding_of_doubt(const Machine& machine, const session::PathDoubt& doubt,
                         const session::TrustedUsers& users) {
  const std::string where = doubt.where.string();
  switch (doubt.kind) {
    case session::PathDoubt::Kind::foreign:
      return wrong(
          kFolder,
          fmt::format("{} belongs to {}, who can put another socket there{}", where,
                      user_name(machine, doubt.owner), users.mistake()),
          fmt::format("chown {} '{}', choose another socket by --socket or FAIRGV_SOCKET, or name the user "
                      "in {}",
                      user_name(machine, machine.user), where, session::kDaemonUsersFile));
    case session::PathDoubt::Kind::writable:
      return wrong(kFolder, where + " may be written to by others, who can put a socket there first",
                   fmt::format("chmod go-w '{}'", where));
    case session::PathDoubt::Kind::outsider:
      return wrong(kFolder, session::text_of(doubt),
                   fmt::format("mount it elsewhere, or name user {} in {}", session::kOverflowUser,
                               session::kDaemonUsersFile));
    case session::PathDoubt::Kind::unreachable:
      break;
  }
  return wrong(kFolder, session::text_of(doubt), fmt::format("mkdir -m 0755 '{}'", where));
}

Finding finding_of_nobody(const Examination& examination) {
  const DaemonAnswer& daemon = examination.daemon;
  if (daemon.connect_error == ENOENT) {
    return note("daemon", "none has made " + examination.socket, kStart);
  }
  if (daemon.connect_error == ECONNREFUSED) {
    return note("daemon", fmt::format("{} is left from one that was killed", examination.socket), kStart);
  }
  if (daemon.connect_error == EPERM) {
    return wrong("daemon", daemon.error, "choose another socket by --socket or FAIRGV_SOCKET");
  }
  return wrong("daemon", daemon.error,
               "ask the socket's owner for access, or choose another by --socket or FAIRGV_SOCKET");
}

}  // namespace

Findings check_socket_folder(const Examination& examination) {
  const Machine& machine = examination.machine;
  const fs::path folder = fs::path(examination.socket).parent_path();
  const session::TrustedUsers users(machine.user, machine.root);
  const auto found = users.look_along(folder);
  if (const auto* doubt = std::get_if<session::PathDoubt>(&found)) {
    if (doubt->code == ENOENT && is_made_by_daemon(folder)) {
      return {ok(kFolder, folder.string() + " will be made by the daemon")};
    }
    return {finding_of_doubt(machine, *doubt, users)};
  }
  const struct stat& status = std::get<session::TrustedPlace>(found).status;
  if (!S_ISDIR(status.st_mode)) {
    return {wrong(kFolder, folder.string() + " is no folder", "choose another by --socket or FAIRGV_SOCKET")};
  }
  // With the sticky bit others cannot replace the socket that is there.
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return {note(kFolder, folder.string() + " may be written to by others, who can put a socket there first",
                 "choose a socket in a folder of its own, by --socket or FAIRGV_SOCKET")};
  }
  return {ok(kFolder, fmt::format("{} belongs to {}, and nobody else may write to it", folder.string(),
                                  user_name(machine, status.st_uid)))};
}

Findings check_daemon(const Examination& examination) {
  const DaemonAnswer& daemon = examination.daemon;
  if (!daemon.reached()) return {finding_of_nobody(examination)};
  const std::string owner = user_name(examination.machine, daemon.user);
  if (!daemon.answers()) {
    return {wrong("daemon",
                  fmt::format("process {} at {} does not answer as one: {}", daemon.pid, examination.socket,
                              daemon.error),
                  fmt::format("kill {}, and start fairgvd again", daemon.pid))};
  }
  const std::string text =
      fmt::format("fairgvd {} at {}, process {}, runs as {} and serves {}", daemon.version,
                  examination.socket, daemon.pid, owner, daemon.user == 0 ? "every user" : "this user only");
  if (daemon.version != FAIRGV_VERSION) {
    return {note("daemon", text + ", but this is fairgv " FAIRGV_VERSION,
                 "fairgv stop, and start fairgvd again")};
  }
  return {ok("daemon", text)};
}

/// By the devices that the daemon has seen. Names alone decide nothing: two equal cards have one name.
Findings check_shared_hardware(const Examination& examination) {
  constexpr const char* kSubject = "devices of several drivers";
  using Device = control::Report::Device;
  const std::vector<Device>& devices = examination.daemon.devices;
  if (devices.empty()) return {ok(kSubject, "no daemon that has seen any; CPU devices are shared as one")};
  Findings findings;
  for (const Device& device : devices) {
    if (device.same_as) {
      findings.push_back(ok(kSubject, fmt::format("device {} ({}) is the same hardware as device {}, and "
                                                  "shared with it",
                                                  device.index, device.platform, *device.same_as)));
      continue;
    }
    const auto twin = std::find_if(devices.begin(), devices.end(), [&](const Device& other) {
      return other.index < device.index && other.name == device.name && other.platform != device.platform;
    });
    if (twin == devices.end()) continue;
    findings.push_back(note(kSubject,
                            fmt::format("devices {} and {} are both called {} and shared each on its own: "
                                        "weights do not meet if they are one",
                                        twin->index, device.index, device.name),
                            fmt::format("same_as = {} in [device.{}] of the configuration, if they are",
                                        twin->index, device.index)));
  }
  if (findings.empty()) findings.push_back(ok(kSubject, "each is hardware of its own"));
  return findings;
}

Findings check_promises(const Examination& examination) {
  constexpr const char* kSubject = "promises";
  Findings findings;
  for (const control::Report::Device& device : examination.daemon.devices) {
    if (device.same_as) continue;
    control::Report report;
    report.tenants = examination.daemon.tenants;
    const std::string unkept = unkept_promises(report, device.policy);
    if (unkept.empty()) continue;
    findings.push_back(
        note(kSubject, fmt::format("device {}: {}", device.index, unkept),
             fmt::format("fairgv set --policy {} --device {}", sched::kDefaultPolicy, device.index)));
  }
  if (findings.empty())
    findings.push_back(ok(kSubject, "none to running tenants that a policy does not keep"));
  return findings;
}

Findings check_direct(const Examination& examination) {
  constexpr const char* kSubject = "direct mode";
  const auto& direct = examination.settings.direct;
  if (direct.empty()) return {ok(kSubject, "off: every CUDA program has a worker")};
  return {note(
      kSubject,
      fmt::format("{} of the configuration: CUDA programs may keep the driver in their own process, where "
                  "nothing contains them and their use of the device past FairGV's gates is not seen",
                  fmt::join(direct, ", ")),
      "direct = \"off\" there, or in tables of tenants alone whom you trust with the device (SECURITY.md)")};
}

Findings check_configuration(const Examination& examination) {
  if (!examination.config)
    return {ok("configuration", "there is none to read: all is as fairgvd has it by default")};
  if (!examination.refusal.empty()) {
    Findings findings;
    std::istringstream mistakes(examination.refusal);
    for (std::string line; std::getline(mistakes, line);) {
      findings.push_back(wrong("configuration", line, fmt::format("correct '{}'", *examination.config)));
    }
    return findings;
  }
  return {ok("configuration", fmt::format("fairgvd accepts {}", *examination.config))};
}

}  // namespace fairgv::tools::doctor
