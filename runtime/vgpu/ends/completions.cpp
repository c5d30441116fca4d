#include "runtime/vgpu/ends/completions.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/vgpu/issue/tracer.hpp"
#include "runtime/wire/call_names.hpp"

namespace fairgv::vgpu {

void Completions::collect(TimePoint now, std::uint64_t told_ns) {
  collect_ready();
  collect_ended(now);
  // After the ends: a program that is granted an access may look at once for the commands that ended before
  // it.
  collect_granted();
  if (!events_.ended_waits().empty()) record_waits(now, told_ns);
}

void Completions::collect_granted() {
  for (const NodePtr& node : graph_.newly_granted()) {
    events_.progressed(*node, kRunning);
    node->was_granted();
  }
  graph_.newly_granted().clear();
}

void Completions::collect_ready() {
  if (graph_.newly_ready().empty()) return;
  // Not when it is issued: that may be after other tenants' turns.
  if (const auto since = std::exchange(idle_since_, std::nullopt)) {
    pauses_briefly_ = settings_.now() - *since <= kBriefPause;
  }
  for (NodePtr& node : graph_.newly_ready()) {
    DeviceIssuer& issuer = *issuers_[node->lane()->device()];
    issuer.add(std::static_pointer_cast<DeviceCommand>(std::move(node)));
  }
  graph_.newly_ready().clear();
}

void Completions::collect_ended(TimePoint now) {
  DeviceIssuer* issuer = nullptr;  // simultaneous ends on the device are in one lane
  std::uint64_t commands = 0;
  std::uint64_t launches = 0;
  for (NodePtr& node : graph_.newly_ended()) {
    const CommandTimes* times = nullptr;
    CommandTimes marker_times;
    if (node->was_issued()) {
      auto& command = static_cast<DeviceCommand&>(*node);
      issuer = issuers_[command.lane()->device()].get();
      commands += 1;
      if (command.is_launch()) launches += 1;
      times = command.times();
      if (times != nullptr) node->lane()->last_ended = times->ended;
      issuer->note_end(command, times, now);
      if (settings_.tracer != nullptr) settings_.tracer->ended(command, now);
    } else if (node->lane() != nullptr && node->lane()->clock() != Clock::none) {
      // A marker takes no time: it ends when the command before it has.
      const bool by_device = node->lane()->clock() == Clock::device;
      const std::uint64_t at = by_device ? node->lane()->last_ended : nanoseconds(now);
      marker_times = {at, at, at, at, at};
      times = &marker_times;
    }
    if (node->lane() != nullptr) units_.note_end(*node);  // before the program can see it
    events_.ended(*node, times);
    retired_.push_back(std::move(node));
  }
  graph_.newly_ended().clear();
  std::move(graph_.let_go_of().begin(), graph_.let_go_of().end(), std::back_inserter(retired_));
  graph_.let_go_of().clear();
  if (issuer == nullptr) return;
  if (settings_.tracer != nullptr) settings_.tracer->write_ended(now);
  issuer->completed(commands, launches, now);
}

/// A wait for an access is over when the program says so.
void Completions::record_waits(TimePoint now, std::uint64_t told_ns) {
  for (const EventTable::EndedWait& wait : events_.ended_waits()) {
    const std::uint64_t told = wait.ended_by_program ? told_ns : 0;
    const bool plausible = told >= wait.from_ns && told <= nanoseconds(now);
    settings_.tracer->call_ended(wire::wait_name(wait.as, wait.made_by), session::TracedCall::kWaited,
                                 wait.from_ns, plausible ? told : nanoseconds(now));
  }
  events_.ended_waits().clear();
}

}  // namespace fairgv::vgpu
