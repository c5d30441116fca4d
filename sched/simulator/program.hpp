// A synthetic program of a simulated tenant: commands that come in bursts, with sleep between them.
//
// Its random numbers depend on its seed alone, not on when it is served, so that the same program can be run
// under different policies.
#pragma once

#include <cstdint>
#include <random>

#include "sched/attributes.hpp"
#include "sched/types.hpp"

namespace fairgv::sched {

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
};

class Program {
 public:
  Program(const TenantSpec& spec, std::uint64_t seed);

  /// Commands that could be issued now.
  std::uint64_t ready() const { return ready_; }
  /// Issues one command. Returns how long it keeps the device busy.
  Duration issue();
  /// Called when no command is ready, `since_burst` after the burst became ready. Returns how long the
  /// program sleeps; then the next burst is ready.
  Duration sleep(Duration since_burst);
  /// How long it works on the host before the next burst is ready.
  Duration host_work();
  /// Whether its commands come in bursts.
  bool has_bursts() const;

 private:
  Duration around(double mean_ns, double spread);

  TenantSpec spec_;
  std::mt19937_64 random_;
  std::uint64_t ready_;
};

}  // namespace fairgv::sched
