// Counts what drivers call back.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>

#include "tests/moves/plan/commands.hpp"

namespace fairgv::moves {

class Callbacks {
 public:
  /// Registers a function for the event, which must be called once.
  void add(cl_event event, cl_int status, Number number);
  /// Waits until all have been called and returns a sum over them, in whatever order they came. Throws
  /// Unexpected if one is missing after a long time.
  std::uint64_t all_called();

 private:
  struct Call {
    Callbacks* owner;
    Number number;
  };
  static void CL_CALLBACK called(cl_event event, cl_int status, void* call);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Call> calls_;
  std::size_t called_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace fairgv::moves
