#include "tests/workloads/support/requests.hpp"

#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "tests/workloads/support/json_line.hpp"
#include "tests/workloads/support/options.hpp"

namespace workloads {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Request {
  enum class Kind { rounds, awaited_rounds, window, builds };
  Kind kind = Kind::rounds;
  std::uint64_t count = 0;  // of rounds or builds
  double start = 0;         // of a window, in seconds on CLOCK_MONOTONIC
  double seconds = 0;
};

bool parse(std::string_view text, auto& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number > 0;
}

Request request_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  Request request;
  if (words.size() == 1 && parse(words[0], request.count)) return request;
  if (words.size() == 2 && words[0] == "run" && parse(words[1], request.count)) {
    request.kind = Request::Kind::awaited_rounds;
    return request;
  }
  if (words.size() == 2 && words[0] == "build" && parse(words[1], request.count)) {
    request.kind = Request::Kind::builds;
    return request;
  }
  if (words.size() == 3 && words[0] == "window" && parse(words[1], request.start) &&
      parse(words[2], request.seconds)) {
    request.kind = Request::Kind::window;
    return request;
  }
  throw BadInput(
      "--requests: a line of the file is a number of rounds, 'run' and such a number, 'window' and its start "
      "and "
      "length in seconds, or 'build' and a number, not '" +
      line + "'");
}

void serve_builds(Target& target, std::uint64_t count) {
  Seconds all{0};
  for (std::uint64_t build = 0; build < count; ++build) {
    target.rebuild();
    all += target.build_time();
  }
  JsonLine().count("builds", count).number("seconds", all.count(), 9).print();
}

Measurement enqueue_and_wait(Workload& workload, LaunchQueue& queue, std::uint64_t rounds) {
  Measurement measured;
  queue.set_sync_mode(SyncMode::kBatch);  // nothing waits by itself
  const Clock::time_point start = Clock::now();
  for (std::uint64_t round = 0; round < rounds; ++round) workload.enqueue_round();
  queue.finish();
  measured.rounds = rounds;
  measured.seconds = Seconds(Clock::now() - start).count();
  return measured;
}

/// In a loop like that of a program without requests.
Measurement run_measured(Workload& workload, LaunchQueue& queue, const Options& options, SyncMode sync,
                         std::uint64_t batch, const Request& request) {
  Options asked = options;
  if (request.kind == Request::Kind::window) {
    asked.start_at = request.start;
    asked.seconds = request.seconds;
  } else {
    asked.repetitions = request.count;
  }
  return measure(workload, queue, asked, sync, batch);
}

}  // namespace

Measurement serve_requests(Target& target, Workload& workload, const Options& options, SyncMode sync,
                           std::uint64_t batch) {
  std::ifstream requests(options.requests_file);
  if (!requests) throw BadInput("--requests: cannot read " + options.requests_file);
  LaunchQueue& queue = target.queue();
  queue.finish();
  const std::uint64_t launches_before = queue.launches();
  Measurement all;
  all.started_at = Seconds(Clock::now().time_since_epoch()).count();
  for (std::string line; std::getline(requests, line);) {
    const Request request = request_of(line);
    if (request.kind == Request::Kind::builds) {
      serve_builds(target, request.count);
      continue;
    }
    const Measurement measured = request.kind == Request::Kind::rounds
                                     ? enqueue_and_wait(workload, queue, request.count)
                                     : run_measured(workload, queue, options, sync, batch, request);
    JsonLine().count("rounds", measured.rounds).number("seconds", measured.seconds, 9).print();
    all.rounds += measured.rounds;
    all.seconds += measured.seconds;
  }
  if (all.rounds == 0) throw BadInput("--requests: " + options.requests_file + " asks for nothing");
  all.kernels = queue.launches() - launches_before;
  return all;
}

}  // namespace workloads
