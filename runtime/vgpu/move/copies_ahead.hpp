// The copies of a session that are made while it still runs, for the worker that will take it over: the calls
// that have made its objects, so that programs are built there meanwhile, and their contents (pre-copy).
//
// A copy holds the session only while it is begun. The contents are copied by commands of the worker's own,
// in the session's turns and at its tenant's charge, and may be written meanwhile: the back end notes what
// commands may write, and that is copied again, at the latest when nothing runs any more.
//
// A copy counts only if it reaches the other worker. The daemon leaves out the latest one if that takes too
// long, and says so when it orders the last image (keep()): all is then as it was before that copy.
//
// The thread's that has the helm. The handler outlives this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/move/image_writer.hpp"

namespace fairgv::vgpu {

class CopiesAhead {
 public:
  struct Copied {
    std::uint64_t bytes = 0;  // of the image
    std::uint64_t left = 0;   // of contents that are to be copied again
  };
  using Done = std::function<void(const Copied&)>;

  CopiesAhead(CallHandler& calls, session::Api api) : calls_(calls), api_(api) {}
  ~CopiesAhead() { abandon(); }
  CopiesAhead(const CopiesAhead&) = delete;
  CopiesAhead& operator=(const CopiesAhead&) = delete;

  /// Between two calls, of a session that may be moved: writes an image of what has come since the latest
  /// copy, which the other worker has, and has its contents copied. Calls `done` when they are, before it
  /// returns or later. `number`: the daemon's, not 0. `next_number`: of calls.
  Result<void> begin(std::uint64_t number, UniqueFd file, Executor::Loop& loop, std::uint64_t next_number,
                     Done done);
  /// The other worker has the copies up to this one, 0: none; one after it counts as not made, and is not
  /// told any more. An Error if it is neither the latest nor the one before.
  Result<void> keep(std::uint64_t number);
  /// At rest: what there is holds for the last image.
  void close();
  /// Nothing counts any more: the session stays.
  void forget();

  // ---- for the last image, after close()

  bool has_call(std::uint64_t number) const { return now_.told.contains(number); }
  bool has_contents(wire::ObjectId object) const { return now_.copied.contains(object.raw); }
  /// Objects that were told and are no more.
  std::vector<wire::ObjectId> gone(const std::vector<std::shared_ptr<const Journal::Record>>& records) const;

 private:
  struct Round;

  /// An object that the other worker has been told to make.
  struct Told {
    std::uint64_t number = 0;  // of the call that makes it
    wire::Opcode opcode = 0;
  };
  /// All that the other worker has, as far as its copies have arrived.
  struct Copies {
    std::uint64_t latest = 0;                                    // of them, by the daemon's number; 0: none
    std::unordered_set<std::uint64_t> told;                      // calls, by their numbers
    std::uint64_t told_until = 0;                                // the latest of them
    std::unordered_map<std::uint64_t, Told> objects;             // told and not gone, by their ids
    std::unordered_map<std::uint32_t, wire::ObjectId> by_index;  // those that have their places there
    std::unordered_set<std::uint64_t> copied;                    // contents, by their objects' ids
  };

  Result<void> tell_all(ImageWriter& image, Round& round);
  void forget_gone(ImageWriter& image, const std::vector<std::shared_ptr<const Journal::Record>>& records);
  void tell_calls(ImageWriter& image, const std::vector<std::shared_ptr<const Journal::Record>>& records);
  bool make_room(ImageWriter& image, const Journal::Record& record,
                 const std::vector<std::shared_ptr<const Journal::Record>>& records);
  Result<void> tell_contents(ImageWriter& image, Round& round) const;
  void end(const Round& round);
  std::uint64_t left() const;
  void abandon();

  CallHandler& calls_;
  const session::Api api_;
  bool prepares_ = false;
  Copies now_;     // with the copy under way
  Copies before_;  // without the latest copy
  std::weak_ptr<Round> under_way_;
};

}  // namespace fairgv::vgpu
