// The program's device memory as the daemon's ledger has it: nothing is allocated before its bytes are
// granted, and they are given back when the driver has freed them.
//
// Any thread may call any method. A question is one packet and its answer, some ten microseconds, beside
// which an allocation of device memory takes far longer.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/base/socket.hpp"

namespace fairgv::cuda::direct {

/// Granted bytes of one device.
struct Holding {
  std::uint32_t device = 0;
  std::uint64_t bytes = 0;
  const void* context = nullptr;  // that takes them with it when it goes; null: none does
};

class Ledger {
 public:
  /// The socket outlives this.
  explicit Ledger(const Socket& socket) : socket_(socket) {}

  /// Whether the tenant may have so many bytes more on the device. Then they are charged.
  bool charge(std::uint32_t device, std::uint64_t bytes);
  void give_back(const Holding& holding);
  /// The bytes that would be granted now; nothing is charged.
  std::uint64_t left(std::uint32_t device);

  /// The kinds of objects that hold memory: their handles are unique each.
  enum class Kind { address, array, physical };
  struct Object {
    Kind kind = Kind::address;
    std::uint64_t handle = 0;
    bool operator==(const Object&) const = default;
  };

  void hold(const Object& object, const Holding& holding);
  /// The object is about to be freed; nothing for one that holds nothing. Take it before the driver frees it:
  /// its handle may come again at once.
  std::optional<Holding> take(const Object& object);
  /// The context is gone, with all that it held, which is given back.
  void context_gone(const void* context);

 private:
  struct Hash {
    std::size_t operator()(const Object& object) const {
      return std::hash<std::uint64_t>()(object.handle) ^ static_cast<std::size_t>(object.kind);
    }
  };

  const Socket& socket_;
  std::mutex asking_;  // one question at a time
  std::mutex mutex_;   // guards held_
  std::unordered_map<Object, Holding, Hash> held_;
};

}  // namespace fairgv::cuda::direct
