#include "runtime/daemon/sessions/processor_watch.hpp"

#include <vector>

namespace fairgv::daemon {

std::optional<std::chrono::nanoseconds> ProcessorWatch::look(Session& session) {
  auto ran = session.worker.group_processor_time();
  if (!ran && session.processor_clock) ran = session.processor_clock->read();
  if (ran) session.ran = *ran += session.ran_before;
  return ran;
}

std::optional<ProcessorWatch::Time> ProcessorWatch::deadline(const Sessions& sessions) const {
  const bool looks = sessions.any_in(Session::Stage::running) && dispatch_.looks().has_host_device();
  return looks ? std::optional(next_) : std::nullopt;
}

void ProcessorWatch::expire(const Sessions& sessions, Time now) {
  if (now < next_ || !dispatch_.looks().has_host_device()) return;
  next_ = now + DispatchLoop::kProcessorLook;
  std::vector<ProcessorTime> times;
  for (const auto& [id, session] : sessions.all()) {
    if (session->stage != Session::Stage::running) continue;
    if (const auto ran = look(*session)) times.push_back({id, *ran});
  }
  if (!times.empty()) dispatch_.account_processors(times);
}

}  // namespace fairgv::daemon
