// The process as a direct tenant: its session with the daemon, its devices' gates and its quota. cuInit
// begins it.
//
// It lasts as long as the process, whose last calls may come from static destructors. A fork's child is no
// tenant until it calls cuInit itself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda-shim/direct/cuda.hpp"
#include "cuda-shim/direct/describe.hpp"
#include "cuda-shim/direct/gate.hpp"
#include "cuda-shim/direct/memory/graph_memory.hpp"
#include "cuda-shim/direct/memory/ledger.hpp"
#include "cuda-shim/direct/memory/mappings.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::cuda::direct {

class Tenancy {
 public:
  /// cuInit: makes this process a tenant and starts the driver. Says in one line why it cannot.
  static CUresult begin(unsigned flags);
  /// Null: this process is none, or it ends.
  static Tenancy* current() {
    // Acquire: pairs with the release of begin().
    return g_current.load(std::memory_order_acquire);
  }

  /// The gate of the device on which the stream's commands run; null if the driver does not say. `context`:
  /// the current one.
  Gate* gate_of(CUstream stream, CUcontext context);
  /// The same for a context.
  Gate* gate_of(CUcontext context);
  const std::vector<std::unique_ptr<Gate>>& gates() const { return gates_; }
  /// Whether the program may not use the device, since the daemon has chosen others for it.
  bool is_hidden(const Gate& gate) const;

  /// The primary context of a device, as the program has got it; null: it has not.
  CUcontext primary_of(CUdevice device) const;
  void note_primary(CUdevice device, CUcontext context);

  Ledger& ledger() { return ledger_; }
  Mappings& mappings() { return mappings_; }
  GraphMemory& graph_memory() { return graph_memory_; }
  /// Whether the tenant may have so many bytes more on the device. Then they are charged. Bytes may be on
  /// their way back, of graphs that are gone or where a stream frees them: a refusal waits for them once.
  bool charge(std::uint32_t device, std::uint64_t bytes);
  /// By device: the bytes that the tenant may hold.
  const std::vector<std::uint64_t>& memory_limits() const { return welcome_.memory_limits; }

  /// Captures of streams in progress, however many.
  std::atomic<std::uint32_t> captures{0};
  /// Changes whenever a handle of a stream or context may begin to mean another one.
  std::atomic<std::uint32_t> handles{0};

 private:
  struct Ends {
    session::DirectEnds told;
    session::TurnMemory turns;
    Socket channel, ledger;
    UniqueFd knock;
  };

  Tenancy(Socket socket, Ends ends, ring::HeaderView header, session::Welcome welcome,
          const DescribedDevices& devices);
  static Result<std::unique_ptr<Tenancy>> make(unsigned flags, CUresult& code);
  static Result<Ends> receive_ends(const Socket& socket);
  void make_gates(const DescribedDevices& devices);
  void start_threads();
  void watch_socket();
  void tell_loss();
  GraphMemory::Books books_of_graphs();
  /// Waits for a moment for commands that free memory in their streams' order. False: none do.
  bool await_frees(std::uint32_t device);
  static void in_child();
  static void at_exit();

  static std::atomic<Tenancy*> g_current;

  Socket socket_;
  Ends ends_;
  ring::HeaderView header_;
  session::Welcome welcome_;
  Ledger ledger_;
  Mappings mappings_{ledger_};
  GraphMemory graph_memory_{books_of_graphs()};
  std::vector<std::unique_ptr<Gate>> gates_;  // by ordinal
  std::array<std::atomic<CUcontext>, session::kMaxDevices>
      primaries_{};                     // relaxed: the driver orders their lives
  std::atomic<bool> told_loss_{false};  // relaxed: one line is enough
};

}  // namespace fairgv::cuda::direct
