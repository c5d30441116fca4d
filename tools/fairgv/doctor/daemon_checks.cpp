// Is there a daemon, is it one to trust, and is its configuration right.
#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "runtime/session/paths.hpp"
#include "tools/fairgv/doctor/accounts.hpp"
#include "tools/fairgv/doctor/checks.hpp"

namespace fairgv::tools::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStart =
    "fairgv run -- PROGRAM starts one of your own; for everybody: fairgvd --daemonize, as root";

/// fairgvd makes these two by itself.
bool is_made_by_daemon(const fs::path& folder) {
  return folder == session::private_directory() || folder == fs::path(session::kSystemSocket).parent_path();
}

bool is_trusted(const Machine& machine, uid_t user) {
  return user == 0 || user == machine.user;
}

Finding finding_of_nobody(const Examination& examination) {
  const DaemonAnswer& daemon = examination.daemon;
  if (daemon.connect_error == ENOENT) {
    return note("daemon", "none has made " + examination.socket, kStart);
  }
  if (daemon.connect_error == ECONNREFUSED) {
    return note("daemon", fmt::format("{} is left from one that was killed", examination.socket), kStart);
  }
  return wrong("daemon", daemon.error,
               "ask the socket's owner for access, or choose another by --socket or FAIRGV_SOCKET");
}

}  // namespace

Findings check_socket_folder(const Examination& examination) {
  const Machine& machine = examination.machine;
  const fs::path folder = fs::path(examination.socket).parent_path();
  const std::string subject = "socket's folder";
  struct stat status {};
  if (::stat(machine.at(folder).c_str(), &status) != 0) {
    if (is_made_by_daemon(folder)) return {ok(subject, folder.string() + " will be made by the daemon")};
    return {wrong(subject, folder.string() + ": " + std::strerror(errno),
                  fmt::format("mkdir -m 0755 '{}'", folder.string()))};
  }
  if (!S_ISDIR(status.st_mode)) {
    return {wrong(subject, folder.string() + " is no folder", "choose another by --socket or FAIRGV_SOCKET")};
  }
  const std::string owner = user_name(machine, status.st_uid);
  if (!is_trusted(machine, status.st_uid)) {
    return {wrong(subject,
                  fmt::format("{} belongs to {}, who can put another socket there", folder.string(), owner),
                  fmt::format("chown {} '{}', or choose another socket by --socket or FAIRGV_SOCKET",
                              user_name(machine, machine.user), folder.string()))};
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return {ok(subject,
               fmt::format("{} belongs to {}, and nobody else may write to it", folder.string(), owner))};
  }
  const std::string text = folder.string() + " may be written to by others, who can put a socket there first";
  // With the sticky bit they cannot replace the one that is there.
  if ((status.st_mode & S_ISVTX) != 0) {
    return {note(subject, text, "choose a socket in a folder of its own, by --socket or FAIRGV_SOCKET")};
  }
  return {wrong(subject, text, fmt::format("chmod go-w '{}'", folder.string()))};
}

Findings check_daemon(const Examination& examination) {
  const DaemonAnswer& daemon = examination.daemon;
  if (!daemon.reached()) return {finding_of_nobody(examination)};
  const std::string owner = user_name(examination.machine, daemon.user);
  if (!is_trusted(examination.machine, daemon.user)) {
    return {wrong("daemon",
                  fmt::format("{} is served by a process of {}, who is neither root nor you",
                              examination.socket, owner),
                  "choose another socket by --socket or FAIRGV_SOCKET")};
  }
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

Findings check_configuration(const Examination& examination) {
  if (!examination.config)
    return {ok("configuration", "none was named (--config): as fairgvd has it by default")};
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
