// Memory of graphs' allocation nodes. The driver takes it when an executable graph is launched, and keeps it
// for later launches of any graph until it is told to give it up (CUDA Driver API, "cuDeviceGraphMemTrim").
//
// So all of a graph's allocations are charged while it is executable, as if none took another's place. Those
// that the graph does not free itself may outlive it: they are charged as long as the driver keeps so much.
// It says only one number for all graphs, so that this is too much where others are in use, and never too
// little.
//
// Any thread may call any method.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

namespace fairgv::cuda::direct {

class GraphMemory {
 public:
  using Bytes = std::map<std::uint32_t, std::uint64_t>;  // by device

  /// Of one graph.
  struct Allocations {
    Bytes all;
    Bytes lasting;  // those of them that it does not free
  };

  struct Books {
    /// Whether the tenant may have so many bytes more on the device. Then they are charged.
    std::function<bool(std::uint32_t device, std::uint64_t bytes)> charge;
    std::function<void(std::uint32_t device, std::uint64_t bytes)> give_back;
    /// Has the driver give up what it can of graphs' memory on the device. Returns the bytes that it keeps.
    std::function<std::uint64_t(std::uint32_t device)> trim;
  };
  explicit GraphMemory(Books books) : books_(std::move(books)) {}

  /// A graph with these allocations is about to be made executable. False: it may not, and nothing is
  /// charged.
  bool charge(const Bytes& bytes);
  /// It has been.
  void hold(std::uint64_t executable, Allocations allocations);
  /// The executable graph is about to be destroyed. Take it before: its handle may come again at once.
  Allocations take(std::uint64_t executable);
  /// It was not made executable.
  void give_back(const Bytes& bytes);
  /// It is destroyed.
  void gone(const Allocations& allocations);
  /// Gives back what the driver no longer keeps of graphs that are gone. False: there was nothing.
  bool settle(std::uint32_t device);

 private:
  const Books books_;
  std::mutex mutex_;  // guards all below; not held while the books are asked
  Bytes gone_;        // of destroyed graphs, and still charged
  std::unordered_map<std::uint64_t, Allocations> held_;
};

}  // namespace fairgv::cuda::direct
