#include "runtime/daemon/worker/output.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

/// As much as fits into a pipe that nobody has made larger.
constexpr std::size_t kPiece = std::size_t{64} << 10;
/// A worker may have made its pipe larger; at the end of a worker that goes on writing, no more is read.
constexpr int kLastPieces = 32;

constexpr std::chrono::milliseconds kRest{20};

}  // namespace

Result<std::pair<std::unique_ptr<WorkerOutput>, UniqueFd>> WorkerOutput::make() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  // Of this end only: a pipe's ends are two open files, and the worker's driver expects to wait.
  if (::fcntl(reader.get(), F_SETFL, O_NONBLOCK) != 0) {
    return system_error("cannot make a pipe non-blocking");
  }
  return std::pair(std::unique_ptr<WorkerOutput>(new WorkerOutput(std::move(reader))), std::move(writer));
}

std::unique_ptr<WorkerOutput> WorkerOutput::adopt(UniqueFd fd) {
  return std::unique_ptr<WorkerOutput>(new WorkerOutput(std::move(fd)));
}

Result<void> WorkerOutput::relay(EventLoop& events, std::string who) {
  events_ = &events;
  who_ = std::move(who);
  return watch();
}

Result<void> WorkerOutput::watch() {
  auto watch = events_->watch(fd_.get(), [this] { on_readable(); });
  if (!watch) return watch.error();
  watch_ = std::move(watch).value();
  return {};
}

void WorkerOutput::on_readable() {
  const Time now = Clock::now();
  if (!read_piece()) return watch_.reset();
  if (looks_.take_one(kLooks, now)) return;
  watch_.reset();
  resume_at_ = now + kRest;
}

std::optional<std::size_t> WorkerOutput::read_piece() {
  static std::array<char, kPiece> piece;  // too large for a stack, and one thread uses it
  const ssize_t length = ::read(fd_.get(), piece.data(), piece.size());
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (length <= 0) return std::nullopt;
  const std::string_view text(piece.data(), static_cast<std::size_t>(length));
  log(lines_.take(text, Clock::now()));
  if (program_) pass_on(program_->take(text, Clock::now()));
  return static_cast<std::size_t>(length);
}

void WorkerOutput::log(const Lines& lines) const {
  for (const std::string& line : lines) {
    std::string_view text = line;
    if (text.starts_with(session::kWorkersOwnLine)) text.remove_prefix(session::kWorkersOwnLine.size());
    spdlog::info("{}: its worker says: {}", who_, text);
  }
}

/// The worker's own lines are for the log: the program hears of them otherwise, if it has to.
void WorkerOutput::pass_on(Lines lines) {
  std::erase_if(lines, [](const std::string& line) { return line.starts_with(session::kWorkersOwnLine); });
  if (lines.empty()) return;
  if (tell_) return tell_(lines);
  for (std::string& line : lines) {
    if (held_.size() < kMostHeld) held_.push_back(std::move(line));
  }
}

void WorkerOutput::tell_program(std::function<void(const Lines&)> tell) {
  if (!program_) return;
  tell_ = std::move(tell);
  pass_on(std::exchange(held_, {}));
}

void WorkerOutput::tell_program(const Socket& client) {
  tell_program([&client](const Lines& lines) {
    for (std::size_t first = 0; first < lines.size(); first += session::kMostDriverLines) {
      const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = std::min(session::kMostDriverLines, lines.size() - first);
      if (client)
        client.offer(to_text(session::DriverSays{{begin, begin + static_cast<std::ptrdiff_t>(count)}}));
    }
  });
}

void WorkerOutput::catch_up() {
  for (int left = kLastPieces; left > 0 && read_piece().value_or(0) > 0; --left) {
  }
}

void WorkerOutput::expire(Time now) {
  if (!resume_at_ || now < *resume_at_) return;
  resume_at_.reset();
  // Without it the next rest is over at once, and it is tried again.
  if (!watch()) resume_at_ = now + kRest;
}

void WorkerOutput::tell_rest() {
  log(lines_.take_rest(Clock::now()));
  if (program_) pass_on(program_->take_rest(Clock::now()));
}

void WorkerOutput::finish() {
  watch_.reset();
  resume_at_.reset();
  catch_up();
  log(lines_.finish(Clock::now()));
  if (program_) pass_on(program_->finish(Clock::now()));
}

}  // namespace fairgv::daemon
