// The worker's part while its session moves away: it copies ahead while it serves, comes to rest, writes the
// session's image, and waits until the daemon ends it or has it go on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "runtime/base/handle.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/move/copies_ahead.hpp"
#include "runtime/vgpu/worker.hpp"

namespace fairgv::vgpu {

class Leave {
 public:
  /// All outlive it.
  Leave(const Socket& daemon, Worker& worker, CallHandler& calls, session::Api api)
      : daemon_(daemon), worker_(worker), calls_(calls), api_(api), ahead_(calls, api) {}

  /// The daemon's orders, in the order in which they come; one thread's.
  void copy_ahead(std::uint64_t number, UniqueFd file);
  void write_image(std::uint64_t copied, UniqueFd file);
  void go_on();

 private:
  /// Between two calls, on the thread that has the helm.
  void copy(std::uint64_t number, UniqueFd file);
  void leave(std::uint64_t copied, int file, std::uint64_t order);
  Result<std::uint64_t> written(std::uint64_t copied, int file, std::uint64_t order);
  bool goes_on(std::uint64_t order) const;

  const Socket& daemon_;
  Worker& worker_;
  CallHandler& calls_;
  const session::Api api_;

  CopiesAhead ahead_;  // between two calls

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable told_;
  /// Orders to write so far, and those of them after which it was told to go on. An order may come before the
  /// one before it has been left.
  std::uint64_t orders_ = 0;
  std::uint64_t gone_on_ = 0;
};

}  // namespace fairgv::vgpu
