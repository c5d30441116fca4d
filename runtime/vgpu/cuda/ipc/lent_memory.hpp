// Memory that this session lends to other sessions of its user, and memory that it borrows from them.
//
// A program's handle is a ticket (runtime/base/exchange), and the driver's own handle is what the ticket is
// good for: it never reaches a program, and the other session's worker opens it. That worker keeps its
// connection for as long as it has the memory open, so that this one knows when the last has let go: until
// then the memory is charged to this session, even if the program has freed it.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/base/exchange/exchange.hpp"
#include "runtime/vgpu/cuda/driver.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/wire/calls/cuda/ipc.hpp"

namespace fairgv::vgpu::cuda {

struct Context;

/// The loop thread's.
class LentMemory {
 public:
  /// It outlives this.
  explicit LentMemory(const Functions& driver) : driver_(driver) {}

  /// The memory begins at `address`, in a context that is current.
  CUresult lend(std::uint64_t address, wire::cuda::IpcHandle& handle);
  /// The driver has freed the memory, lent or not: the charge lasts until nobody else has it.
  void freed(std::uint64_t address, MemoryCharge charge);
  /// Gives up the charges of memory that is gone by now.
  void settle();

  /// Opens another session's memory in a context that is current.
  CUresult borrow(const std::shared_ptr<Context>& context, const wire::cuda::IpcHandle& handle,
                  std::uint64_t& address, std::uint64_t& bytes);
  /// False: nothing is borrowed there.
  bool give_back(std::uint64_t address);
  std::size_t borrowed() const { return borrowed_.size(); }
  /// Whether other sessions have memory of this one, or could have, or the other way round.
  bool is_in_use() const { return !lent_.empty() || !kept_.empty() || !borrowed_.empty(); }

 private:
  struct Borrowed {
    std::shared_ptr<Context> context;
    Socket hold;  // of the lender's worker
  };
  struct Kept {
    Ticket ticket;
    MemoryCharge charge;
  };

  const Functions& driver_;
  std::unordered_map<std::uint64_t, Ticket> lent_;   // by address
  std::vector<Kept> kept_;                           // freed, and held by others
  std::multimap<std::uint64_t, Borrowed> borrowed_;  // by address; opened again, it may be there again
  /// Somebody has let go. Release by the exchange's thread, acquire by settle().
  std::atomic<bool> let_go_{false};
  std::unique_ptr<Exchange> exchange_;  // made when first needed; its thread ends first
};

}  // namespace fairgv::vgpu::cuda
