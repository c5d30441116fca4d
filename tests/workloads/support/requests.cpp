#include "tests/workloads/support/requests.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/workloads/support/json_line.hpp"
#include "tests/workloads/support/options.hpp"

namespace workloads {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kLongest = 86'400;  // seconds between "begin" and the line after it

struct Request {
  enum class Kind { rounds, awaited_rounds, window, begin, end, builds };
  Kind kind = Kind::rounds;
  std::uint64_t count = 0;  // of rounds or builds
  std::uint64_t after = 0;  // so many rounds that are not measured
  double start = 0;         // of a window, in seconds on CLOCK_MONOTONIC
  double seconds = 0;       // of it
  double at_work_for = 0;   // seconds before it that are not measured
};

/// The lines of a file that may be a pipe.
class Lines {
 public:
  explicit Lines(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw BadInput("--requests: cannot read " + path);
  }
  ~Lines() { ::close(file_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// Waits for it; none at the end of the file.
  std::optional<std::string> next() {
    std::size_t end = read_.find('\n');
    while (end == std::string::npos) {
      std::array<char, 256> more{};
      const ssize_t count = ::read(file_, more.data(), more.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return read_.empty() ? std::nullopt : std::optional(std::exchange(read_, {}));
      read_.append(more.data(), static_cast<std::size_t>(count));
      end = read_.find('\n');
    }
    std::string line = read_.substr(0, end);
    read_.erase(0, end + 1);
    return line;
  }

  /// Whether next() would not wait long: the next line has begun to be there, or the file is at its end.
  bool something_waits() const {
    if (!read_.empty()) return true;
    pollfd readable{file_, POLLIN, 0};
    return ::poll(&readable, 1, 0) > 0;
  }

 private:
  int file_;
  std::string read_;
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
  if (words.size() == 1 && (words[0] == "begin" || words[0] == "end")) {
    request.kind = words[0] == "begin" ? Request::Kind::begin : Request::Kind::end;
    return request;
  }
  if (words.size() == 2 && words[0] == "run" && parse(words[1], request.count)) {
    request.kind = Request::Kind::awaited_rounds;
    return request;
  }
  if (words.size() == 4 && words[0] == "run" && parse(words[1], request.count) && words[2] == "after" &&
      parse(words[3], request.after)) {
    request.kind = Request::Kind::awaited_rounds;
    return request;
  }
  if (words.size() == 2 && words[0] == "build" && parse(words[1], request.count)) {
    request.kind = Request::Kind::builds;
    return request;
  }
  if (words.size() == 5 && words[0] == "window" && parse(words[1], request.start) &&
      parse(words[2], request.seconds) && words[3] == "after" && parse(words[4], request.at_work_for)) {
    request.kind = Request::Kind::window;
    return request;
  }
  throw BadInput(
      "--requests: a line of the file is a number of rounds, 'run' and such a number, 'run', such a number, "
      "'after' and another, 'window', its start and length in seconds, 'after' and the seconds of work "
      "before it, 'begin', 'end', or 'build' and a number, not '" +
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

void answer(std::uint64_t rounds, double seconds) {
  JsonLine().count("rounds", rounds).number("seconds", seconds, 9).print();
}

Measurement enqueue_and_wait(Workload& workload, LaunchQueue& queue, std::uint64_t rounds) {
  Measurement measured;
  queue.set_sync_mode(SyncMode::kBatch);  // nothing waits by itself
  const std::uint64_t launches_before = queue.launches();
  const Clock::time_point start = Clock::now();
  for (std::uint64_t round = 0; round < rounds; ++round) workload.enqueue_round();
  queue.finish();
  measured.rounds = rounds;
  measured.seconds = Seconds(Clock::now() - start).count();
  measured.kernels = queue.launches() - launches_before;
  return measured;
}

Measurement run_window(Workload& workload, LaunchQueue& queue, const Options& options, SyncMode sync,
                       std::uint64_t batch, const Request& request) {
  Options asked = options;
  asked.start_at = request.start;
  asked.seconds = request.seconds;
  const auto start = std::chrono::duration_cast<Clock::duration>(Seconds(request.start));
  const auto lead = std::chrono::duration_cast<Clock::duration>(Seconds(request.at_work_for));
  std::this_thread::sleep_until(Clock::time_point(start - lead));
  const double ahead = Seconds(start - Clock::now().time_since_epoch()).count();
  // A program that is late for the window itself learns so from measure().
  if (ahead <= 0) return measure(workload, queue, asked, sync, batch);
  asked.start_at.reset();
  asked.seconds += ahead;
  std::uint64_t rounds_ahead = 0;
  Measurement measured =
      measure(workload, queue, asked, sync, batch, [&](std::uint64_t rounds, double seconds) {
        if (seconds < ahead) rounds_ahead = rounds;
        return false;
      });
  if (measured.rounds > 0) measured.kernels -= measured.kernels / measured.rounds * rounds_ahead;
  measured.rounds -= rounds_ahead;
  measured.seconds -= ahead;
  return measured;
}

/// In a loop like that of a program without requests.
Measurement run_measured(Workload& workload, LaunchQueue& queue, const Options& options, SyncMode sync,
                         std::uint64_t batch, const Request& request, const Lines& lines) {
  Options asked = options;
  if (request.kind == Request::Kind::awaited_rounds) {
    if (request.after > 0) {
      asked.repetitions = request.after;
      measure(workload, queue, asked, sync, batch);
    }
    asked.repetitions = request.count;
    return measure(workload, queue, asked, sync, batch);
  }
  if (request.kind == Request::Kind::window)
    return run_window(workload, queue, options, sync, batch, request);
  asked.seconds = kLongest;
  bool has_answered = false;
  return measure(workload, queue, asked, sync, batch, [&](std::uint64_t rounds, double seconds) {
    if (!has_answered) answer(rounds, seconds);
    has_answered = true;
    return lines.something_waits();
  });
}

Measurement serve(Workload& workload, LaunchQueue& queue, const Options& options, SyncMode sync,
                  std::uint64_t batch, const Request& request, const Lines& lines) {
  const Measurement measured = request.kind == Request::Kind::rounds
                                   ? enqueue_and_wait(workload, queue, request.count)
                                   : run_measured(workload, queue, options, sync, batch, request, lines);
  answer(measured.rounds, measured.seconds);
  return measured;
}

}  // namespace

Measurement serve_requests(Target& target, Workload& workload, const Options& options, SyncMode sync,
                           std::uint64_t batch) {
  Lines lines(options.requests_file);
  LaunchQueue& queue = target.queue();
  queue.finish();
  Measurement all;
  all.started_at = Seconds(Clock::now().time_since_epoch()).count();
  while (const auto line = lines.next()) {
    const Request request = request_of(*line);
    switch (request.kind) {
      case Request::Kind::builds:
        serve_builds(target, request.count);
        break;
      case Request::Kind::end:
        break;
      default: {
        const Measurement measured = serve(workload, queue, options, sync, batch, request, lines);
        all.rounds += measured.rounds;
        all.seconds += measured.seconds;
        all.kernels += measured.kernels;
      }
    }
  }
  if (all.rounds == 0) throw BadInput("--requests: " + options.requests_file + " asks for nothing");
  return all;
}

}  // namespace workloads
