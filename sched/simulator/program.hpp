// A synthetic program of a simulated tenant: commands that come in bursts, with sleep between them.
//
// Its random numbers depend on its seed alone, not on when it is served, so that the same program can be run
// under different policies.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "sched/attributes.hpp"
#include "sched/policies/timegraph/cost_predictor.hpp"
#include "sched/time.hpp"
#include "sched/types.hpp"

namespace fairgv::sched {

/// Commands of one shape.
struct CommandMix {
  CommandShape shape{};
  Duration cost{0};  // mean
  double jitter = 0.1;
  std::uint32_t frequency = 1;  // relative to the program's other commands
};

/// For so long each command takes `factor` times as long.
struct LoadPhase {
  Duration length{0};
  double factor = 1;
};

/// A kind of tenant. All its programs behave alike.
struct TenantSpec {
  TenantAttributes attributes{};
  Duration kernel = std::chrono::microseconds(200);  // mean time of a command
  double jitter = 0.1;  // a command takes kernel * (1 - jitter) to kernel * (1 + jitter), 0 to 1
  double sleep = 0;     // part of its time that the program sleeps when it has the device to itself, 0 to
                        // below 1; 0: it always has more commands
  std::uint32_t burst = 10;    // commands between two sleeps; 1 with short kernels is an interactive program
  Duration period{0};          // a burst becomes ready every so often, as the frames of a film; a late one
                               // puts off the next. 0: bursts come as `sleep` says
  Duration host_work{0};       // between two bursts, after the sleep: mean time on a processor of the host
  std::size_t processor = 0;   // of the host, to which its programs are pinned
  std::uint32_t sessions = 1;  // programs of the tenant, on each device
  std::uint32_t count = 1;     // tenants of this kind
  /// Commands of several shapes, in place of `kernel` and `jitter`.
  std::vector<CommandMix> commands{};
  double scene = 0;     // by which part the costs of whole scenes differ, as those of a game; a scene has
                        // kBurstsPerScene bursts on average
  Duration arrives{0};  // after the start of the simulation; not before the tenants before it
  Duration host{0};     // after a burst the program computes for about so long; 0: as `sleep` says
  /// From a program's first command on, round and round; none: no change.
  std::vector<LoadPhase> phases{};
};

/// One command of a program.
struct Command {
  CommandShape shape{};
  Duration cost{0};  // how long it keeps the device busy
};

/// The mean cost of a command.
Duration mean_cost(const TenantSpec& spec);

class Program {
 public:
  static constexpr std::uint32_t kBurstsPerScene = 25;
  /// The shape of the commands of a program without `commands`.
  static constexpr CommandShape kOnlyShape{1, 0};

  Program(const TenantSpec& spec, std::uint64_t seed);

  /// Commands that could be issued now.
  std::uint64_t ready() const { return ready_; }
  /// The command that is issued next. Precondition: one is ready.
  const Command& next();
  /// It is so late: finds the phase of the commands that are issued from now on.
  void advance(Time now);
  /// Issues the next command.
  Command issue();
  /// Called when no command is ready, `since_burst` after the burst became ready. Returns how long the
  /// program sleeps; then the next burst is ready.
  Duration sleep(Duration since_burst);
  /// How long it works on the host before the next burst is ready.
  Duration host_work();
  /// Whether its commands come in bursts.
  bool has_bursts() const;

 private:
  Duration around(double mean_ns, double spread);
  Command make_command();
  void begin_burst();

  TenantSpec spec_;
  std::uint64_t frequencies_ = 0;  // the sum
  std::mt19937_64 random_;
  std::uint64_t ready_;
  std::optional<Command> next_{};
  double scene_ = 1;  // the factor of all costs
  std::size_t phase_ = 0;
  std::optional<Time> phase_ends_;
};

}  // namespace fairgv::sched
