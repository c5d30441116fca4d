#include "sched/simulator/device.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::sched {
namespace {

using Kind = SimulationEvent::Kind;

/// How the worker's history knows the command.
CommandKind kind_of(const Command& command) {
  return command.shape.kind ^ (command.shape.size * 0x9e3779b97f4a7c15);
}

/// Seeds of neighbours must not look alike (splitmix64).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

SimulatedDevice::SimulatedDevice(const Model& model, std::unique_ptr<Policy> policy,
                                 const std::vector<TenantSpec>& tenants, std::uint64_t seed,
                                 EventQueue& events, SimulatedHost* host)
    : model_(model), policy_(std::move(policy)), events_(events), host_(host), waiting_(tenants.size()) {
  outcome_.tenants.resize(tenants.size());
  for (std::size_t tenant = 0; tenant < tenants.size(); ++tenant) {
    kernels_.push_back(mean_cost(tenants[tenant]));
    attributes_.push_back(tenants[tenant].attributes);
    policy_->add(id_of(tenant), tenants[tenant].attributes, Time{} + tenants[tenant].arrives);
    for (std::uint32_t i = 0; i < tenants[tenant].sessions; ++i) {
      const std::uint64_t own_seed = mix(mix(mix(seed) ^ model.index) ^ sessions_.size());
      const auto thread = host_ != nullptr ? host_->add(tenants[tenant], model.index, sessions_.size()) : 0;
      sessions_.push_back({.tenant = tenant,
                           .program = Program(tenants[tenant], own_seed),
                           .arrives = tenants[tenant].arrives,
                           .thread = thread});
    }
  }
}

void SimulatedDevice::start(Time now) {
  accounted_ = outcome_.now = now;
  for (std::size_t session = 0; session < sessions_.size(); ++session) {
    if (sessions_[session].arrives == Duration(0)) {
      want(session, now);
    } else {
      events_.schedule({now + sessions_[session].arrives, Kind::program_wakes, model_.index, session});
    }
  }
}

void SimulatedDevice::handle(const SimulationEvent& event) {
  account(event.when);
  turn_ended_ = false;
  switch (event.kind) {
    case Kind::program_wakes:
      return program_wakes(event.subject, event.when);
    case Kind::host_work_ends:
      if (host_->finished(sessions_[event.subject].thread, event.when)) want(event.subject, event.when);
      return;
    case Kind::spin_ends:
      if (turn_ && turn_->spins_until == event.when) end_turn(event.when);
      return;
    case Kind::host_tick:
      return;  // the simulation's
    case Kind::run_ends:
      return finish_run(event.when);
    case Kind::ask_again:
      if (ask_at_ != event.when) return;  // something happened before
      ask_at_.reset();
      stop_keeping(event.when);
      if (!turn_) grant_next(event.when);
      return;
    case Kind::review:
      if (review_at_ != event.when) return;
      review_at_.reset();
      return review(event.when);
  }
}

void SimulatedDevice::set_attributes(std::size_t tenant, const TenantAttributes& attributes, Time now) {
  account(now);
  attributes_[tenant] = attributes;
  policy_->set_attributes(id_of(tenant), attributes, now);
  if (turn_) {
    review(now);
  } else if (waiters_ > 0 && !kept_for_) {
    grant_next(now);
  }
}

/// Asks the policy whether the holder is to give its turn back; what is in flight ends first.
void SimulatedDevice::review(Time now) {
  if (!turn_) return;
  if (policy_->must_yield(turn_->turn.tenant, now)) turn_->asked_from = now;
  if (turn_->spins_until && slice_is_over(now)) return end_turn(now);
  plan_review(now);
}

void SimulatedDevice::hear_of_host(Time now) {
  account(now);
  std::vector<HostState> states(outcome_.tenants.size());
  for (const Session& session : sessions_) {
    const HostState state = host_->state(session.thread);
    states[session.tenant].scheduled |= state.scheduled;
    states[session.tenant].credit_left += state.credit_left;
  }
  for (std::size_t tenant = 0; tenant < states.size(); ++tenant) {
    policy_->host(id_of(tenant), states[tenant], now);
  }
  review(now);
}

void SimulatedDevice::plan_review(Time now) {
  const auto at = turn_ ? policy_->review_at(turn_->turn.tenant, now) : std::nullopt;
  if (!at || at == review_at_) return;
  review_at_ = std::max(*at, now + Duration(1));  // time must pass
  events_.schedule({*review_at_, Kind::review, model_.index});
}

void SimulatedDevice::account(Time now) {
  const Duration passed = now - accounted_;
  accounted_ = outcome_.now = now;
  if (turn_ && !turn_->spins_until) {
    outcome_.busy += passed;
  } else if (waiters_ > 0) {
    outcome_.idle_though_wanted += passed;
  }
}

void SimulatedDevice::program_wakes(std::size_t session, Time now) {
  const Duration work = host_ != nullptr ? sessions_[session].program.host_work() : Duration(0);
  if (work > Duration(0)) {
    host_->work(sessions_[session].thread, work, now);
  } else {
    want(session, now);
  }
}

/// Its burst has ended: the program sleeps, works on the host, and comes back.
void SimulatedDevice::rest_program(std::size_t session, Time now) {
  const Duration response = now - sessions_[session].burst_since;
  outcome_.tenants[sessions_[session].tenant].responses.push_back(response);
  outcome_.tenants[sessions_[session].tenant].finished.push_back(now);
  Duration sleep = sessions_[session].program.sleep(response);
  if (host_ == nullptr) {
    sleep += sessions_[session].program.host_work();
  } else if (sleep > Duration(0)) {
    host_->sleep(sessions_[session].thread, now);
  } else if (const Duration work = sessions_[session].program.host_work(); work > Duration(0)) {
    return host_->work(sessions_[session].thread, work, now);
  }
  events_.schedule({now + sleep, Kind::program_wakes, model_.index, session});
}

/// The program has come back while its worker waited for it.
void SimulatedDevice::resume(Time now) {
  turn_->spins_until.reset();
  if (slice_is_over(now)) return end_turn(now);
  issue_run(now);
}

void SimulatedDevice::want(std::size_t session, Time now) {
  const std::size_t tenant = sessions_[session].tenant;
  sessions_[session].burst_since = now;
  if (host_ != nullptr) host_->wait(sessions_[session].thread, now);
  if (turn_ && turn_->session == session) return resume(now);
  if (free_since_) policy_->rest(now - *std::exchange(free_since_, std::nullopt), now);
  start_waiting(session, now);
  tell_cost(tenant, now);
  policy_->wake(id_of(tenant), now);
  if (turn_) {
    const TenantId holder = id_of(sessions_[turn_->session].tenant);
    // A turn without an end that is not measured ends with its slice.
    if (turn_->alone && !turn_->plan && turn_->turn.end == TurnEnd::measured) turn_->asked_from = now;
    if (const auto from = policy_->preempts(id_of(tenant), holder, now)) {
      turn_->asked_from = std::min(turn_->asked_from.value_or(Time::max()), *from);
    }
    review(now);
  } else if (!kept_for_ || *kept_for_ == tenant ||
             policy_->preempts(id_of(tenant), id_of(*kept_for_), now).value_or(Time::max()) <= now) {
    stop_keeping(now);
    grant_next(now);
  }
}

void SimulatedDevice::start_waiting(std::size_t session, Time now) {
  sessions_[session].wanting_since = now;
  auto& waiting = waiting_[sessions_[session].tenant];
  if (waiting.empty()) ++wanting_;
  waiting.push_back(session);
  ++waiters_;
}

void SimulatedDevice::block_if_idle(std::size_t tenant, Time now) {
  if (!waiting_[tenant].empty() || kept_for_ == tenant) return;
  if (turn_ && sessions_[turn_->session].tenant == tenant) return;
  outcome_.tenants[tenant].always_runnable = false;
  policy_->block(id_of(tenant), now);
}

void SimulatedDevice::grant_next(Time now) {
  ask_at_.reset();
  if (waiters_ == 0) {
    free_since_ = now;
    return;
  }
  policy_->set_slice(model_.slices.of(wanting_));
  const Decision decision = policy_->next(now);
  if (!decision.turn) {
    ask_at_ = decision.ask_again;
    if (ask_at_) events_.schedule({*ask_at_, Kind::ask_again, model_.index});
    return;
  }
  const std::size_t tenant = decision.turn->tenant.value;
  const std::size_t session = waiting_[tenant].front();
  waiting_[tenant].pop_front();
  if (waiting_[tenant].empty()) --wanting_;
  --waiters_;
  outcome_.tenants[tenant].waits.push_back(now - sessions_[session].wanting_since);
  turn_.emplace(session, *decision.turn, now, waiters_ == 0);
  if (host_ != nullptr && turn_->turn.switch_in && sessions_[session].program.has_bursts()) {
    host_->switch_in(sessions_[session].thread, now);
  }
  const bool ends = !turn_->alone || turn_->turn.bounded;
  if (ends && turn_->turn.end == TurnEnd::measured)
    turn_->plan.emplace(turn_->turn.slice, sessions_[session].history, turn_->turn.in_flight);
  policy_->begin(turn_->turn.tenant, now);
  plan_review(now);
  issue_run(now);
}

bool SimulatedDevice::may_issue(std::uint64_t in_flight) {
  if (too_costly() || (turn_->turn.depth > 0 && in_flight >= turn_->turn.depth)) return false;
  if (turn_->plan) {
    return turn_->plan->admits(kind_of(sessions_[turn_->session].program.next())) &&
           in_flight < turn_->plan->most_in_flight();
  }
  if (turn_->turn.end == TurnEnd::clock) return in_flight < model_.queue_depth;
  // The bound of a worker on a lone program's commands in flight (runtime/vgpu/turn/turn_meter.hpp).
  const Duration alone = model_.slices.alone();
  const Duration bound = turn_->turn.in_flight > Duration(0) ? std::min(turn_->turn.in_flight, alone) : alone;
  const Duration kernel = std::max(kernels_[turn_->turn.tenant.value], Duration(1));
  return in_flight < std::clamp(static_cast<std::uint64_t>(bound / kernel), TurnPlan::kLeastInFlight,
                                TurnPlan::kMostInFlight);
}

void SimulatedDevice::issue_run(Time now) {
  Program& program = sessions_[turn_->session].program;
  turn_->run = Duration(0);
  program.advance(now);
  for (std::uint64_t issued = 0; program.ready() > 0 && may_issue(issued); ++issued) {
    turn_->run += issue_command();
  }
  events_.schedule({run_noticed(now), Kind::run_ends, model_.index});
}

Duration SimulatedDevice::issue_command() {
  Session& session = sessions_[turn_->session];
  const bool switched = ran_last_ != turn_->session;
  const auto prediction = predict(turn_->session);
  const Command command = session.program.issue();
  if (turn_->plan) turn_->plan->issued(kind_of(command));
  session.predictor.completed(command.shape, prediction, command.cost, switched);
  ran_last_ = turn_->session;
  return command.cost;
}

/// When the scheduler notices that the commands have ended.
Time SimulatedDevice::run_noticed(Time now) {
  if (turn_->run == Duration(0)) return now;
  const bool predicted = turn_->turn.cost_limit > Duration(0);
  const bool switches = last_session_ && last_session_ != turn_->session;
  last_session_ = turn_->session;
  Time end = now + model_.costs.decision + turn_->run;
  if (switches) end += model_.switch_cost;
  if (predicted) end += model_.costs.prediction;
  if (model_.costs.tick == Duration(0)) return end;
  const Duration beyond = end.time_since_epoch() % model_.costs.tick;
  return beyond > Duration(0) ? end + (model_.costs.tick - beyond) : end;
}

CostPredictor::Prediction SimulatedDevice::predict(std::size_t session) {
  return sessions_[session].predictor.predict(sessions_[session].program.next().shape, ran_last_ != session);
}

/// The policy goes by the session of the tenant that is next.
void SimulatedDevice::tell_cost(std::size_t tenant, Time now) {
  if (!waiting_[tenant].empty()) policy_->expect(id_of(tenant), predict(waiting_[tenant].front()).cost, now);
}

bool SimulatedDevice::too_costly() {
  return turn_->turn.cost_limit > Duration(0) && predict(turn_->session).cost > turn_->turn.cost_limit;
}

void SimulatedDevice::finish_run(Time now) {
  TenantOutcome& tenant = outcome_.tenants[turn_->turn.tenant.value];
  turn_->used += turn_->run;
  tenant.used += turn_->run;
  if (turn_->turn.promised) tenant.promised += turn_->run;
  tenant.longest_turn = std::max(tenant.longest_turn, turn_->used);
  policy_->charge(turn_->turn.tenant, turn_->run, now);
  if (turn_->plan) turn_->plan->measured(turn_->run);
  if (policy_->must_yield(turn_->turn.tenant, now)) turn_->asked_from = now;
  plan_review(now);
  if (slice_is_over(now)) {
    end_turn(now);
  } else if (sessions_[turn_->session].program.ready() == 0) {
    spin_or_end(now);
  } else {
    issue_run(now);
  }
}

/// The program has nothing to issue, and may go on with its turn if it comes back.
void SimulatedDevice::spin_or_end(Time now) {
  if (model_.spin <= Duration(0)) return end_turn(now);
  Time until = now + model_.spin;
  if (turn_->turn.end == TurnEnd::clock && waiters_ > 0) {
    until = std::min(until, turn_->began + turn_->turn.slice);
  }
  turn_->spins_until = until;
  events_.schedule({until, Kind::spin_ends, model_.index});
  rest_program(turn_->session, now);
}

bool SimulatedDevice::slice_is_over(Time now) {
  Program& program = sessions_[turn_->session].program;
  if (turn_->asked_from && now >= *turn_->asked_from) return true;
  if (program.ready() > 0 && too_costly()) return true;
  if (turn_->plan) {
    return program.ready() > 0 ? !turn_->plan->admits(kind_of(program.next())) : turn_->plan->over();
  }
  return turn_->turn.end == TurnEnd::clock && waiters_ > 0 && now >= turn_->began + turn_->turn.slice;
}

void SimulatedDevice::end_turn(Time now) {
  turn_ended_ = true;
  const std::size_t session = turn_->session;
  const std::size_t tenant = sessions_[session].tenant;
  const bool spun = turn_->spins_until.has_value();
  if (host_ != nullptr) host_->switch_out(sessions_[session].thread, now);
  turn_.reset();
  review_at_.reset();
  policy_->end(id_of(tenant), now);
  if (!spun && sessions_[session].program.ready() > 0) {
    start_waiting(session, now);
  } else {
    if (!spun) rest_program(session, now);
    if (waiting_[tenant].empty()) {
      if (const auto until = policy_->pause(id_of(tenant), now)) {
        outcome_.tenants[tenant].always_runnable = false;
        kept_for_ = tenant;
        ask_at_ = until;
        events_.schedule({*until, Kind::ask_again, model_.index});
        return;
      }
    }
  }
  tell_cost(tenant, now);
  block_if_idle(tenant, now);
  grant_next(now);
}

void SimulatedDevice::stop_keeping(Time now) {
  if (!kept_for_) return;
  const std::size_t tenant = *kept_for_;
  kept_for_.reset();
  block_if_idle(tenant, now);
}

}  // namespace fairgv::sched
