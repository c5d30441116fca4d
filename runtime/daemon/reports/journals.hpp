// Asks workers for their sessions' journals, which people want to see.
//
// A worker answers between two calls of its program, so that an answer may take as long as a call; a worker
// that does not answer in time is asked again only when it has answered. Used by the server's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/daemon/sessions/session.hpp"
#include "runtime/session/journal/journal_report.hpp"

namespace fairgv::daemon {

class Journals {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Gives the peer with this key its answer; the peer may be gone by now.
  using Answer = std::function<void(std::uint64_t key, const std::string& text)>;
  static constexpr std::chrono::seconds kPatience{10};

  explicit Journals(Answer answer) : answer_(std::move(answer)) {}

  /// Has the peer answered later; or an Error at once.
  Result<void> ask(const Session& session, std::uint64_t key, Time now);
  /// The worker has answered. An Error if its answer is none, which nobody hears of.
  Result<void> take(const Session& session, const session::JournalShown& answer);
  /// The session's worker will not answer, since the session `has` ended, or moved.
  void forget(SessionId id, const std::string& has);

  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  struct Question {
    UniqueFd file;
    std::vector<std::uint64_t> keys;  // of peers that wait; none: the worker was too late
    Time until;
  };

  void answer_all(Question& question, const std::string& text) const;

  const Answer answer_;
  std::map<SessionId, Question> open_;
};

}  // namespace fairgv::daemon
