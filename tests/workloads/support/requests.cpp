#include "tests/workloads/support/requests.hpp"

#include <charconv>
#include <chrono>
#include <fstream>

#include "tests/workloads/support/json_line.hpp"
#include "tests/workloads/support/options.hpp"

namespace workloads {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

std::uint64_t rounds_of(const std::string& line) {
  std::uint64_t rounds = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), rounds);
  if (error != std::errc() || end != line.data() + line.size() || rounds == 0) {
    throw BadInput("--requests: a line of the file is a number of rounds, not '" + line + "'");
  }
  return rounds;
}

}  // namespace

Measurement serve_requests(Workload& workload, Launcher& launcher, const std::string& file) {
  std::ifstream requests(file);
  if (!requests) throw BadInput("--requests: cannot read " + file);
  launcher.finish();
  const std::uint64_t launches_before = launcher.launches();
  Measurement all;
  all.started_at = Seconds(Clock::now().time_since_epoch()).count();
  for (std::string line; std::getline(requests, line);) {
    const std::uint64_t rounds = rounds_of(line);
    const Clock::time_point start = Clock::now();
    for (std::uint64_t round = 0; round < rounds; ++round) workload.enqueue_round();
    launcher.finish();
    const double seconds = Seconds(Clock::now() - start).count();
    JsonLine().count("rounds", rounds).number("seconds", seconds, 9).print();
    all.rounds += rounds;
    all.seconds += seconds;
  }
  if (all.rounds == 0) throw BadInput("--requests: " + file + " asks for nothing");
  all.kernels = launcher.launches() - launches_before;
  return all;
}

}  // namespace workloads
