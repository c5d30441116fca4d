// Code of the program that commands wait for: host functions, callbacks that free. A thread that needs the
// memory that is freed behind such code may let it run, for a while: the code may itself wait for the thread
// that waits for it. Any thread may call any method.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace fairgv::session {

class HostWork {
 public:
  /// Code that takes longer is not waited for.
  static constexpr auto kPatience = std::chrono::milliseconds(250);

  /// Some is to run from now on, as soon as the commands before it have ended.
  void begins();
  /// It has run, or never will; the worker has been told.
  void ended();
  bool any();

  /// One thread's wait, of kPatience at most from the first call on.
  class Wait {
   public:
    explicit Wait(HostWork& work);
    /// Waits until some has ended that had not at the call before. False: there is none, or it takes too
    /// long.
    bool any_ends();

   private:
    HostWork& work_;
    std::uint64_t seen_;  // how often some had ended
    std::chrono::steady_clock::time_point until_{};
  };

 private:
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t open_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace fairgv::session
