// Keeps the books of the past: looks at all totals every flush interval while there are sessions, and gives
// the use since the last look to the thread that writes the usage store.
//
// While the store cannot be written nothing more is sampled, and nothing is lost: the next interval is
// longer. Nothing runs while nobody has a session. Used by the server's thread only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/reports/sources.hpp"
#include "runtime/daemon/reports/usage_sampler.hpp"
#include "runtime/daemon/reports/usage_writer.hpp"
#include "runtime/daemon/service/event_loop.hpp"

namespace fairgv::daemon {

class UsageKeeper {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Called with the answer to a question: its token and the answer's text.
  using Reply = std::function<void(std::uint64_t, const std::string&)>;

  /// `rule` and `events` outlive it.
  UsageKeeper(const UsageRule& rule, EventLoop& events, const Sources& from, Reply reply);

  /// As the configuration says: opens, closes or changes the store. Failures are in the log.
  void configure();
  bool on() const { return writer_ != nullptr; }
  /// Nothing while the store is off.
  std::optional<UsageWriter::State> state() const;

  /// Skips the use until now instead of storing it: for a store that was off.
  void skip() { (void)sample(); }

  /// When expire() wants to be called.
  std::optional<Time> deadline();
  void expire(Time now);
  /// Samples now, also while earlier rows wait: before totals are forgotten.
  void flush();
  /// Writes what there is and closes the store; configure() opens it again.
  void close();

  /// Asks the store for its contents as of now; the answer comes later, by `reply`. With `uid` only that
  /// user's use.
  void ask(std::uint64_t token, const control::UsageQuery& query, std::optional<std::uint32_t> uid);

  /// The totals that the next daemon must not count again, by device; empty: the store is off. restore()
  /// takes those of the previous daemon, once its sessions go on, after skip().
  std::vector<usage::UsageAmounts> sampled(TenantId id) const;
  void restore(TenantId id, std::vector<usage::UsageAmounts> sampled);

 private:
  void reply_all();
  std::vector<usage::Row> sample();

  const UsageRule& rule_;
  EventLoop& events_;
  const Sources from_;
  const Reply reply_;
  UsageSampler sampler_;
  std::unique_ptr<UsageWriter> writer_;
  std::set<std::uint64_t> asked_;  // tokens of questions that are not answered yet
  EventLoop::Watch watch_;         // after the writer, whose descriptor it watches: goes first
  std::optional<Time> next_;       // there is, or was until now, a session to look at
};

}  // namespace fairgv::daemon
