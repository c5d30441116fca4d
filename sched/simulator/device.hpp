// One simulated device with its dispatcher: gives turns to sessions as
// runtime/daemon/dispatch/dispatcher.hpp does, and runs their commands as a worker does, but in simulated
// time and without anything to fail.
//
// Simplified: by default switching costs nothing, and a worker with nothing to issue gives its turn back
// at once (the real one waits for a moment first; `pause()` is asked all the same). SchedulerCosts and the
// model may say otherwise.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "sched/policies/timegraph/cost_predictor.hpp"
#include "sched/policy.hpp"
#include "sched/simulator/event_queue.hpp"
#include "sched/simulator/host.hpp"
#include "sched/simulator/program.hpp"
#include "sched/slice_rule.hpp"
#include "sched/turn_plan.hpp"

namespace fairgv::sched {

/// One tenant's outcome on one device.
struct TenantOutcome {
  Duration used{0};
  Duration promised{0};             // the part in turns that served a guarantee
  Duration longest_turn{0};         // device time of one turn
  std::vector<Duration> waits;      // of its sessions, from wanting the device to having it
  std::vector<Duration> responses;  // of its bursts, from being ready to the end of their last command
  std::vector<Time> finished;       // when those bursts ended
  bool always_runnable = true;      // had something to run at every moment
};

struct DeviceOutcome {
  std::vector<TenantOutcome> tenants;
  Duration busy{0};
  Duration idle_though_wanted{0};  // somebody waited while nothing ran
  Time now{};                      // up to which it counts
};

/// The cost of scheduling beside the commands themselves (TimeGraph, section 6.3). Nobody is charged for it.
struct SchedulerCosts {
  Duration decision{0};    // the device idles so long before commands are submitted
  Duration prediction{0};  // the same, where their costs decide whether they may be
  Duration tick{0};        // completions are noticed at multiples of this only; 0: at once, by an interrupt
};

class SimulatedDevice {
 public:
  struct Model {
    std::size_t index = 0;
    /// Commands that a session keeps in flight when they are not measured: the driver's queue.
    std::uint64_t queue_depth = kDriverQueue;
    SliceRule slices = kAdaptiveSlice;
    SchedulerCosts costs{};
    /// The device does nothing for so long when another session than the last one has it. Nobody is charged.
    Duration switch_cost{0};
    /// For so long a worker with nothing to issue waits for its program before it gives its turn back.
    Duration spin{0};
  };

  /// One spec per tenant. The queue outlives the device, and so does the host, null if there is none.
  SimulatedDevice(const Model& model, std::unique_ptr<Policy> policy, const std::vector<TenantSpec>& tenants,
                  std::uint64_t seed, EventQueue& events, SimulatedHost* host = nullptr);

  /// All programs begin.
  void start(Time now);
  void handle(const SimulationEvent& event);
  void set_attributes(std::size_t tenant, const TenantAttributes& attributes, Time now);
  /// Goes on with another policy object, from the budgets of this one, as the daemon's arbiter does.
  void set_policy(std::unique_ptr<Policy> policy, Time now);
  /// Tells the policy of the host's processors.
  void hear_of_host(Time now);
  /// Counts idle and busy time up to here.
  void account(Time now);

  const DeviceOutcome& outcome() const { return outcome_; }
  /// Whether a turn has ended with the event that was handled last.
  bool turn_ended() const { return turn_ended_; }

 private:
  struct Session {
    std::size_t tenant;
    Program program;
    Duration arrives{0};
    SimulatedHost::Thread thread = 0;
    CommandHistory history{};
    CostPredictor predictor{};
    Time wanting_since{};
    Time burst_since{};
  };

  struct TurnInProgress {
    TurnInProgress(std::size_t session_index, const Turn& granted, Time now, bool is_alone)
        : session(session_index), turn(granted), began(now), alone(is_alone) {}

    std::size_t session;
    Turn turn;
    Time began;
    bool alone;
    std::optional<Time> asked_from{};
    std::optional<TurnPlan> plan{};  // of a measured turn with an end
    Duration used{0};
    Duration run{0};                    // in flight
    std::optional<Time> spins_until{};  // its worker waits for its program
  };

  static TenantId id_of(std::size_t tenant) { return {static_cast<std::uint32_t>(tenant)}; }
  void want(std::size_t session, Time now);
  void review(Time now);
  void plan_review(Time now);
  void program_wakes(std::size_t session, Time now);
  void rest_program(std::size_t session, Time now);
  void resume(Time now);
  void spin_or_end(Time now);
  bool slice_is_over(Time now);
  void start_waiting(std::size_t session, Time now);
  void block_if_idle(std::size_t tenant, Time now);
  void grant_next(Time now);
  void issue_run(Time now);
  Duration issue_command();
  Time run_noticed(Time now);
  CostPredictor::Prediction predict(std::size_t session);
  void tell_cost(std::size_t tenant, Time now);
  bool too_costly();
  bool may_issue(std::uint64_t in_flight);
  void finish_run(Time now);
  void end_turn(Time now);
  void stop_keeping(Time now);

  const Model model_;
  std::unique_ptr<Policy> policy_;
  std::vector<TenantAttributes> attributes_;
  std::vector<TenantBudget> budgets_;  // kept for the next policy that knows them
  EventQueue& events_;
  SimulatedHost* const host_;
  std::vector<Duration> kernels_;  // mean, by tenant
  std::vector<Session> sessions_;
  std::vector<std::deque<std::size_t>> waiting_;  // sessions, by tenant
  std::size_t waiters_ = 0;                       // of all tenants
  std::size_t wanting_ = 0;                       // tenants with a waiter
  std::optional<TurnInProgress> turn_;
  std::optional<std::size_t> last_session_;
  std::optional<std::size_t> kept_for_;  // tenant
  std::optional<std::size_t> ran_last_;  // session
  std::optional<Time> free_since_;       // nobody has the turn or waits for it
  std::optional<Time> ask_at_;
  std::optional<Time> review_at_;
  DeviceOutcome outcome_;
  Time accounted_{};
  bool turn_ended_ = false;
};

}  // namespace fairgv::sched
