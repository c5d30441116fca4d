// Memory that the program and its kernels have twice, though CUDA says that it is one: __managed__ variables,
// which are the worker's memory, and registered memory, which is the program's and which the worker cannot
// see. Both copies are made equal where the program's calls and the device's work meet (CUDA programming
// guide, "Unified Memory", for devices without concurrent managed access: the host leaves managed memory
// alone while kernels run).
//
// Before a command is sent, what the program has written goes to the device. When a call has waited for work,
// what the device has written comes back. The value that both had last tells which of them has written a
// byte. Programs without such memory pay one look at a pointer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::cuda::remote {

class Connection;
class Stream;
class StreamGroup;

/// One range, and where its two copies are.
struct Mirrored {
  enum class Kind {
    variable,    // the device has the first value
    registered,  // the program has the first value, and may free the memory at any time
    read_only,   // the same; nothing that the device has written comes back
  };
  Kind kind = Kind::variable;
  std::uint64_t program = 0;  // an address here
  std::uint64_t device = 0;
  std::uint64_t size = 0;
};

/// Any thread may call. Copies are waited for with the lock held; they are in streams of their own, and wait
/// for no other work of the program.
class Mirrors {
 public:
  explicit Mirrors(Connection& connection) : connection_(connection) {}
  ~Mirrors();
  Mirrors(const Mirrors&) = delete;
  Mirrors& operator=(const Mirrors&) = delete;

  /// Gives both sides the first value. A range that is known already by its address on the device stays as it
  /// is. `group`: of the context that has the memory.
  CUresult add(const std::shared_ptr<StreamGroup>& group, const Mirrored& range);
  /// The program's copy is not touched any more.
  void remove(std::uint64_t device);

  void to_device();
  void from_device();

 private:
  struct Mirror {
    Mirrored range;
    std::shared_ptr<Stream> stream;
    wire::ArenaRange staged;       // what is on its way: a piece of the range
    std::vector<std::byte> known;  // the value that both sides had last
    bool lost = false;             // the program has freed its memory

    std::byte* here() const { return reinterpret_cast<std::byte*>(range.program); }
  };
  struct Part {
    std::uint64_t begin, end;  // in the range
  };

  /// The unit in which the program's writes are told apart. The device's bytes are told apart one by one.
  static constexpr std::uint64_t kWord = 4;
  /// So many equal bytes are passed over at once.
  static constexpr std::uint64_t kBlock = 4096;
  /// At most so many bytes are on their way at once.
  static constexpr std::uint64_t kPiece = std::uint64_t{4} << 20U;

  bool is_usable(Mirror& mirror);
  bool set_out(Mirror& mirror);
  bool send_all(Mirror& mirror);
  void send(Mirror& mirror);
  bool send_changes(Mirror& mirror, const Part& piece);
  void fetch(Mirror& mirror);
  /// The device's value of a piece, in the arena. False: it did not come.
  bool receive(const Mirror& mirror, const Part& piece);
  /// False: they have failed.
  bool wait_for_copies(const Mirror& mirror);
  bool send_copy(const Mirror& mirror, bool to_device, std::uint64_t staged_at, const Part& part,
                 wire::EventId end);

  Connection& connection_;
  std::mutex lock_;  // guards the mirrors, and the moves
  std::vector<Mirror> mirrors_;
};

}  // namespace fairgv::cuda::remote
