#include "runtime/daemon/trace/trace.hpp"

#include <utility>

#include "runtime/daemon/sessions/recording.hpp"

namespace fairgv::daemon {
namespace {

using control::TraceReport;

/// The most records kept of sessions that are gone, until somebody asks. Beyond that, everything that a
/// session leaves is lost.
constexpr std::size_t kMostKept = 1'000'000;

template <class Clock>
std::uint64_t ns_of(std::chrono::time_point<Clock, std::chrono::nanoseconds> time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

std::uint64_t now_ns() {
  return ns_of(std::chrono::steady_clock::now());
}

}  // namespace

/// Numbers differ from those of a daemon before this one, which may have traced the same workers.
Trace::Trace(const Subject& subject, Choice choice)
    : subject_(subject),
      choice_(std::move(choice)),
      number_(static_cast<std::uint32_t>(now_ns() >> 10U) | 1U) {
  subject_.dispatch.trace(true);
}

Trace::~Trace() {
  subject_.dispatch.trace(false);
  for (const auto& [id, session] : subject_.sessions.all()) {
    stop_recording(session->turns.page(), session->header.header());
  }
}

bool Trace::chosen(const Session& session) const {
  return (choice_.tenant.empty() || choice_.tenant == session.tenant_name) &&
         (!choice_.only_of || *choice_.only_of == session.account.owner);
}

void Trace::begin(Session& session) {
  known_.insert(session.id);
  next_.sessions.push_back({session.id.value, session.tenant_name, session.peer.pid, session.program});
  const auto memory = session.turns.trace();
  if (!memory) return;  // its worker is of a release that cannot
  readers_.emplace(session.id, TraceReader(session.id, *memory, session.devices, now_ns()));
  const auto device = choice_.device ? session.devices.worker(*choice_.device) : std::nullopt;
  if (choice_.device && !device) return;  // it does not see the device
  start_recording(session.turns.page(), session.header.header(), device, number_);
}

TraceReport Trace::take() {
  for (const auto& [id, session] : subject_.sessions.all()) {
    if (session->stage == Session::Stage::running && !known_.contains(id) && chosen(*session))
      begin(*session);
  }
  for (auto& [id, reader] : readers_) reader.drain(next_, now_ns());
  take_turns();
  take_memory();
  next_.now_ns = now_ns();
  for (const session::DeviceDescription& device : subject_.devices.devices)
    next_.devices.push_back(device.name);
  next_.lost_commands = lost_of_gone_;
  for (const auto& [id, reader] : readers_) next_.lost_commands += reader.lost();
  const std::uint64_t lost_turns = next_.lost_turns;
  TraceReport report = std::exchange(next_, {});
  next_.lost_turns = lost_turns;
  return report;
}

void Trace::take_last(Session& session) {
  const auto found = readers_.find(session.id);
  if (found == readers_.end()) return;
  if (next_.commands.size() + next_.calls.size() + next_.names.size() < kMostKept)
    found->second.drain(next_, now_ns());
  lost_of_gone_ += found->second.lost();
  readers_.erase(found);
}

void Trace::take_turns() {
  const auto by_device = subject_.dispatch.take_traced(next_.lost_turns);
  for (std::uint32_t device = 0; device < by_device.size(); ++device) {
    if (choice_.device && *choice_.device != device) continue;
    for (const TracedTurn& turn : by_device[device]) {
      if (!known_.contains(turn.session)) continue;
      next_.turns.push_back({turn.session.value, device, ns_of(turn.wanted), ns_of(turn.granted),
                             ns_of(turn.ended), static_cast<std::uint64_t>(turn.charged.count()),
                             static_cast<std::uint64_t>(turn.slice.count()), turn.over ? 1U : 0U,
                             turn.promised ? 1U : 0U, static_cast<std::uint64_t>(turn.in_flight.count())});
    }
  }
}

void Trace::take_memory() {
  std::set<std::string> tenants;
  for (const auto& [id, session] : subject_.sessions.all()) {
    if (known_.contains(id)) tenants.insert(session->tenant_name);
  }
  for (const std::string& tenant : tenants) {
    for (std::uint32_t device = 0; device < subject_.memory.devices(); ++device) {
      if (choice_.device && *choice_.device != device) continue;
      next_.memory.push_back({tenant, device, subject_.memory.charged(tenant, device)});
    }
  }
}

}  // namespace fairgv::daemon
