#include "sched/simulator/host.hpp"

#include <algorithm>
#include <stdexcept>

namespace fairgv::sched {

SimulatedHost::SimulatedHost(const HostModel& model, EventQueue& events)
    : model_(model), events_(events), processors_(model.processors) {}

SimulatedHost::Thread SimulatedHost::add(const TenantSpec& spec, std::size_t device, std::size_t session) {
  if (spec.processor >= processors_.size()) throw std::invalid_argument("the host has too few processors");
  const Thread thread = threads_.size();
  threads_.push_back({.device = device,
                      .session = session,
                      .processor = spec.processor,
                      .weight = std::max(spec.attributes.host_weight, 1U)});
  processors_[spec.processor].threads.push_back(thread);
  return thread;
}

void SimulatedHost::start(Time now) {
  for (Processor& processor : processors_) {
    for (const Thread thread : processor.threads) threads_[thread].active = true;
    processor.paid_until = now;
    hand_out(processor);
  }
  events_.schedule({now, SimulationEvent::Kind::host_tick, 0, 0});
}

void SimulatedHost::work(Thread thread, Duration time, Time now) {
  settle(processors_[threads_[thread].processor], now);
  threads_[thread].left = std::max(time, Duration(1));
  need(thread, Need::work, now);
}

bool SimulatedHost::finished(Thread thread, Time now) {
  settle(processors_[threads_[thread].processor], now);
  return threads_[thread].need == Need::work && threads_[thread].left <= Duration(0);
}

void SimulatedHost::wait(Thread thread, Time now) {
  need(thread, model_.polls || threads_[thread].switched_in ? Need::poll : Need::nothing, now);
}

void SimulatedHost::sleep(Thread thread, Time now) {
  need(thread, Need::nothing, now);
}

void SimulatedHost::switch_in(Thread thread, Time now) {
  threads_[thread].switched_in = true;
  if (threads_[thread].need == Need::nothing) need(thread, Need::poll, now);
}

void SimulatedHost::switch_out(Thread thread, Time now) {
  if (!threads_[thread].switched_in) return;
  threads_[thread].switched_in = false;
  if (threads_[thread].need == Need::poll && !model_.polls) need(thread, Need::nothing, now);
}

void SimulatedHost::tick(Time now) {
  since_hand_out_ += model_.tick;
  const bool period = since_hand_out_ >= model_.period;
  if (period) since_hand_out_ = Duration(0);
  for (Processor& processor : processors_) {
    settle(processor, now);
    if (period) hand_out(processor);
    for (const Thread thread : processor.threads) {
      threads_[thread].boosted = false;
      threads_[thread].over = threads_[thread].credit <= Duration(0);
    }
    reschedule(processor, now);
  }
  events_.schedule({now + model_.tick, SimulationEvent::Kind::host_tick, 0, 0});
}

HostState SimulatedHost::state(Thread thread) const {
  const ThreadState& state = threads_[thread];
  return {processors_[state.processor].running == thread, state.credit};
}

void SimulatedHost::need(Thread thread, Need what, Time now) {
  ThreadState& state = threads_[thread];
  Processor& processor = processors_[state.processor];
  settle(processor, now);
  const bool woke = state.need == Need::nothing && what != Need::nothing;
  state.need = what;
  if (woke) {
    state.active = true;
    state.boosted = what == Need::work && !state.over;
    processor.queue.push_back(thread);
  } else if (what == Need::nothing) {
    std::erase(processor.queue, thread);
    if (processor.running == thread) processor.running.reset();
  }
  reschedule(processor, now);
}

/// The lowest goes first.
int SimulatedHost::rank(const ThreadState& thread) const {
  if (thread.switched_in && !model_.polls) return thread.need == Need::work ? 0 : 4;
  if (thread.boosted) return 1;
  return thread.over ? 3 : 2;
}

/// The running thread pays, and its work is done, up to now.
void SimulatedHost::settle(Processor& processor, Time now) {
  const Duration passed = now - processor.paid_until;
  processor.paid_until = now;
  if (!processor.running) return;
  ThreadState& thread = threads_[*processor.running];
  thread.credit = std::max(thread.credit - passed, -model_.period);
  if (now <= processor.runs_from) return;
  thread.left -= now - processor.runs_from;
  processor.runs_from = now;
}

void SimulatedHost::reschedule(Processor& processor, Time now) {
  if (processor.running && !processor.queue.empty()) {
    const ThreadState& running = threads_[*processor.running];
    const auto better = std::any_of(processor.queue.begin(), processor.queue.end(),
                                    [&](Thread other) { return rank(threads_[other]) < rank(running); });
    if (better || now >= processor.slice_ends) {
      processor.queue.push_back(*processor.running);
      processor.running.reset();
    }
  }
  if (!processor.running) dispatch(processor, now);
  plan_end(processor, now);
}

void SimulatedHost::dispatch(Processor& processor, Time now) {
  if (processor.queue.empty()) return;
  const auto next =
      std::min_element(processor.queue.begin(), processor.queue.end(),
                       [this](Thread a, Thread b) { return rank(threads_[a]) < rank(threads_[b]); });
  processor.running = *next;
  processor.queue.erase(next);
  processor.runs_from = now + model_.switch_cost;
  processor.slice_ends = now + model_.period;
}

void SimulatedHost::plan_end(const Processor& processor, Time now) {
  if (!processor.running) return;
  const ThreadState& thread = threads_[*processor.running];
  if (thread.need != Need::work) return;
  const Time ends = std::max(processor.runs_from, now) + thread.left;
  events_.schedule({ends, SimulationEvent::Kind::host_work_ends, thread.device, thread.session});
}

void SimulatedHost::hand_out(Processor& processor) {
  std::int64_t weights = 0;
  for (const Thread thread : processor.threads) {
    if (threads_[thread].active) weights += threads_[thread].weight;
  }
  for (const Thread thread : processor.threads) {
    ThreadState& state = threads_[thread];
    if (!state.active) continue;
    state.credit =
        std::min(state.credit + model_.period * std::int64_t{state.weight} / weights, model_.period);
    state.active = state.need != Need::nothing;
  }
}

}  // namespace fairgv::sched
