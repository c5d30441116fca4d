// One device as its dispatcher sees it.
#pragma once

#include <optional>

#include "runtime/daemon/turns/charges.hpp"
#include "runtime/daemon/turns/interruption.hpp"
#include "runtime/daemon/turns/memory_lender.hpp"
#include "runtime/daemon/turns/place.hpp"
#include "runtime/daemon/turns/turn_in_progress.hpp"
#include "runtime/daemon/turns/waiting_line.hpp"
#include "sched/sampling.hpp"
#include "sched/slice_rule.hpp"
#include "sched/types.hpp"

namespace fairgv::daemon {

/// How turns are given on one device.
struct TurnRules {
  sched::SliceRule slices;
  /// How long a session may keep others waiting in one turn; 0: for ever.
  sched::Duration hold_limit{0};
  /// Whether turns may be interrupted, on a device that is the host's own processors.
  bool interrupts = true;
  sched::Sampling sampling = sched::Sampling::history;
  LendingRule lending{};
};

/// Others may read it; the dispatcher alone changes it.
struct DeviceState {
  TurnRules rules;
  Places places{};
  WaitingLine line{};
  Charges charges{};
  std::optional<TurnInProgress> turn{};
  /// The turn that stands still meanwhile.
  std::optional<Interruption> interrupted{};
  /// Of the device's memory.
  MemoryLender memory{};

  bool interruptible() const { return rules.interrupts && charges.on_host_processors(); }
  const sched::Policy* policy = nullptr;  // in force
};

}  // namespace fairgv::daemon
