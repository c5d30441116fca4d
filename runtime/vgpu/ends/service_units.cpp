#include "runtime/vgpu/ends/service_units.hpp"

#include "runtime/session/service_unit.hpp"
#include "runtime/vgpu/graph/device_command.hpp"

namespace fairgv::vgpu {
namespace {

using UnitKind = session::ServiceUnit::Kind;

constexpr std::uint64_t kAnyMark = session::number_of(UnitKind::marks, {});

bool is_counted(const Node& node, std::uint64_t counted) {
  if (session::kind_of(counted) == UnitKind::marks) {
    return node.mark() != 0 && (counted == kAnyMark || counted == node.mark());
  }
  if (session::kind_of(counted) != UnitKind::kernel || !node.was_issued()) return false;
  const auto& command = static_cast<const DeviceCommand&>(node);
  return command.is_launch() && session::number_of(UnitKind::kernel, command.name()) == counted;
}

}  // namespace

void ServiceUnits::count(const Node& node, std::uint64_t counted) {
  if (node.status() < 0 || !is_counted(node, counted)) return;
  const std::size_t device = node.lane()->device();
  promises_[device].units.store(++units_[device], std::memory_order_relaxed);
}

}  // namespace fairgv::vgpu
