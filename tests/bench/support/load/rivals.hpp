// Tenants that share the device, and programs on the driver alone to compare them with. All of them stay from
// the first measurement to the last, so that every program is compared with itself at another time. Equal
// programs differ by the place of their memory: on the driver alone one process in six was 3 to 5 % slower
// than the others for as long as it lived (matrixMul, hotspot), which is more than the differences between
// schedulers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/bench/support/load/on_request.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

using Program = std::vector<std::string>;  // and its arguments

class Rivals {
 public:
  /// Starts all, one after the other; the tenants are tenant1, tenant2, ..., and of equal weight. Other
  /// tenants of the daemon should have nothing to do. Rivals that are there at once need names. With several
  /// devices (start_on()) each has all of these programs; whatever is in the order of the programs has those
  /// of one device after the other.
  static Result<Rivals> start(const harness::Tenancy& tenancy, const harness::Placement& placement,
                              const std::vector<Program>& tenants, const std::vector<Program>& on_driver,
                              const std::string& name = {}, std::size_t devices = 1);

  /// The tenants, of that daemon, have these weights from now on, in their order.
  Result<void> weigh(const harness::Tenancy& tenancy, const std::vector<std::uint32_t>& weights) const;

  /// Rounds per second, in the order of the programs.
  struct Alone {
    /// With all rounds of a turn queued at once, while no other tenant works: how fast this process' kernels
    /// are, whatever else the program waits for. None if they were not asked.
    std::vector<double> tenants;
    /// With the waits that the programs make.
    std::vector<double> on_driver;
  };
  enum class Who { everybody, on_driver };
  /// Everybody by itself, in short turns: all rounds over the time of all turns, as together(). Each turn is
  /// one program's on every device.
  Result<Alone> take_turns(int turns, Who who);

  /// The tenants at once, in the midst of their work: rounds per second, of any window of some turns' length.
  Result<std::vector<double>> together(double seconds);

  /// The same, and those on the driver by themselves, in turns of the half second before the tenants
  /// get to work.
  struct Sides {
    Alone before;
    std::vector<double> together;
  };
  Result<Sides> turns_and_window(double seconds);

  /// Ends all. Their results are right.
  Result<void> end();

 private:
  struct Rival {
    Rival(const std::string& suffix, bool is_tenant) : program(suffix), tenant(is_tenant) {}
    Result<void> start(harness::CommandLine command, double turn_seconds);
    OnRequest program;
    bool tenant;
    std::uint64_t rounds = 0;    // of a turn
    std::vector<double> speeds;  // of its turns
  };

  using Twins = std::vector<Rival*>;  // the same program, on each of the devices

  explicit Rivals(std::size_t devices) : devices_(devices) {}
  Twins twins(std::deque<Rival>& all, std::size_t place) const;
  std::vector<Twins> order(Who who);
  Result<void> take_turn(std::vector<Twins>& order);  // the next one goes the other way round
  Alone speeds(Who who) const;                        // of the turns since order()
  Result<void> open_window(double start, double seconds);
  Result<std::vector<double>> close_window();

  std::size_t devices_;
  std::deque<Rival> tenants_;
  std::deque<Rival> on_driver_;
};

/// The mean of the two: a drift of the machine falls on both sides.
Rivals::Alone mean_of(const Rivals::Alone& before, const Rivals::Alone& after);
std::vector<double> mean_of(const std::vector<double>& before, const std::vector<double>& after);
/// Whether all programs together were as fast before as after (harness/steady.hpp).
bool was_steady(const std::vector<double>& before, const std::vector<double>& after);

}  // namespace fairgv::bench
