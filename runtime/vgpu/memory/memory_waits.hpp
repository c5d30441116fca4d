// Waits for memory that is on its way back: a program whose request was refused is told when it is worth
// asking again (wire::AwaitMemory).
//
// Memory is on its way if its objects have been released and the commands that keep them end without the
// program's doing. The front end's thread waits, on an event; the loop thread goes on with commands, whose
// ends it needs. Commands that wait for a user event that the program has not set are not waited for. The
// loop thread's alone.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/executor/executor.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/wire/calls/memory.hpp"

namespace fairgv::vgpu {

class MemoryWaits {
 public:
  /// Both outlive it. No account: memory is not counted, and nothing is on its way.
  MemoryWaits(Executor& executor, MemoryAccount* account);
  ~MemoryWaits();
  MemoryWaits(const MemoryWaits&) = delete;
  MemoryWaits& operator=(const MemoryWaits&) = delete;

  /// An Error if the front end broke the protocol.
  Result<void> await(Executor::Loop& loop, const wire::AwaitMemory& call);
  /// An open wait ends as if memory had come back: the front end asks again.
  void give_up() {
    if (wait_) end(wire::kComplete);
  }

 private:
  struct Wait {
    NodePtr answer;
    std::uint64_t devices = 0;
    std::uint64_t missing = 0;  // bytes
  };
  class Drained;

  void begin(Executor::Loop& loop, std::uint64_t bytes, bool more_is_to_come);
  void came_back(std::uint64_t devices, std::uint64_t bytes);
  void end(std::int32_t status);

  Executor& executor_;
  MemoryAccount* const account_;
  std::shared_ptr<Wait> wait_;       // the one that is open, or null
  std::uint64_t released_then_ = 0;  // MemoryAccount::released() when a wait last ended at once
};

}  // namespace fairgv::vgpu
