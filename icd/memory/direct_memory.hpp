// Direct memory: pieces of the session's arena in which buffers lie on devices that share memory with the
// host. The front end reaches such a buffer's contents by itself.
//
// A piece belongs to its buffer until the worker's object is gone, which may be long after the application's
// last reference: commands under way keep the object. The worker then ends the event that was named when the
// buffer was created. A piece whose event has ended is used again. Any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>

#include "icd/memory/memory_quota.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::session {
class ClientSession;
}

namespace fairgv::icd {

/// A piece, the event that ends with the worker's buffer, and the buffer's charge.
struct DirectMemory {
  wire::ArenaRange range = {};
  wire::EventId retired = {};
  MemoryShare charge = {};

  explicit operator bool() const { return range.bytes != 0; }
};

class DirectMemoryPool {
 public:
  DirectMemoryPool(session::ClientSession& session, MemoryQuota& quota);

  /// False if FAIRGV_DIRECT_MEMORY is "off"; then there are no pieces.
  bool enabled() const { return enabled_; }

  /// A piece of at least `bytes` bytes, aligned to 512 bytes at least. None if the arena or the completion
  /// slots are full, or if FAIRGV_DIRECT_MEMORY is "off"; the buffer is then the driver's own.
  DirectMemory allocate(std::uint64_t bytes);

  /// The buffer has been released: ReleaseObject is sent.
  void retire(const DirectMemory& memory);

  /// Takes back the pieces and the charges of buffers that are gone by now.
  void reclaim();

 private:
  bool leaves_room(std::uint64_t bytes) const;

  session::ClientSession& session_;
  MemoryQuota& quota_;
  const bool enabled_;
  std::mutex mutex_;  // guards the members below
  std::deque<DirectMemory> retired_;
};

}  // namespace fairgv::icd
