// This engine's hold on memory, arrays and texture objects: names of the worker's objects.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/api/memory/storage.hpp"
#include "cuda-shim/api/objects.hpp"
#include "cuda-shim/driver/memory/reservation.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda::remote {

class StreamGroup;

/// Device memory, or a pinned part of the session's arena. Keeps its context.
class MemoryStorage final : public Storage {
 public:
  MemoryStorage(std::shared_ptr<StreamGroup> group, std::uint64_t address)
      : group_(std::move(group)), address_(address) {}
  MemoryStorage(std::shared_ptr<StreamGroup> group, std::uint64_t address, wire::ArenaRange pinned)
      : group_(std::move(group)), address_(address), pinned_(pinned) {}
  ~MemoryStorage() override;
  /// Reserves the addresses of `size` bytes of device memory in this process. False: this process uses them.
  bool reserve(std::uint64_t size) {
    auto reservation = Reservation::make(address_, size);
    if (reservation) reservation_ = std::move(*reservation);
    return reservation.has_value();
  }

  /// The device's address of the begin.
  std::uint64_t address() const { return address_; }
  wire::ArenaRange pinned() const { return pinned_; }
  /// Another owner gives the memory back.
  void disown() { group_.reset(); }

 private:
  std::shared_ptr<StreamGroup> group_;
  const std::uint64_t address_;
  const wire::ArenaRange pinned_;
  Reservation reservation_;
};

/// Whether the memory is a pinned part of the arena, as make_storage() makes it for these kinds.
inline bool is_pinned(const Allocation& allocation) {
  return allocation.kind == MemoryKind::host || allocation.kind == MemoryKind::managed;
}
/// The storage of an allocation that this engine has made: not registered memory, not a variable.
inline MemoryStorage& storage_of(const Allocation& allocation) {
  return static_cast<MemoryStorage&>(*allocation.storage);
}

/// An object of the worker that the front end names. Owns the name.
class WorkersObject {
 public:
  WorkersObject() = default;
  WorkersObject(std::shared_ptr<StreamGroup> group, wire::ObjectId id) : group_(std::move(group)), id_(id) {}
  WorkersObject(WorkersObject&& other) noexcept { swap(other); }
  WorkersObject& operator=(WorkersObject&& other) noexcept {
    swap(other);
    return *this;
  }
  ~WorkersObject();

  wire::ObjectId id() const { return id_; }

 private:
  void swap(WorkersObject& other) noexcept {
    std::swap(group_, other.group_);
    std::swap(id_, other.id_);
  }

  std::shared_ptr<StreamGroup> group_;
  wire::ObjectId id_;
};

/// An array, a mipmapped array, or a texture or surface object.
class ObjectStorage final : public Storage {
 public:
  explicit ObjectStorage(WorkersObject object) : object_(std::move(object)) {}
  wire::ObjectId id() const { return object_.id(); }

 private:
  const WorkersObject object_;
};

inline wire::ObjectId id_of(const Array& array) {
  return static_cast<const ObjectStorage&>(*array.storage).id();
}

}  // namespace fairgv::cuda::remote
