#include "runtime/vgpu/issue/tracer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/session/protocol.hpp"

namespace fairgv::vgpu {
namespace {

using session::TracedCommand;

template <class To>
To saturated(std::uint64_t value) {
  return static_cast<To>(std::min<std::uint64_t>(value, std::numeric_limits<To>::max()));
}

TracedCommand describe(const DeviceCommand& command, TracedCommand::Kind kind) {
  const slicing::Extent groups = command.groups();
  TracedCommand traced{};
  traced.amount = command.is_launch() ? slicing::volume(groups).value_or(0) : command.bytes();
  for (std::size_t d = 0; d < groups.size(); ++d) traced.grid[d] = saturated<std::uint32_t>(groups[d]);
  traced.together = 1;
  traced.device = static_cast<std::uint8_t>(command.lane()->device());
  traced.kind = kind & 0xF;
  traced.waited_for = static_cast<std::uint32_t>(command.waited_for) & 0xF;
  return traced;
}

}  // namespace

Tracer::Tracer(const session::TraceMemory& memory, std::span<session::DeviceTurn> turns)
    : turns_(turns),
      ring_(memory.ring),
      lost_count_(*memory.lost),
      last_ended_ns_(turns.size()),
      first_part_ns_(turns.size()),
      parts_(turns.size()) {}

void Tracer::take_over() {
  ring_.take_over();
  lost_ = lost_count_.load(std::memory_order_relaxed);
}

/// The reader of a new trace has none of the names yet.
void Tracer::begin_trace_if_new(std::uint32_t number) {
  if (number == trace_) return;
  trace_ = number;
  names_.clear();
}

void Tracer::begin_trace_if_new(const DeviceCommand& command) {
  begin_trace_if_new(turns_[command.lane()->device()].tracing.load(std::memory_order_relaxed));
}

/// Calls belong to no device: they are recorded whichever device is traced.
void Tracer::call_ended(std::string_view name, session::TracedCall::Kind kind, std::uint64_t began_ns,
                        std::uint64_t ended_ns) {
  const auto traced = std::find_if(turns_.begin(), turns_.end(), [](const session::DeviceTurn& turn) {
    return turn.tracing.load(std::memory_order_relaxed) != 0;
  });
  if (traced == turns_.end() || began_ns > ended_ns) return;
  begin_trace_if_new(traced->tracing.load(std::memory_order_relaxed));
  write(session::kCallRecord, session::TracedCall{began_ns, ended_ns, kind, 0}, name_number(name));
}

void Tracer::record_part(const DeviceCommand& command, const Slicer::PartUnderWay& part, TimePoint now) {
  begin_trace_if_new(command);
  const std::size_t device = command.lane()->device();
  TracedCommand traced = describe(command, TracedCommand::kPart);
  traced.began_ns = nanoseconds(part.began);
  traced.ended_ns = last_ended_ns_[device] = nanoseconds(now);
  traced.amount = part.blocks;
  traced.part = saturated<std::uint32_t>(part.number);
  parts_[device] = traced.part;
  if (part.number == 1) first_part_ns_[device] = traced.began_ns;
  write(traced, name_number(command.name()));
}

void Tracer::record_end(const DeviceCommand& command, TimePoint now) {
  begin_trace_if_new(command);
  const std::size_t device = command.lane()->device();
  const std::uint32_t name = name_number(command.name());
  if (command.cut) {
    // A trace that began between its parts does not know where the launch began.
    const std::uint32_t parts = std::exchange(parts_[device], 0);
    if (parts == 0 || first_part_ns_[device] == 0) return;
    TracedCommand traced = describe(command, TracedCommand::kInParts);
    traced.part = parts;
    traced.began_ns = std::exchange(first_part_ns_[device], 0);
    traced.ended_ns = nanoseconds(now);
    write(traced, name);
    return;
  }
  ended_.push_back(
      {describe(command, command.is_launch() ? TracedCommand::kLaunch : TracedCommand::kTransfer),
       nanoseconds(command.issued_at), name});
}

/// The device does one after the other, so a command begins when it was issued or the one before it has
/// ended. Drivers report several ends at once: nobody knows then how the time between is divided.
void Tracer::write_batch(TimePoint now) {
  const std::size_t device = ended_.front().command.device;
  const std::uint64_t end = nanoseconds(now);
  const std::uint64_t from = std::min(end, std::max(last_ended_ns_[device], ended_.front().issued_ns));
  const std::uint64_t each = (end - from) / ended_.size();
  std::uint64_t began = from;
  for (Ended& ended : ended_) {
    TracedCommand& command = ended.command;
    command.began_ns = began;
    command.ended_ns = began + each;
    began = command.ended_ns;
    command.delay_us =
        saturated<std::uint32_t>((command.began_ns - std::min(command.began_ns, ended.issued_ns)) / 1000);
    command.together = saturated<std::uint16_t>(ended_.size());
    write(command, ended.name);
  }
  last_ended_ns_[device] = end;
  ended_.clear();
}

std::uint32_t Tracer::name_number(std::string_view name) {
  name = name.substr(0, session::kLongestCommandText);
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  if (names_.size() >= session::kMostTracedNames) return 0;
  const auto number = static_cast<std::uint32_t>(names_.size() + 1);
  if (!write(session::kNameRecord, number, std::as_bytes(std::span(name)))) return 0;
  names_.emplace(name, number);
  return number;
}

bool Tracer::write(std::uint16_t opcode, std::uint64_t tag, std::span<const std::byte> payload) {
  std::byte* const place = ring_.reserve(payload.size());
  if (place == nullptr) {
    lost_count_.store(++lost_, std::memory_order_relaxed);
    return false;
  }
  std::memcpy(place, payload.data(), payload.size());
  ring_.publish(opcode, tag, payload.size());
  return true;
}

}  // namespace fairgv::vgpu
