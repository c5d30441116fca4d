// The threads of ours in an application's process.
#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

#include "runtime/base/signals_blocked.hpp"

namespace fairgv::session {

/// Starts a thread that takes no signals but those that ask a process to end, where its creator takes them:
/// the application's handlers belong on its own threads, and the kernel prefers these, but once only ours are
/// left (main() left by pthread_exit) a process must still die of SIGTERM.
template <class Body>
std::thread quiet_thread(Body body) {
  const SignalsBlocked blocked;
  sigset_t quiet = blocked.all();
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
    if (sigismember(&blocked.before(), signal) == 0) sigdelset(&quiet, signal);
  }
  return std::thread([quiet, body = std::move(body)] {
    pthread_sigmask(SIG_SETMASK, &quiet, nullptr);
    body();
  });
}

}  // namespace fairgv::session
