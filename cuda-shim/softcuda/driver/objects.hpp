// The small objects behind handles: events, arrays, pools of memory, a linking under way.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda.hpp"
#include "opencl_device.hpp"
#include "scheduler.hpp"

namespace fairgv::softcuda {

/// CUDA Driver API, "Event Management". What it stands for is the marker of its last record.
struct Event {
  Event(CUcontext context, unsigned of_creation) : owner(context), flags(of_creation) {}
  std::shared_ptr<Operation> recorded() const {
    const std::lock_guard guard(lock);
    return marker;
  }
  void record(std::shared_ptr<Operation> operation) {
    const std::lock_guard guard(lock);
    marker = std::move(operation);
  }
  const CUcontext owner;
  const unsigned flags;

 private:
  mutable std::mutex lock;
  std::shared_ptr<Operation> marker;  // null: never recorded
};

/// A CUDA array: plain rows in memory, which only copies see; there are no textures to read it.
struct Array {
  CUcontext owner = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR description{};
  std::size_t element_bytes = 0;
  std::size_t row_bytes = 0;  // width * element_bytes
  std::size_t rows = 1;       // at least one, of each layer
  std::size_t layers = 1;     // at least one
  DeviceMemory memory;
};

/// CUDA Driver API, "Stream Ordered Memory Allocator". Memory goes back to the device as soon as it is freed,
/// so a pool keeps books and nothing else.
class Pool {
 public:
  explicit Pool(const CUmemPoolProps& of_creation) : properties(of_creation) {}
  CUmemoryPool handle() { return reinterpret_cast<CUmemoryPool>(this); }
  void charge(std::uint64_t bytes);
  void discharge(std::uint64_t bytes);
  CUresult attribute(CUmemPool_attribute which, void* value) const;
  CUresult set_attribute(CUmemPool_attribute which, const void* value);

  const CUmemPoolProps properties;

 private:
  mutable std::mutex lock_;
  std::uint64_t used_ = 0, used_high_ = 0, release_threshold_ = 0;
  int reuse_event_ = 1, reuse_opportunistic_ = 1, reuse_internal_ = 1;
};

/// cuLinkCreate to cuLinkDestroy. One PTX text goes in and comes out: there is no machine code to make of it.
class Linking {
 public:
  std::mutex lock;
  std::string name;
  std::string ptx;  // also the image that cuLinkComplete hands out: it lives until cuLinkDestroy
  bool added = false;
  char* error_log = nullptr;  // the program's buffer, named at creation
  std::size_t error_log_size = 0;
};

}  // namespace fairgv::softcuda
