#include "runtime/daemon/reports/usage_keeper.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "runtime/control/protocol.hpp"

namespace fairgv::daemon {
namespace {

std::int64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

UsageKeeper::UsageKeeper(const UsageRule& rule, EventLoop& events, const Sources& from, Reply reply)
    : rule_(rule), events_(events), from_(from), reply_(std::move(reply)), sampler_(wall_clock_ms()) {}

void UsageKeeper::configure() {
  const UsageWriter::Settings wanted{rule_.store, rule_.retention_days};
  if (writer_ && writer_->settings() == wanted) return;
  close();
  if (rule_.store.empty()) return;
  auto writer = UsageWriter::start(wanted);
  if (!writer) return spdlog::error("{}: nothing is stored", writer.error().message);
  auto watch = events_.watch(writer.value()->answers_fd(), [this] { reply_all(); });
  if (!watch) return spdlog::error("{}: nothing is stored", watch.error().message);
  writer_ = std::move(writer).value();
  watch_ = std::move(watch).value();
}

std::optional<UsageWriter::State> UsageKeeper::state() const {
  return writer_ ? std::optional(writer_->state()) : std::nullopt;
}

std::optional<UsageKeeper::Time> UsageKeeper::deadline() {
  if (writer_ && !next_ && !from_.sessions.empty()) {
    next_ = std::chrono::steady_clock::now() + rule_.flush;
  }
  return next_;
}

void UsageKeeper::expire(Time now) {
  if (!next_ || now < *next_) return;
  next_.reset();
  if (writer_ && writer_->idle()) {
    flush();
  } else if (writer_) {
    next_ = now + rule_.flush;  // also when nobody has a session any more
  }
}

void UsageKeeper::flush() {
  if (writer_) writer_->offer(sample());
}

void UsageKeeper::close() {
  flush();
  watch_.reset();
  writer_.reset();
  next_.reset();
  for (const std::uint64_t token : std::exchange(asked_, {})) {
    reply_(token, control::failure_text("the usage store was closed before it could answer: ask again"));
  }
}

void UsageKeeper::ask(std::uint64_t token, const control::UsageQuery& query,
                      std::optional<std::uint32_t> uid) {
  // While nothing can be written, questions must not pile up rows.
  if (writer_->idle()) flush();
  writer_->ask(token, query, uid);
  asked_.insert(token);
}

std::vector<usage::UsageAmounts> UsageKeeper::sampled(TenantId id) const {
  return rule_.store.empty() ? std::vector<usage::UsageAmounts>{} : sampler_.sampled(id);
}

void UsageKeeper::restore(TenantId id, std::vector<usage::UsageAmounts> sampled) {
  if (!sampled.empty()) sampler_.restore(id, std::move(sampled));  // empty: its daemon kept no store
}

void UsageKeeper::reply_all() {
  for (UsageWriter::Answer& answer : writer_->take_answers()) {
    asked_.erase(answer.token);
    reply_(answer.token, answer.sums ? to_text(answer.query, answer.sums.value())
                                     : control::failure_text(answer.sums.error().message));
  }
}

std::vector<usage::Row> UsageKeeper::sample() {
  std::vector<std::string> names;
  for (const auto& device : from_.devices.devices) names.push_back(device.name);
  return sampler_.sample(read_books(from_), names, wall_clock_ms());
}

}  // namespace fairgv::daemon
