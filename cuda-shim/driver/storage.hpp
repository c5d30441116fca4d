// What the shared parts of the driver keep of memory (cuda-shim/api): here, names of what the worker has.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cuda-shim/driver/reservation.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda {

class StreamGroup;

/// Device memory, or a pinned part of the session's arena. Owns it: it is given back with the last share,
/// when no command uses it any more. Keeps its context.
class Storage {
 public:
  Storage() = default;
  Storage(std::shared_ptr<StreamGroup> group, std::uint64_t address)
      : group_(std::move(group)), address_(address) {}
  /// `size` bytes of device memory, whose addresses this process does not use. False: it does.
  bool reserve(std::uint64_t size) {
    auto reservation = Reservation::make(address_, size);
    if (reservation) reservation_ = std::move(*reservation);
    return reservation.has_value();
  }
  Storage(std::shared_ptr<StreamGroup> group, std::uint64_t address, wire::ArenaRange pinned)
      : group_(std::move(group)), address_(address), pinned_(pinned) {}
  Storage(Storage&& other) noexcept { swap(other); }
  Storage& operator=(Storage&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Storage();

  explicit operator bool() const { return group_ != nullptr; }
  /// Where the device sees its begin.
  std::uint64_t address() const { return address_; }
  bool is_pinned() const { return pinned_.bytes != 0; }
  wire::ArenaRange pinned() const { return pinned_; }
  /// Somebody else gives it back.
  void disown() { group_.reset(); }

 private:
  void swap(Storage& other) noexcept {
    std::swap(group_, other.group_);
    std::swap(address_, other.address_);
    std::swap(pinned_, other.pinned_);
    std::swap(reservation_, other.reservation_);
  }

  std::shared_ptr<StreamGroup> group_;
  std::uint64_t address_ = 0;
  wire::ArenaRange pinned_;
  Reservation reservation_;
};

/// An object of the worker's that the front end names. Owns the name.
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

using ArrayStorage = WorkersObject;

/// A texture or surface object, and what the worker's driver calls it, which kernels get.
class TextureStorage {
 public:
  TextureStorage() = default;
  TextureStorage(WorkersObject object, std::uint64_t handle) : object_(std::move(object)), handle_(handle) {}
  std::uint64_t handle() const { return handle_; }

 private:
  WorkersObject object_;
  std::uint64_t handle_ = 0;
};

}  // namespace fairgv::cuda
