// One device as its dispatcher sees it.
#pragma once

#include <optional>

#include "runtime/daemon/turns/charges.hpp"
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
  sched::Sampling sampling = sched::Sampling::history;
};

/// Others may read it; the dispatcher alone changes it.
struct DeviceState {
  TurnRules rules;
  Places places{};
  WaitingLine line{};
  Charges charges{};
  std::optional<TurnInProgress> turn{};
  const sched::Policy* policy = nullptr;  // in force
};

}  // namespace fairgv::daemon
