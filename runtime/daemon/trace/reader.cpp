#include "runtime/daemon/trace/reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/json_fields.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::daemon {
namespace {

using session::TracedCall;
using session::TracedCommand;

/// At a time: a worker that writes faster loses records, and the daemon's thread goes on.
constexpr std::uint64_t kMostRecords = 2 * session::kTraceSlots;

bool is_plausible(const TracedCommand& command, std::uint64_t now_ns) {
  return command.kind >= TracedCommand::kLaunch && command.kind <= TracedCommand::kInParts &&
         command.began_ns <= command.ended_ns && command.ended_ns <= now_ns;
}

bool is_plausible(const TracedCall& call, std::uint64_t from_ns, std::uint64_t now_ns) {
  return call.kind >= TracedCall::kAnswered && call.kind <= TracedCall::kWaited && from_ns <= call.began_ns &&
         call.began_ns <= call.ended_ns && call.ended_ns <= now_ns;
}

}  // namespace

TraceReader::TraceReader(SessionId session, const session::TraceMemory& memory, DeviceView devices,
                         std::uint64_t began_ns)
    : session_(session),
      devices_(std::move(devices)),
      began_ns_(began_ns),
      ring_(memory.ring),
      lost_count_(memory.lost),
      lost_before_(memory.lost->load(std::memory_order_relaxed)) {
  control::TraceReport earlier;
  drain(earlier, 0);
  names_ = 0;
}

void TraceReader::drain(control::TraceReport& report, std::uint64_t now_ns) {
  ring::RecordHeader header{};
  std::span<const std::byte> payload;
  for (std::uint64_t count = 0; count < kMostRecords && !broken_; ++count) {
    const auto next = ring_.peek(header, payload);
    if (next == ring::RingConsumer::Next::empty) break;
    broken_ = next == ring::RingConsumer::Next::corrupt;
    if (broken_) break;
    if (header.opcode == session::kNameRecord) {
      take_name(header, payload, report);
    } else if (header.opcode == session::kCommandRecord) {
      take_command(header, payload, report, now_ns);
    } else if (header.opcode == session::kCallRecord) {
      take_call(header, payload, report, now_ns);
    }
    ring_.pop();
  }
  // A count that goes back is nonsense, and only spoils the figure of this session's losses.
  const std::uint64_t lost = lost_count_->load(std::memory_order_relaxed);
  lost_ = std::max(lost_, lost - std::min(lost, lost_before_));
}

void TraceReader::take_name(const ring::RecordHeader& header, std::span<const std::byte> payload,
                            control::TraceReport& report) {
  const bool is_next = header.tag == std::uint64_t{names_} + 1 && header.tag <= session::kMostTracedNames &&
                       payload.size() <= session::kLongestCommandText;
  if (!is_next) return;
  std::string name(payload.size(), '\0');
  std::memcpy(name.data(), payload.data(), payload.size());
  report.names.push_back({session_.value, ++names_, printable(name, session::kLongestCommandText)});
}

void TraceReader::take_command(const ring::RecordHeader& header, std::span<const std::byte> payload,
                               control::TraceReport& report, std::uint64_t now_ns) const {
  TracedCommand command{};
  if (payload.size() != sizeof(command)) return;
  std::memcpy(&command, payload.data(), sizeof(command));
  if (command.device >= devices_.size() || !is_plausible(command, now_ns)) return;
  command.device = static_cast<decltype(command.device)>(devices_.host(command.device));
  report.commands.push_back({session_.value, known_name(header.tag), command});
}

void TraceReader::take_call(const ring::RecordHeader& header, std::span<const std::byte> payload,
                            control::TraceReport& report, std::uint64_t now_ns) const {
  TracedCall call{};
  if (payload.size() != sizeof(call)) return;
  std::memcpy(&call, payload.data(), sizeof(call));
  if (!is_plausible(call, began_ns_, now_ns)) return;
  report.calls.push_back({session_.value, known_name(header.tag), call});
}

}  // namespace fairgv::daemon
