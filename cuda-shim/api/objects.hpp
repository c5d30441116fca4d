// The small objects behind handles: events, arrays, texture and surface objects, pools of memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/storage.hpp"
#include "cuda-shim/api/scheduler.hpp"

namespace fairgv::cuda {

struct CapturedRecord;
struct SharedPart;

/// CUDA Driver API, "Event Management". An event stands for the marker of its last record, or, if that record
/// was captured, for a place in the graph (graph/capture.hpp).
struct Event {
  Event(CUcontext context, unsigned of_creation) : owner(context), flags(of_creation) {}
  std::shared_ptr<Operation> recorded() const {
    const std::lock_guard guard(lock);
    return marker;
  }
  void record(std::shared_ptr<Operation> operation) {
    const std::lock_guard guard(lock);
    marker = std::move(operation);
    place.reset();
  }
  void record(std::shared_ptr<const CapturedRecord> captured) {
    const std::lock_guard guard(lock);
    place = std::move(captured);
  }
  /// Null: its last record was not captured.
  std::shared_ptr<const CapturedRecord> captured() const {
    const std::lock_guard guard(lock);
    return place;
  }
  bool is_captured() const { return captured() != nullptr; }
  const CUcontext owner;
  const unsigned flags;
  std::shared_ptr<SharedPart> shared;  // null: it is this process' alone (shared/events.hpp). Set when made

 private:
  mutable std::mutex lock;
  std::shared_ptr<Operation> marker;  // null: never recorded
  std::shared_ptr<const CapturedRecord> place;
};

/// A CUDA array. How its elements lie in memory is the engine's business.
struct Array {
  CUcontext owner = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR description{};
  std::size_t element_bytes = 0;
  std::size_t row_bytes = 0;  // width * element_bytes
  std::size_t rows = 1;       // at least one, of each layer
  std::size_t layers = 1;     // at least one
  bool is_level = false;      // of a mipmapped array, with which it comes and goes
  std::unique_ptr<Storage> storage;

  std::size_t bytes() const { return row_bytes * rows * layers; }
};

/// A mipmapped array. Each level keeps what it needs of the whole.
struct Mipmap {
  CUcontext owner = nullptr;
  std::vector<std::shared_ptr<Array>> levels;  // at least one; the first has the whole's description
  std::unique_ptr<Storage> storage;            // null: the levels' is all there is
};

/// A texture object or a surface object: memory, and how kernels read it. The program's descriptions,
/// checked.
struct TextureObject {
  CUcontext owner = nullptr;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC sampling{};                 // of a texture
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;  // of a texture
  std::shared_ptr<Array> array;                 // lives as long as this object; null: other memory
  std::shared_ptr<Mipmap> mipmap;               // of it `array` is the first level; null: other memory
  CUdeviceptr address = 0;                      // of other memory, as the device has it
  std::uint64_t handle = 0;                     // kernels get this
  std::unique_ptr<Storage> storage;
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

}  // namespace fairgv::cuda
