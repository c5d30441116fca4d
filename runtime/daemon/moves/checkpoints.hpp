// `fairgv checkpoint` and `restore`: the device side of a session in a file, and a session that is put back
// to what is in one.
//
// The daemon touches no file of a user's. For a checkpoint the session comes to rest, and the peer gets its
// image and its shared memory for reading; it copies them and says so, and the session goes on. For a restore
// the peer gets two memory files, fills them, and says so: then the session moves to a new worker that is
// given them. A session can be restored if its program is at the same place as it was.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/control/checkpoint/facts.hpp"
#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Checkpoints {
 public:
  /// An answer, and files that go with it: none, or two.
  struct Reply {
    std::string text{};
    std::vector<UniqueFd> files{};
  };
  /// Gives the peer with this key its answer; the peer may be gone by now.
  using Answer = std::function<void(std::uint64_t key, const Reply& reply)>;

  struct Needs {
    const Sessions& sessions;
    Moves& moves;
    DeviceKeeper& devices;
    Tenancies& tenancies;
    Answer answer;
  };
  explicit Checkpoints(const Needs& needs) : needs_(needs) {}
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// The requests of a peer that may do so, on a session that runs: an answer at once, or none: it comes
  /// later. A peer has one session at a time.
  Result<std::optional<Reply>> checkpoint(Session& session, std::uint64_t key);
  Result<std::optional<Reply>> copied(Session& session, std::uint64_t key);
  Result<std::optional<Reply>> restore(Session& session, const control::CheckpointFacts& facts,
                                       std::uint64_t key);
  Result<std::optional<Reply>> filled(Session& session, std::uint64_t key);
  /// The peer is gone: what it copies or fills is given up.
  void leave(std::uint64_t key);

 private:
  struct Offer {
    SessionId session;
    control::CheckpointFacts facts;
    UniqueFd image, contents;
  };
  control::CheckpointFacts facts_of(const Session& session) const;
  void hand_out(Session& session, std::uint64_t key, const UniqueFd& image, std::uint64_t bytes);

  const Needs needs_;
  std::map<std::uint64_t, SessionId> resting_;  // by the peer's key
  std::map<std::uint64_t, Offer> offers_;       // the same
};

}  // namespace fairgv::daemon
