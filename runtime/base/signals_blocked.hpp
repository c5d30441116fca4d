// Threads that take no signals: a thread inherits the mask of the thread that starts it.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace fairgv {

/// Blocks all signals for the calling thread while it exists: start threads meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigfillset(&all_);
    pthread_sigmask(SIG_SETMASK, &all_, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  const sigset_t& all() const { return all_; }
  /// The calling thread's mask before this object, which its destructor restores.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t all_;
  sigset_t before_;
};

}  // namespace fairgv
