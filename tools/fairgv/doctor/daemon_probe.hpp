// Finds out who answers at the daemon's socket.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools::doctor {

struct DaemonAnswer {
  int connect_error = 0;  // errno when no daemon could be reached; EPERM: an untrusted process
  // Of the listening process, as the kernel says; only if it could be reached.
  pid_t pid = 0;
  uid_t user = 0;
  std::string version;                             // empty: it did not answer as a daemon does
  std::string error;                               // why there is no answer
  std::vector<control::Report::Device> devices{};  // that it knows so far
  std::vector<control::Report::Tenant> tenants{};

  bool reached() const { return connect_error == 0; }
  bool answers() const { return !version.empty(); }
};

/// Connects, asks as `fairgv ps` does, and hangs up. `patience` is for each answer.
DaemonAnswer ask_daemon(const std::string& socket,
                        std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace fairgv::tools::doctor
