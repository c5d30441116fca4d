#include "runtime/daemon/trace.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/session/json_fields.hpp"

namespace fairgv::daemon {
namespace {

using session::TracedCommand;
using session::TraceReport;

/// Of one session at a time: who writes faster loses records and not the daemon's thread.
constexpr std::uint64_t kMostRecords = 2 * session::kTraceSlots;

template <class Clock>
std::uint64_t ns_of(std::chrono::time_point<Clock, std::chrono::nanoseconds> time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

std::uint64_t now_ns() {
  return ns_of(std::chrono::steady_clock::now());
}

void set_recording(session::TurnPage& page, std::optional<std::uint32_t> device, std::uint32_t number) {
  for (std::uint32_t index = 0; index < session::kMaxDevices; ++index) {
    const bool wanted = !device || *device == index;
    page.devices[index].tracing.store(wanted ? number : 0, std::memory_order_relaxed);
  }
}

bool plausible(const TracedCommand& command) {
  return command.kind >= TracedCommand::kLaunch && command.kind <= TracedCommand::kInParts &&
         command.device < session::kMaxDevices && command.began_ns <= command.ended_ns &&
         command.ended_ns <= now_ns();
}

}  // namespace

void stop_recording(session::TurnPage& page) {
  set_recording(page, std::nullopt, 0);
}

/// Numbers differ from those of a daemon before this one, which may have traced the same workers.
Trace::Trace(Host& host, const SessionTable& sessions, Choice choice)
    : host_(host),
      sessions_(sessions),
      choice_(std::move(choice)),
      number_(static_cast<std::uint32_t>(now_ns() >> 10U) | 1U) {
  host_.trace = this;
  host_.dispatch.trace(true);
}

Trace::~Trace() {
  host_.dispatch.trace(false);
  host_.trace = nullptr;
  for (const auto& [id, session] : sessions_.all()) stop_recording(session->turns.page());
}

bool Trace::chosen(const Session& session) const {
  return (choice_.tenant.empty() || choice_.tenant == session.tenant_name) &&
         (!choice_.only_of || *choice_.only_of == session.peer.uid);
}

void Trace::begin(Session& session) {
  known_.insert(session.id);
  next_.sessions.push_back({session.id.value, session.tenant_name, session.peer.pid, session.program});
  const auto memory = session.turns.trace();
  if (!memory) return;  // its worker is of a release that cannot
  Reader reader{ring::RingConsumer(memory->ring), memory->lost,
                memory->lost->load(std::memory_order_relaxed)};
  drain(session.id, reader);  // what an earlier trace has left
  next_.commands.clear();
  next_.names.clear();
  reader.names = 0;
  readers_.emplace(session.id, reader);
  set_recording(session.turns.page(), choice_.device, number_);
}

TraceReport Trace::take() {
  // First, since it forgets what was left in their rings: nothing of this trace is there yet.
  std::vector<Session*> fresh;
  for (const auto& [id, session] : sessions_.all()) {
    if (session->stage == Session::Stage::running && !known_.contains(id) && chosen(*session)) {
      fresh.push_back(session.get());
    }
  }
  TraceReport kept = std::exchange(next_, {});
  for (Session* session : fresh) begin(*session);
  kept.sessions.insert(kept.sessions.end(), next_.sessions.begin(), next_.sessions.end());
  next_ = std::move(kept);
  for (auto& [id, reader] : readers_) drain(id, reader);
  take_turns();
  take_memory();
  next_.now_ns = now_ns();
  for (const session::DeviceDescription& device : host_.devices) next_.devices.push_back(device.name);
  next_.lost_commands = lost_of_gone_;
  for (const auto& [id, reader] : readers_) next_.lost_commands += reader.lost;
  const std::uint64_t lost_turns = next_.lost_turns;
  TraceReport report = std::exchange(next_, {});
  next_.lost_turns = lost_turns;
  return report;
}

void Trace::take_last(Session& session) {
  const auto found = readers_.find(session.id);
  if (found == readers_.end()) return;
  drain(session.id, found->second);
  lost_of_gone_ += found->second.lost;
  readers_.erase(found);
}

void Trace::drain(SessionId id, Reader& reader) {
  ring::RecordHeader header{};
  std::span<const std::byte> payload;
  for (std::uint64_t count = 0; count < kMostRecords && !reader.broken; ++count) {
    const auto next = reader.ring.peek(header, payload);
    if (next == ring::RingConsumer::Next::empty) break;
    reader.broken = next == ring::RingConsumer::Next::corrupt;
    if (reader.broken) break;
    take_record(id, reader, header, payload);
    reader.ring.pop();
  }
  // A count that goes back is nonsense; it can only harm what is said of this session's losses.
  const std::uint64_t lost = reader.lost_count->load(std::memory_order_relaxed);
  reader.lost = std::max(reader.lost, lost - std::min(lost, reader.lost_before));
}

void Trace::take_record(SessionId id, Reader& reader, const ring::RecordHeader& header,
                        std::span<const std::byte> payload) {
  if (header.opcode == session::kCommandRecord) return take_command(id, reader, header.tag, payload);
  const bool next_name = header.opcode == session::kNameRecord && header.tag == reader.names + 1 &&
                         header.tag <= session::kMostTracedNames &&
                         payload.size() <= session::kLongestCommandText;
  if (!next_name) return;
  std::string name(payload.size(), '\0');
  std::memcpy(name.data(), payload.data(), payload.size());
  next_.names.push_back({id.value, ++reader.names, session::printable(name, session::kLongestCommandText)});
}

void Trace::take_command(SessionId id, Reader& reader, std::uint64_t name,
                         std::span<const std::byte> payload) {
  TracedCommand command{};
  if (payload.size() != sizeof(command)) return;
  std::memcpy(&command, payload.data(), sizeof(command));
  if (!plausible(command)) return;
  next_.commands.push_back({id.value, name <= reader.names ? static_cast<std::uint32_t>(name) : 0U, command});
}

void Trace::take_turns() {
  const auto by_device = host_.dispatch.take_traced(next_.lost_turns);
  for (std::uint32_t device = 0; device < by_device.size(); ++device) {
    if (choice_.device && *choice_.device != device) continue;
    for (const TracedTurn& turn : by_device[device]) {
      if (!known_.contains(turn.session)) continue;
      next_.turns.push_back({turn.session.value, device, ns_of(turn.wanted), ns_of(turn.granted),
                             ns_of(turn.ended), static_cast<std::uint64_t>(turn.charged.count()),
                             static_cast<std::uint64_t>(turn.slice.count()), turn.over});
    }
  }
}

void Trace::take_memory() {
  std::set<std::string> tenants;
  for (const auto& [id, session] : sessions_.all()) {
    if (known_.contains(id)) tenants.insert(session->tenant_name);
  }
  for (const std::string& tenant : tenants) {
    for (std::uint32_t device = 0; device < host_.memory.ledger().devices(); ++device) {
      if (choice_.device && *choice_.device != device) continue;
      next_.memory.push_back({tenant, device, host_.memory.ledger().charged(tenant, device)});
    }
  }
}

}  // namespace fairgv::daemon
