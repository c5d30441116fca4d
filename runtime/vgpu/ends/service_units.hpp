// Counts the ends that are units of service (session/service_unit.hpp), where the daemon says which, and
// publishes them on the turn's page before the program can see the end.
//
// While nothing is counted, an end costs a relaxed load. Externally synchronised by the executor's lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/session/turn.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"

namespace fairgv::vgpu {

class ServiceUnits {
 public:
  /// By device; empty: the daemon is of an earlier release, and nothing is counted.
  explicit ServiceUnits(std::span<session::TurnPromise> promises)
      : promises_(promises), units_(promises.size()) {}

  /// A node of a lane has ended. Only one that has ended well counts.
  void note_end(const Node& node) {
    if (promises_.empty()) return;
    const std::uint64_t counted = promises_[node.lane()->device()].counted.load(std::memory_order_relaxed);
    if (counted != 0) count(node, counted);
  }

 private:
  void count(const Node& node, std::uint64_t counted);

  std::span<session::TurnPromise> promises_;
  std::vector<std::uint64_t> units_;  // by device; the page's copy is never read back
};

}  // namespace fairgv::vgpu
