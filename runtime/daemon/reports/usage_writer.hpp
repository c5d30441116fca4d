// The thread that writes the usage store, so that nobody else ever waits for a disk.
//
// It takes batches of rows, one transaction each, and questions about what is stored, in the order in which
// they come; an administrator's before those of users. A batch that cannot be written is kept and tried again
// every kRetry, so a full disk loses nothing as long as the daemon lives; the log has the first failure of a
// series, and the recovery. At its end the thread writes its remaining rows, once.
//
// All methods may be called from any thread; the server's thread calls them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/service/event_signal.hpp"
#include "runtime/usage/store.hpp"

namespace fairgv::daemon {

class UsageWriter {
 public:
  static constexpr std::chrono::seconds kRetry{10};
  static constexpr std::chrono::hours kRetireEvery{1};
  /// Intervals that are older than this are merged into hours.
  static constexpr std::chrono::hours kMergeAfter{24};

  struct Settings {
    std::string path;
    std::uint32_t retention_days = 0;
    friend bool operator==(const Settings&, const Settings&) = default;
  };
  struct State {
    std::string error;  // empty: the last thing it did went well
    std::uint64_t flushes = 0;
    std::uint64_t failures = 0;
    std::int64_t last_flush_ms = 0;  // since 1970; 0: none yet
  };
  struct Answer {
    std::uint64_t token;
    usage::UsageQuery query;
    Result<std::vector<usage::UsageSum>> sums;
  };

  /// Opens the store in the thread: a path that cannot be opened is a failure like any other.
  static Result<std::unique_ptr<UsageWriter>> start(Settings settings);
  ~UsageWriter();
  UsageWriter(const UsageWriter&) = delete;
  UsageWriter& operator=(const UsageWriter&) = delete;

  const Settings& settings() const { return settings_; }
  /// Whether all that was offered has been written.
  bool idle() const;
  void offer(std::vector<usage::Row> rows);
  /// The answer comes to take_answers(); `uid`: only that user's rows; none: an administrator asks.
  void ask(std::uint64_t token, const usage::UsageQuery& query, std::optional<std::uint32_t> uid);
  /// Readable when there are answers to take.
  int answers_fd() const { return answers_event_.fd(); }
  std::vector<Answer> take_answers();
  State state() const;

 private:
  struct Question {
    std::uint64_t token;
    usage::UsageQuery query;
    std::optional<std::uint32_t> uid;
  };

  UsageWriter(Settings settings, EventSignal answers)
      : settings_(std::move(settings)), answers_event_(std::move(answers)) {}
  void run();
  Result<void> write(const std::vector<usage::Row>& rows);
  void note(const Result<void>& outcome);
  void answer(const Question& question);

  const Settings settings_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // With the lock held:
  std::vector<usage::Row> pending_;
  std::deque<Question> questions_;  // the next one first
  std::vector<Answer> answers_;
  State state_;
  bool writing_ = false;
  bool stopping_ = false;
  // The thread's own:
  std::optional<usage::Store> store_;
  std::int64_t retired_ms_ = 0;

  EventSignal answers_event_;
  std::thread thread_;
};

}  // namespace fairgv::daemon
