// The output of a session's driver on standard error: warnings, remarks on builds. The driver runs in the
// worker, whose output the daemon reads. The daemon makes the lines harmless, bounds them, and sends them to
// the program's process, which prints them on its own standard error, as the driver itself would without
// FairGV.
//
// Any thread may call any method.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "runtime/session/protocol.hpp"

namespace fairgv::session {

class DriverMessages {
 public:
  /// Prints the lines, and wakes the threads that have asked for them.
  void take(const DriverSays& message);
  /// There will be no more.
  void end();

  /// The number for a question (wire form: Hear).
  std::uint64_t next_question();
  /// Until the question is answered, there will be no more, or the time is up.
  void await(std::uint64_t question, std::chrono::milliseconds patience);

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable news_;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  bool ended_ = false;
};

}  // namespace fairgv::session
