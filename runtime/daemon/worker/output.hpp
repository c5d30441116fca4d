// The output of a worker and its driver to standard error: a pipe of the session's own, whose other end the
// daemon reads, and logs line by line with the session's name before each (output_lines.hpp). So a worker
// reaches neither the daemon's terminal nor its log. The program gets the driver's lines, too, if it wants
// them: without FairGV the driver would print them on its standard error.
//
// It is read at all times, so that nobody waits for ever in a print; but only so often and so much at a time,
// so that a flood costs little: the worker that makes it waits. Used by the event loop's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/worker/output_lines.hpp"

namespace fairgv::daemon {

class WorkerOutput {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The daemon's end, and the one that the worker writes to.
  static Result<std::pair<std::unique_ptr<WorkerOutput>, UniqueFd>> make();
  /// The daemon's end, from the daemon before.
  static std::unique_ptr<WorkerOutput> adopt(UniqueFd fd);

  /// Logs lines from now on. `who` begins every line.
  Result<void> relay(EventLoop& events, std::string who);
  int fd() const { return fd_.get(); }

  using Lines = std::vector<std::string>;
  /// From now on lines are kept for the program, at most kMostHeld, until it can be told.
  void hold_for_program() { program_.emplace(kProgramBudget); }
  /// Gives the program the kept lines, and further lines as they come. Without hold_for_program(), none.
  void tell_program(std::function<void(const Lines&)> tell);
  /// The same by messages to its socket, which outlives this; those beyond the socket's room are lost.
  void tell_program(const Socket& client);
  /// Reads the output that is there now, so that the program has been told of it; not all of a flood.
  void catch_up();
  static constexpr std::size_t kMostHeld = 200;

  /// When expire() wants to be called: after a rest.
  std::optional<Time> deadline() const { return resume_at_; }
  void expire(Time now);

  /// Logs a line that is not complete yet: a daemon after this one would not know of it.
  void tell_rest();
  /// Logs what is still in the pipe, the last words first of all, and reads no more.
  void finish();

 private:
  explicit WorkerOutput(UniqueFd fd) : fd_(std::move(fd)) {}
  void on_readable();
  /// Bytes read; 0: none now; nothing: there will be no more.
  std::optional<std::size_t> read_piece();
  void log(const Lines& lines) const;
  void pass_on(Lines lines);
  Result<void> watch();

  UniqueFd fd_;
  EventLoop* events_ = nullptr;
  std::string who_;
  OutputLines lines_;
  static constexpr TokenBucket::Rate kProgramBudget{400, 50};
  std::optional<OutputLines> program_;  // none: the program is not told
  std::function<void(const Lines&)> tell_;
  Lines held_;  // until there is a tell_
  static constexpr TokenBucket::Rate kLooks{50, 50};
  TokenBucket looks_{kLooks, {}};
  std::optional<Time> resume_at_;
  EventLoop::Watch watch_;
};

}  // namespace fairgv::daemon
