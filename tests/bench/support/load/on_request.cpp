#include "tests/bench/support/load/on_request.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "tests/harness/measured.hpp"

namespace fairgv::bench {

using namespace harness;

namespace {

constexpr std::uint64_t kMostRounds = 1'000'000;

std::string request_of(const OnRequest::Asked& asked) {
  if (!asked.awaited) return std::to_string(asked.rounds);
  if (asked.others == 0) return fmt::format("run {}", asked.rounds);
  return fmt::format("run {} after {}", asked.rounds, asked.others);
}

}  // namespace

Result<void> OnRequest::start(CommandLine command) {
  command_ = std::move(command);
  if (::mkfifo(pipe_.path().c_str(), 0600) != 0) return system_error("cannot make " + pipe_.path());
  // Both ends: opening one would wait for the other.
  requests_ = UniqueFd(::open(pipe_.path().c_str(), O_RDWR | O_CLOEXEC));
  if (!requests_) return system_error("cannot open " + pipe_.path());
  command_.arguments.insert(command_.arguments.end(), {"--requests", pipe_.path()});
  FAIRGV_TRY(child, Child::start(command_));
  child_.emplace(std::move(child).value());
  return {};
}

Result<double> OnRequest::run(std::uint64_t rounds) {
  return ask(request_of({nullptr, rounds, false}), "rounds", rounds);
}

Result<double> OnRequest::run_awaited(std::uint64_t rounds) {
  return ask(request_of({nullptr, rounds}), "rounds", rounds);
}

Result<std::vector<double>> OnRequest::run_at_once(const std::vector<Asked>& all) {
  const bool is_alone = all.size() == 1;
  for (const Asked& each : all) {
    FAIRGV_CHECK(each.program->send(request_of(each) + (is_alone ? "" : "\nbegin")));
  }
  std::vector<double> seconds;
  for (const Asked& each : all) {
    FAIRGV_TRY(took, each.program->seconds_for("rounds", each.rounds));
    seconds.push_back(took.value());
  }
  if (is_alone) return seconds;
  for (const Asked& each : all) FAIRGV_CHECK(each.program->send("end"));
  for (const Asked& each : all) {
    FAIRGV_CHECK(each.program->answer());  // to "begin", whenever it began
    FAIRGV_CHECK(each.program->answer());
  }
  return seconds;
}

Result<double> OnRequest::build() {
  return ask("build 1", "builds", 1);
}

Result<std::uint64_t> OnRequest::rounds_in(double seconds) {
  for (std::uint64_t rounds = 1;; rounds *= 2) {
    FAIRGV_TRY(took, run(rounds));
    if (took.value() >= seconds || rounds >= kMostRounds) return rounds;
  }
}

Result<void> OnRequest::open_window(double start, double seconds, double at_work_for) {
  return send(fmt::format("window {:.3f} {:.3f} after {:.3f}", start, seconds, at_work_for));
}

Result<double> OnRequest::close_window() {
  return rounds_per_second();
}

Result<void> OnRequest::begin() {
  FAIRGV_CHECK(send("begin"));
  FAIRGV_CHECK(answer());
  return {};
}

Result<double> OnRequest::halt() {
  FAIRGV_CHECK(send("end"));
  return rounds_per_second();
}

Result<nlohmann::json> OnRequest::end() {
  requests_ = {};
  return result_of(command_, finish(std::move(*child_)));
}

Result<void> OnRequest::send(const std::string& request) {
  const std::string line = request + '\n';
  if (::write(requests_.get(), line.data(), line.size()) < 0) return system_error("cannot ask a workload");
  return {};
}

Result<nlohmann::json> OnRequest::answer() {
  while (lines_.empty()) {
    if (child_->ended())
      return Error{command_.arguments[0] + " has ended in the middle: see its message above"};
    pollfd readable{child_->output(), POLLIN, 0};
    ::poll(&readable, 1, -1);
    for (std::string& line : child_->read_lines()) lines_.push_back(std::move(line));
  }
  nlohmann::json object = parse_line(lines_.front());
  lines_.pop_front();
  if (!object.is_object() || !object.contains("seconds")) {
    return Error{command_.arguments[0] + " does not answer requests"};
  }
  return object;
}

Result<double> OnRequest::rounds_per_second() {
  FAIRGV_TRY(measured, answer());
  return measured->value("rounds", 0.0) / measured.value()["seconds"].get<double>();
}

Result<double> OnRequest::ask(const std::string& request, const char* what, std::uint64_t count) {
  FAIRGV_CHECK(send(request));
  return seconds_for(what, count);
}

Result<double> OnRequest::seconds_for(const char* what, std::uint64_t count) {
  FAIRGV_TRY(answered, answer());
  if (answered->value(what, std::uint64_t{0}) != count) {
    return Error{command_.arguments[0] + " does something else than what was asked for"};
  }
  return answered.value()["seconds"].get<double>();
}

}  // namespace fairgv::bench
