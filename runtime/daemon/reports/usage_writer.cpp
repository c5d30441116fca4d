#include "runtime/daemon/reports/usage_writer.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

#include "runtime/base/signals_blocked.hpp"

namespace fairgv::daemon {
namespace {

using WallClock = std::chrono::system_clock;

std::int64_t milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

Result<std::unique_ptr<UsageWriter>> UsageWriter::start(Settings settings) {
  FAIRGV_TRY(answers, EventSignal::make("the usage store's"));
  std::unique_ptr<UsageWriter> writer(new UsageWriter(std::move(settings), std::move(answers).value()));
  const SignalsBlocked quiet;  // signals are for the server's thread
  writer->thread_ = std::thread([raw = writer.get()] { raw->run(); });
  ::pthread_setname_np(writer->thread_.native_handle(), "usage");
  return writer;
}

UsageWriter::~UsageWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool UsageWriter::idle() const {
  const std::lock_guard lock(mutex_);
  return pending_.empty() && !writing_;
}

void UsageWriter::offer(std::vector<usage::Row> rows) {
  if (rows.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    std::move(rows.begin(), rows.end(), std::back_inserter(pending_));
  }
  changed_.notify_one();
}

void UsageWriter::ask(std::uint64_t token, const usage::UsageQuery& query, std::optional<std::uint32_t> uid) {
  {
    const std::lock_guard lock(mutex_);
    const auto first_of_users = std::find_if(questions_.begin(), questions_.end(),
                                             [](const Question& each) { return each.uid.has_value(); });
    questions_.insert(uid ? questions_.end() : first_of_users, {token, query, uid});
  }
  changed_.notify_one();
}

std::vector<UsageWriter::Answer> UsageWriter::take_answers() {
  const std::lock_guard lock(mutex_);
  answers_event_.clear();
  return std::exchange(answers_, {});
}

UsageWriter::State UsageWriter::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void UsageWriter::run() {
  bool failed = false;
  std::unique_lock lock(mutex_);
  for (bool first = true;; first = false) {
    const auto has_work = [&] { return stopping_ || !questions_.empty() || (!pending_.empty() && !failed); };
    if (!first) changed_.wait_until(lock, WallClock::now() + (failed ? kRetry : kRetireEvery), has_work);
    std::vector<usage::Row> rows = std::exchange(pending_, {});
    const bool last = stopping_;
    writing_ = true;
    lock.unlock();
    const auto written = write(rows);
    failed = !written;
    note(written);
    lock.lock();
    writing_ = false;
    if (failed) pending_.insert(pending_.begin(), rows.begin(), rows.end());
    // One at a time: an administrator's may come meanwhile, or rows. The keeper knows which are not answered.
    if (!questions_.empty() && !last && (failed || pending_.empty())) {
      const Question question = questions_.front();
      questions_.pop_front();
      lock.unlock();
      answer(question);
      lock.lock();
    }
    if (last && (failed || pending_.empty())) break;
  }
  if (!pending_.empty()) spdlog::error("{} rows of usage could not be stored", pending_.size());
  store_.reset();
}

/// Opens the store if it is closed, appends, and retires old rows.
Result<void> UsageWriter::write(const std::vector<usage::Row>& rows) {
  if (!store_) {
    FAIRGV_TRY(opened, usage::Store::open(settings_.path));
    store_ = std::move(opened).value();
  }
  if (auto appended = store_->append(rows); !appended) {
    store_.reset();  // opened anew: the file may have been removed
    return appended;
  }
  const std::int64_t now = milliseconds(WallClock::now().time_since_epoch());
  if (now - retired_ms_ >= milliseconds(kRetireEvery)) {
    retired_ms_ = now;
    const std::int64_t keep = milliseconds(std::chrono::hours(24) * settings_.retention_days);
    // The rows have not failed: they are in the store.
    if (auto retired = store_->retire(now - keep, now - milliseconds(kMergeAfter)); !retired) {
      spdlog::warn("{}", retired.error().message);
    }
  }
  const std::lock_guard lock(mutex_);
  if (!rows.empty()) {
    state_.flushes += 1;
    state_.last_flush_ms = now;
  }
  return {};
}

void UsageWriter::note(const Result<void>& outcome) {
  const std::lock_guard lock(mutex_);
  const std::string before = std::exchange(state_.error, outcome ? "" : outcome.error().message);
  if (!outcome) state_.failures += 1;
  if (!outcome && before.empty()) {
    spdlog::error("{}: what tenants use is kept in memory until it can be written", state_.error);
  } else if (outcome && !before.empty()) {
    spdlog::info("the usage store {} can be written again", settings_.path);
  }
}

void UsageWriter::answer(const Question& question) {
  Result<std::vector<usage::UsageSum>> sums = Error{"the usage store cannot be opened: see the daemon's log"};
  if (store_) sums = store_->sum(question.query, question.uid);
  const std::lock_guard lock(mutex_);
  answers_.push_back({question.token, question.query, std::move(sums)});
  answers_event_.raise();
}

}  // namespace fairgv::daemon
