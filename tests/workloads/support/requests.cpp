#include "tests/workloads/support/requests.hpp"

#include <charconv>
#include <chrono>
#include <fstream>
#include <string_view>

#include "tests/workloads/support/json_line.hpp"
#include "tests/workloads/support/options.hpp"

namespace workloads {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Request {
  bool builds = false;  // rather than rounds
  std::uint64_t count = 0;
};

Request request_of(const std::string& line) {
  constexpr std::string_view kBuild = "build ";
  Request request;
  request.builds = line.starts_with(kBuild);
  const char* const begin = line.data() + (request.builds ? kBuild.size() : 0);
  const char* const end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(begin, end, request.count);
  if (error != std::errc() || stop != end || request.count == 0) {
    throw BadInput("--requests: a line of the file is a number of rounds, or 'build' and a number, not '" +
                   line + "'");
  }
  return request;
}

void serve_builds(Target& target, std::uint64_t count) {
  Seconds all{0};
  for (std::uint64_t build = 0; build < count; ++build) {
    target.rebuild();
    all += target.build_time();
  }
  JsonLine().count("builds", count).number("seconds", all.count(), 9).print();
}

}  // namespace

Measurement serve_requests(Target& target, Workload& workload, const std::string& file) {
  std::ifstream requests(file);
  if (!requests) throw BadInput("--requests: cannot read " + file);
  LaunchQueue& queue = target.queue();
  queue.finish();
  const std::uint64_t launches_before = queue.launches();
  Measurement all;
  all.started_at = Seconds(Clock::now().time_since_epoch()).count();
  for (std::string line; std::getline(requests, line);) {
    const Request request = request_of(line);
    if (request.builds) {
      serve_builds(target, request.count);
      continue;
    }
    const std::uint64_t rounds = request.count;
    const Clock::time_point start = Clock::now();
    for (std::uint64_t round = 0; round < rounds; ++round) workload.enqueue_round();
    queue.finish();
    const double seconds = Seconds(Clock::now() - start).count();
    JsonLine().count("rounds", rounds).number("seconds", seconds, 9).print();
    all.rounds += rounds;
    all.seconds += seconds;
  }
  if (all.rounds == 0) throw BadInput("--requests: " + file + " asks for nothing");
  all.kernels = queue.launches() - launches_before;
  return all;
}

}  // namespace workloads
