// Published experiments in the simulator: one row for each effect that a paper reports, with the paper's
// value beside ours.
//
// The papers measured other devices and other programs, so values differ. An effect counts as the same where
// its sign is the same (faster or slower, more or less), and where several things are compared, their order.
//
// An experiment can be run many times over: on many devices at once, among many tenants. Devices have nothing
// in common, so each is simulated by itself, with random numbers of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sched/simulator/simulation.hpp"

namespace fairgv::sched {

struct FigureRow {
  std::string figure;     // "TimeGraph 8"
  std::string effect;     // "World of Padman beside a Clearspd bomb: priorities over none"
  std::string published;  // as the paper has it: "3 to 6 times"; "not printed" where only a picture shows it
  std::string ours;       // in the same unit
  bool same = false;      // sign and order
};

struct FigureRun {
  std::uint64_t seed = 1;
  std::size_t devices = 1;
  std::size_t tenants = 0;  // on all devices together; 0, or fewer than the experiment has: its own
  double time = 1;          // so many times as long is simulated; only of FairGV's figures and Pegasus'

  Duration of(Duration length) const { return std::chrono::round<Duration>(length * time); }
};

/// The outcome of each kind, which counts as one client of the experiment: every device has as many copies of
/// all clients as make its tenants, each copy pinned to processors of its own and with its part of a
/// guarantee. Times are sums over the copies and means of the devices; waits and bursts, of which there can
/// be many millions, are those of all, or left out.
enum class Bursts { kept, left_out };
std::vector<TenantOutcome> simulate_copies(SimulationSettings settings, const FigureRun& run,
                                           Bursts bursts = Bursts::kept);

/// The same, where the kinds are there once on each device, and the other tenants sleep nearly always: each
/// has a command of 100 us about once a second.
std::vector<TenantOutcome> simulate_among_sleepers(SimulationSettings settings, const TenantSpec& sleeper,
                                                   const FigureRun& run);

}  // namespace fairgv::sched
