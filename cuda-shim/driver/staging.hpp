// Pageable memory on its way: pieces of the session's arena between the program's memory and the worker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "cuda-shim/driver/connection.hpp"

namespace fairgv::cuda::remote {

class Operation;

/// Any thread may call any method.
class StagingPool {
 public:
  explicit StagingPool(Connection& connection)
      : connection_(connection),
        patience_(std::min<std::uint64_t>(kPatienceBytes,
                                          connection.session().segment().arena().size() / kPatiencePart)) {}

  /// Bytes at which a copy is cut, so that staging and copying overlap.
  static constexpr std::uint64_t kPiece = std::uint64_t{4} << 20U;

  /// A piece of the arena. Waits for earlier pieces when much is under way. Nothing: the arena is full.
  std::optional<wire::ArenaRange> take(std::uint64_t bytes);
  /// The piece is used again when `copied`, the copy out of it, has ended.
  void give_back_after(std::shared_ptr<Operation> copied, wire::ArenaRange range);
  void give_back(wire::ArenaRange range) { connection_.session().free(range); }

 private:
  /// With more than this under way, or more than a part of the arena if that is smaller, the next piece waits
  /// for the oldest.
  static constexpr std::uint64_t kPatienceBytes = std::uint64_t{64} << 20U;
  static constexpr std::uint64_t kPatiencePart = 4;

  struct Used {
    std::shared_ptr<Operation> copied;
    wire::ArenaRange range;
  };
  /// Gives back the pieces whose copies have ended; with `wait`, waits for the oldest. False: nothing is
  /// under way.
  bool reclaim(bool wait);

  Connection& connection_;
  const std::uint64_t patience_;
  std::mutex mutex_;  // guards the members below
  std::deque<Used> used_;
  std::uint64_t bytes_ = 0;
};

}  // namespace fairgv::cuda::remote
