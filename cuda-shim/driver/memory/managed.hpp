// __managed__ variables of the program's modules. Such a variable is the worker's memory, which this process
// cannot see; the program has a copy of it at the same address, and both are made equal where the program's
// calls and the device's work meet (CUDA programming guide, "Unified Memory", for devices without concurrent
// managed access: the host leaves managed memory alone while kernels run).
//
// Before a command is sent, what the program has written goes to the device. When a call has waited for work,
// what the device has written comes back. The value that both had last tells which of them has written a
// byte. Programs without such variables pay one look at a pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/driver/memory/reservation.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::cuda::remote {

class Connection;
class Stream;
class StreamGroup;

/// Any thread may call. Copies are waited for with the lock held; they are in streams of their own, and wait
/// for no other work of the program.
class ManagedVariables {
 public:
  explicit ManagedVariables(Connection& connection) : connection_(connection) {}
  ~ManagedVariables();
  ManagedVariables(const ManagedVariables&) = delete;
  ManagedVariables& operator=(const ManagedVariables&) = delete;

  /// Gives the program its copy of the bytes in [address, address + size), whose pages `reservation` has.
  CUresult add(const std::shared_ptr<StreamGroup>& group, std::uint64_t address, std::uint64_t size,
               const Reservation& reservation);
  void remove(std::uint64_t address);

  void to_device();
  void from_device();

 private:
  struct Variable {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::shared_ptr<Stream> stream;
    wire::ArenaRange range;        // what is on its way
    std::vector<std::byte> known;  // the value that both sides had last

    std::byte* here() const { return reinterpret_cast<std::byte*>(address); }
  };

  /// The unit in which the program's writes are told apart. The device's bytes are told apart one by one.
  static constexpr std::uint64_t kWord = 4;

  void send(Variable& variable);
  void fetch(Variable& variable);
  /// The device's value, in the arena. False: it did not come.
  bool receive(const Variable& variable);
  void wait_for_copies(const Variable& variable);
  bool send_copy(const Variable& variable, bool to_device, std::uint64_t offset, std::uint64_t bytes,
                 wire::EventId end);

  Connection& connection_;
  std::mutex lock_;  // guards the variables, and the moves
  std::vector<Variable> variables_;
};

}  // namespace fairgv::cuda::remote
