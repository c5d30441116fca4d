// A marker that the program has set as a mark (wire::EnqueueMark): a unit of service when it ends.
#pragma once

#include <memory>
#include <utility>

#include "runtime/vgpu/graph/command_graph.hpp"

namespace fairgv::vgpu {

class Mark final : public Node {
 public:
  /// `number`: of its label (session/service_unit.hpp).
  Mark(std::shared_ptr<Lane> lane, std::int32_t error, std::uint64_t number)
      : Node(Work::marker, std::move(lane), error), number_(number) {}
  std::uint64_t mark() const override { return number_; }

 private:
  const std::uint64_t number_;
};

}  // namespace fairgv::vgpu
