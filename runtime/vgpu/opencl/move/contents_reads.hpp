// Reads of an object's contents into a file while the session runs: commands of the worker's own, which have
// their turns as others do.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "runtime/vgpu/backend/movable_objects.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/vgpu/opencl/objects.hpp"
#include "sched/types.hpp"

namespace fairgv::vgpu::opencl {

/// How many reads are to be queued together next, if the latest so many have taken so long, the wait for
/// commands of the program's included: those that take a tenth of that wait. `one`: the time of a read.
std::uint64_t reads_together(sched::Duration took, std::uint64_t latest, std::optional<sched::Duration> one);

/// Few commands are queued at a time, so that the program's own come between them (reads_together()). The
/// loop thread's.
class ContentsReads {
 public:
  /// The contents go to the file from `offset` on, after those that were added before. `copy` fails if there
  /// is no memory in the file, or if the driver refuses: some memory may not be read by the host. `device`:
  /// of the object's context. The loop outlives the commands.
  void add(const std::shared_ptr<Object>& object, const Device& device, int file, std::uint64_t offset,
           const std::shared_ptr<ContentsCopy>& copy, Executor::Loop& loop);
  /// No more are queued: the copies that are not complete fail.
  void drop() { line_ = std::make_shared<Line>(); }

 private:
  class Read;
  /// Those that are to come, and the latest that were queued together.
  struct Line {
    std::deque<std::shared_ptr<Read>> reads;
    std::uint64_t queued = 0;  // so many of them are not gone
    std::uint64_t together = 0;
    std::chrono::steady_clock::time_point since{};
  };
  static void go_on(const std::shared_ptr<Line>& line, Executor::Loop& loop, std::uint64_t together);
  static void gone(const std::shared_ptr<Line>& line, const Read& read, Executor::Loop& loop);

  std::shared_ptr<Line> line_ = std::make_shared<Line>();
};

}  // namespace fairgv::vgpu::opencl
