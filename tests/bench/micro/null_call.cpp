// fairgv bench null-call: the round trip of a synchronous call while both sides are awake, beside the round
// trip of a bare cache line between two cores. Both are measured in turns in one run, so the ratio holds on a
// noisy machine.
#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/session/client/client.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration time) {
  return std::chrono::duration<double, std::nano>(time).count();
}

/// Two threads, two cache lines: each waits for the other's number.
class PingPong {
 public:
  PingPong() : peer_([this] { answer(); }) {}
  ~PingPong() {
    there_.store(kStop, std::memory_order_release);
    peer_.join();
  }

  /// Median of `rounds` round trips, in nanoseconds.
  double measure(int rounds) {
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
      const auto start = Clock::now();
      for (int j = 0; j < kBatch; ++j) round_trip();
      times.push_back(nanoseconds(Clock::now() - start) / kBatch);
    }
    return median(times);
  }

 private:
  static constexpr int kBatch = 16;  // a clock read costs about a tenth of a round trip
  static constexpr std::uint64_t kStop = ~std::uint64_t{0};

  void round_trip() {
    // Release and acquire: pair with answer().
    there_.store(++number_, std::memory_order_release);
    while (back_.load(std::memory_order_acquire) != number_) {
    }
  }
  void answer() {
    for (std::uint64_t seen = 0;;) {
      const std::uint64_t number = there_.load(std::memory_order_acquire);
      if (number == kStop) return;
      if (number != seen) back_.store(seen = number, std::memory_order_release);
    }
  }

  alignas(64) std::atomic<std::uint64_t> there_{0};
  alignas(64) std::atomic<std::uint64_t> back_{0};
  alignas(64) std::uint64_t number_ = 0;
  std::thread peer_;
};

double measure_calls(session::ClientSession& session, int rounds) {
  constexpr int kBatch = 16;
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    for (int j = 0; j < kBatch; ++j) {
      if (!session.call(wire::Ping{})) return 0;
    }
    times.push_back(nanoseconds(Clock::now() - start) / kBatch);
  }
  return median(times);
}

Result<void> run_benchmark(int pairs, int rounds, const Output& output) {
  FAIRGV_TRY(tenancy, Tenancy::start());
  session::ClientIdentity identity;
  identity.socket_path = tenancy->socket();
  identity.program = "null-call";
  FAIRGV_TRY(session, session::ClientSession::connect(identity));
  measure_calls(*session.value(), rounds);  // warm-up
  std::vector<double> ratios, calls, lines;
  for (int pair = 0; pair < pairs; ++pair) {
    {
      PingPong ping_pong;  // its thread would disturb the other measurement
      lines.push_back(ping_pong.measure(rounds));
    }
    calls.push_back(measure_calls(*session.value(), rounds));
    if (calls.back() == 0) return Error{"the session was lost"};
    ratios.push_back(calls.back() / lines.back());
  }
  const double ratio = median(ratios);
  fmt::print("null call, both sides awake        {:8.0f} ns   (median of {} x {} batches of 16)\n",
             median(calls), pairs, rounds);
  fmt::print("cache line there and back          {:8.0f} ns\n", median(lines));
  fmt::print("ratio                              {:8.2f}      (median of pairs; aim <= 2.0, limit 2.5)\n",
             ratio);
  return write_csv(output, 0, "call_ns,line_ns,ratio",
                   {fmt::format("{:.1f},{:.1f},{:.3f}", median(calls), median(lines), ratio)});
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  CLI::App app{"Round trip of a synchronous call beside a bare cache-line ping-pong",
               "fairgv bench null-call"};
  int pairs = 9;
  int rounds = 2'000;
  app.add_option("--pairs", pairs, "Pairs of measurements")->check(CLI::Range(1, 1'000));
  app.add_option("--rounds", rounds, "Batches of 16 calls per measurement")->check(CLI::Range(10, 1'000'000));
  fairgv::bench::Output output;
  fairgv::bench::declare_csv(app, output);
  if (const auto code = fairgv::bench::parse_command_line(app, argc, argv)) return *code;
  return fairgv::bench::exit_code(app, fairgv::bench::run_benchmark(pairs, rounds, output));
}
