// The daemon's orders to a worker while it serves, and the answers that concern a move of the session to
// another worker: one JSON object per packet, on the worker's channel.
//
//   daemon -> worker      show journal  with a memory file: write the journal's report to it
//   daemon -> old worker  copy ahead    with a memory file: write to it what has come since the last such
//   order,
//                                       and serve on
//   old worker -> daemon  copied ahead  it is written; or cannot move
//   daemon -> new worker  make ahead    with that file: make of the session what it has
//   new worker -> daemon  made ahead    I wait; or failed
//   (as often as it pays, or not at all; then)
//   daemon -> old worker  write image   with a memory file: come to rest, and write to it what the new worker
//                                       has not yet
//   old worker -> daemon  image         it is written: I wait; or
//                         cannot move   why; I serve on
//   daemon -> new worker  make again    with that file: make the session of it (WorkerOptions::takes_over)
//   new worker -> daemon  made again    I wait; or failed (protocol.hpp)
//   daemon -> either      go on         serve: the new worker takes over from here, or the old one goes on
//
// The daemon ends the worker that does not go on, which has nothing under way then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/session/device/device_failure.hpp"
#include "runtime/session/journal/journal_report.hpp"

namespace fairgv::session {

struct CopyAhead {
  std::uint64_t number = 0;  // that the answer is to have
};

struct WriteImage {
  /// The number of the latest copy ahead that the new worker has made; 0: none. One after it counts as not
  /// made, though it may have been told: the daemon has not passed it on.
  std::uint64_t copied = 0;
};

struct MakeAgain {
  /// An image that was copied ahead: another order follows.
  bool ahead = false;
  std::uint64_t bytes = 0;  // of the image in the file
  /// The device memory that the session holds, by its program's devices, wherever these lie: what its objects
  /// take and what is left over. From then on a worker speaks of these devices to the ledger, too.
  std::vector<std::uint64_t> granted;
  /// Pairs: what is on the first of the two goes to the second, by the worker's devices.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moves{};
  /// The first of those pairs whose second may be unlike it: an administrator or its user wants it so.
  std::vector<std::uint32_t> forced{};
};

struct GoOn {};

using WorkerOrder = std::variant<ShowJournal, CopyAhead, WriteImage, MakeAgain, GoOn, UseDevice>;

std::string to_text(const CopyAhead& order);
std::string to_text(const WriteImage& order);
std::string to_text(const MakeAgain& order);
std::string to_text(const GoOn& order);
Result<WorkerOrder> parse_worker_order(std::string_view text);

struct CopiedAhead {
  std::uint64_t number = 0;  // of the order
  std::uint64_t bytes = 0;   // of the image in the file
  /// Contents that are still to be copied: they have been written meanwhile, or could not be copied.
  std::uint64_t left = 0;
};

struct ImageWritten {
  std::uint64_t bytes = 0;
};

struct CannotMove {
  std::string reason;  // one line, at most kLongestFailure bytes
};

struct MadeAhead {};

struct MadeAgain {};

std::string to_text(const CopiedAhead& answer);
std::string to_text(const ImageWritten& answer);
std::string to_text(const CannotMove& answer);
std::string to_text(const MadeAhead& answer);
std::string to_text(const MadeAgain& answer);

}  // namespace fairgv::session
