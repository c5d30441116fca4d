// A random CUDA program while it runs: its objects, and the order of its commands.
//
// The results of a program follow from its seed alone. So a command never begins before all earlier ones that
// touch the same memory have ended, unless both only read: the world counts each stream's commands, knows
// how far each stream waits for each other, and adds an event where one does not yet wait for long enough.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/moves/executor/results.hpp"
#include "tests/moves/plan/random.hpp"

namespace fairgv::moves::cuda {

/// Throws if the call has failed.
inline void check(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return;
  const char* name = nullptr;
  (void)cuGetErrorName(code, &name);
  throw std::runtime_error(std::string(call) + ": " + (name == nullptr ? "an unknown error" : name));
}
#define FAIRGV_CHECKED(call) ::fairgv::moves::cuda::check(call, #call)

using Number = std::size_t;

/// The work of a thread of the program: it is a stream of its own here, which waits for itself.
inline constexpr Number kHost = 0;
/// Copies from memory that is not pinned return before they have ended there.
inline constexpr Number kDefaultStream = 1;

/// Anything that commands read and write, as one.
struct Resource {
  struct Use {
    Number stream = 0;
    std::uint64_t mark = 0;  // the stream's so many-th command
  };
  std::optional<Use> written;
  std::vector<Use> read;    // since then
  std::size_t holders = 0;  // graphs and variables that name it: it cannot go before them

  Resource() = default;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  virtual ~Resource() = default;
};

struct Buffer : Resource {
  enum class Kind { device, managed, pinned, of_stream, mapped };
  Kind kind = Kind::device;
  CUdeviceptr address = 0;
  std::uint32_t* host = nullptr;  // managed and pinned memory
  std::uint32_t numbers = 0;
  CUmemGenericAllocationHandle physical = 0;  // of one that is mapped
  std::size_t mapped_bytes = 0;

  std::size_t bytes() const { return std::size_t{numbers} * sizeof(std::uint32_t); }
};

struct Image : Resource {
  CUarray array = nullptr;
  CUsurfObject surface = 0;
  CUtexObject texture = 0;
  unsigned height = 0;
};

struct Module : Resource {
  CUmodule module = nullptr;
  CUdeviceptr counter = 0, constant = 0;
  std::shared_ptr<Buffer> placed;  // whose address its variable `place` has

  CUfunction function(const char* name) const {
    CUfunction found = nullptr;
    check(cuModuleGetFunction(&found, module, name), name);
    return found;
  }
};

/// Numbers in the program's memory that functions of the host change.
struct Cell : Resource {
  std::uint32_t value = 0;
};

/// A command, for a stream or for a graph.
struct Command {
  std::function<void(CUstream)> issue;
  std::vector<std::shared_ptr<Resource>> reads, writes;
};

struct Graph : Resource {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  std::vector<Command> commands;
  std::vector<std::shared_ptr<Resource>> touched;
  CUgraphNode changeable = nullptr;  // a kernel whose arguments can be others; null: none
  std::shared_ptr<Buffer> changeable_data;
  CUfunction changeable_function = nullptr;
};

/// An event that the program keeps, and what has ended when it has.
struct KeptEvent {
  CUevent event = nullptr;
  std::vector<std::uint64_t> ended;
};

class World {
 public:
  World(std::uint64_t seed, bool details);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Random random;
  Results results;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<std::shared_ptr<Image>> images;
  std::vector<std::shared_ptr<Module>> modules;
  std::vector<std::shared_ptr<Cell>> cells;
  std::vector<std::shared_ptr<Graph>> graphs;
  std::vector<KeptEvent> events;
  std::uint32_t said = 0;  // lines that kernels were told to print

  // ---- streams

  Number add_stream(unsigned flags);
  /// Of those that are there.
  Number any_stream();
  std::size_t stream_count() const;
  CUstream handle(Number stream) const { return streams_[stream].handle; }
  void destroy_stream(Number stream);

  // ---- the order of commands

  /// The next command of the stream reads and writes these.
  void begin(Number stream, const std::vector<std::shared_ptr<Resource>>& reads,
             const std::vector<std::shared_ptr<Resource>>& writes);
  void enqueue(Number stream, const Command& command);
  /// The program itself is to read, or to write and free, the resource now.
  void begin_on_host(const Resource& resource, bool writes);
  void synchronize(Number stream);
  void synchronize_all();
  KeptEvent record(Number stream);
  void wait_for(const KeptEvent& event);
  void make_wait(Number stream, const KeptEvent& event);

  // ---- gates: words for which streams wait, until the program opens them

  void make_gate(Number stream);
  /// Before any call that may wait for commands.
  void open_gates();

  /// An element that nothing holds, or null.
  template <class T>
  std::shared_ptr<T> any_free(const std::vector<std::shared_ptr<T>>& all) {
    std::vector<std::shared_ptr<T>> list;
    for (const auto& each : all) {
      if (each->holders == 0) list.push_back(each);
    }
    return list.empty() ? nullptr : random.of(list);
  }

 private:
  struct Stream {
    CUstream handle = nullptr;
    bool is_there = true;
    std::uint64_t issued = 0;
    std::vector<std::uint64_t> ended;  // of each stream: how many commands have ended before its next one
  };

  bool is_after(Number stream, const Resource::Use& use) const;
  void order_after(Number stream, const Resource::Use& use);
  static void join(std::vector<std::uint64_t>& into, const std::vector<std::uint64_t>& from);
  static std::uint64_t at(const std::vector<std::uint64_t>& marks, Number stream);

  std::vector<Stream> streams_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream opener_ = nullptr;
  CUdeviceptr gate_words_ = 0;
  std::uint32_t gates_ = 0, opened_ = 0;
};

/// Carries out so many random steps in at least that time, and prints the results.
void run(std::uint64_t seed, std::size_t steps, std::uint64_t stretch_ms, bool details);

}  // namespace fairgv::moves::cuda
