// Sets user events from a thread of its own, some time after it was asked to.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "tests/moves/plan/opencl.hpp"

namespace fairgv::moves {

class LateEvents {
 public:
  LateEvents() : thread_([this] { run(); }) {}
  /// Sets what is left first.
  ~LateEvents();

  /// Retains the event until it is set. Errors of the call that sets it show as an end that never comes.
  void set(cl_event event, cl_int status, std::chrono::microseconds after);

 private:
  struct Late {
    cl_event event;
    cl_int status;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::chrono::steady_clock::time_point, Late> due_;
  bool closing_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace fairgv::moves
