// The quota of device memory in this process: clCreateBuffer and similar calls are refused here, at once and
// from the call, when the tenant has no memory left.
//
// The worker asks the daemon, whose ledger has every session of the tenant. The process keeps some granted,
// unused headroom, so that small objects need no question (wire::ReserveMemory). An object's memory comes
// back when the object is gone, which may be long after its release: DirectMemoryPool learns of it, and for
// all other objects the worker gives the memory back by itself. Before a call is refused, it waits for memory
// that this process has released and commands still hold, if those commands end by themselves
// (wire::AwaitMemory).
//
// An object of a context with several devices is charged on each, because the driver may keep it on any. Any
// thread may call any method.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "icd/cl.hpp"
#include "runtime/session/headroom.hpp"

namespace fairgv::icd {

class Connection;
class MemoryQuota;

/// Bytes on each of some devices (bit d: device d of the topology).
struct MemoryShare {
  std::uint64_t devices = 0;
  std::uint64_t bytes = 0;
};

/// A share that belongs to no object yet: if making the object fails before it is sent to the worker, the
/// share is given back.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  MemoryReservation(MemoryQuota& quota, MemoryShare share) : quota_(&quota), share_(share) {}
  MemoryReservation(MemoryReservation&& other) noexcept
      : quota_(std::exchange(other.quota_, nullptr)), share_(other.share_) {}
  MemoryReservation& operator=(MemoryReservation&& other) noexcept {
    std::swap(quota_, other.quota_);
    std::swap(share_, other.share_);
    return *this;
  }
  ~MemoryReservation();

  /// The object owns the share from now on.
  MemoryShare hand_over() {
    quota_ = nullptr;
    return share_;
  }

 private:
  MemoryQuota* quota_ = nullptr;
  MemoryShare share_;
};

class MemoryQuota {
 public:
  explicit MemoryQuota(Connection& connection);

  /// CL_SUCCESS, CL_MEM_OBJECT_ALLOCATION_FAILURE, or kSessionLost.
  cl_int reserve(MemoryShare share, MemoryReservation& reservation);

  /// The bytes are headroom again.
  void credit(MemoryShare share);
  /// The same, and headroom beyond the limit goes back to the daemon.
  void put_back(MemoryShare share);

 private:
  bool take(MemoryShare share);
  /// Takes the share from the headroom, asking for more until that succeeds or is refused.
  cl_int obtain(MemoryShare share);
  void return_surplus(std::uint64_t devices);
  /// Asks for the missing bytes. CL_SUCCESS: try again to take the share.
  cl_int ask(MemoryShare share);

  Connection& connection_;
  const bool counted_;  // the daemon knows quotas
  const std::uint64_t headroom_wish_;
  std::mutex asking_;  // one thread asks at a time; taken before mutex_, never held while waiting
  std::mutex mutex_;   // guards the members below
  session::Headroom headroom_;
};

}  // namespace fairgv::icd
