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

UsageKeeper::UsageKeeper(Host& host, const SessionTable& sessions, Reply reply)
    : host_(host), sessions_(sessions), reply_(std::move(reply)), sampler_(wall_clock_ms()) {}

void UsageKeeper::configure() {
  const UsageRule& rule = host_.config.usage;
  const UsageWriter::Settings wanted{rule.store, rule.retention_days};
  if (writer_ && writer_->settings() == wanted) return;
  close();
  if (rule.store.empty()) return;
  auto writer = UsageWriter::start(wanted);
  if (!writer) return spdlog::error("{}: nothing is stored", writer.error().message);
  auto watch = host_.events.watch(writer.value()->answers_fd(), [this] { reply_all(); });
  if (!watch) return spdlog::error("{}: nothing is stored", watch.error().message);
  writer_ = std::move(writer).value();
  watch_ = std::move(watch).value();
}

std::optional<UsageWriter::State> UsageKeeper::state() const {
  return writer_ ? std::optional(writer_->state()) : std::nullopt;
}

std::optional<UsageKeeper::Time> UsageKeeper::deadline() {
  if (writer_ && !next_ && !sessions_.empty()) {
    next_ = std::chrono::steady_clock::now() + host_.config.usage.flush;
  }
  return next_;
}

void UsageKeeper::expire(Time now) {
  if (!next_ || now < *next_) return;
  next_.reset();
  if (writer_ && writer_->idle()) {
    flush();
  } else if (writer_) {
    next_ = now + host_.config.usage.flush;  // also when nobody has a session any more
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

void UsageKeeper::hand_over(Handover& handover) const {
  if (host_.config.usage.store.empty()) return;
  for (const Tenant& tenant : host_.tenants.all()) {
    for (HandedTenant& handed : handover.tenants) {
      if (tenant.name == handed.name) handed.sampled = sampler_.sampled(tenant.id);
    }
  }
}

void UsageKeeper::resume(const Handover& handover) {
  skip();
  const std::vector<Tenant> tenants = host_.tenants.all();
  for (const HandedTenant& handed : handover.tenants) {
    if (handed.sampled.empty()) continue;  // its daemon kept no store
    for (const Tenant& tenant : tenants) {
      if (tenant.name == handed.name) sampler_.restore(tenant.id, handed.sampled);
    }
  }
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
  for (const auto& device : host_.devices) names.push_back(device.name);
  return sampler_.sample(read_books(host_, sessions_), names, wall_clock_ms());
}

}  // namespace fairgv::daemon
