// The worker that takes over: makes a session of its images.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/move/image.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"

namespace fairgv::vgpu {

/// In a back end that has handled no call. Nothing is handed to a driver as a command but contents. All that
/// it is given outlives it.
class SessionMaker {
 public:
  /// `memory`: the session's, or null.
  SessionMaker(session::Api api, CallHandler& calls, Executor::Loop& loop, Replies& replies,
               MemoryAccount* memory)
      : api_(api),
        calls_(calls),
        objects_(*calls.movable()),
        loop_(loop),
        replies_(replies),
        memory_(memory) {}

  /// Makes what the image has and those before it had not. An Error, as one line, if the session cannot go on
  /// here: then nothing of it may be used.
  Result<void> make(const UniqueFd& file, const session::MakeAgain& order);
  /// Of the next call, after the last image.
  std::uint64_t next_number() const { return next_number_; }

 private:
  Result<void> begin(const session::MakeAgain& order);
  Result<void> make_ahead(session::ImageReader& image, session::ImageReader::Item first);
  Result<void> make_last(session::ImageReader& image, session::ImageReader::Item first);
  Result<void> take_head(session::ImageReader& image, bool ahead);
  Result<session::ImageReader::Item> take_state(session::ImageReader& image, bool ahead);
  Result<session::ImageReader::Item> take_events(session::ImageReader& image,
                                                 session::ImageReader::Item first);
  Result<void> take_ahead(const session::ImageReader::Item& item);
  Result<void> take(const session::ImageReader::Item& item);
  void take(const session::ImageHistory& history);
  Result<void> take(const session::ImageCall& call);
  Result<void> take(const session::ImageCommand& command);
  Result<void> make(const session::ImageCall& call);
  Result<void> handle(std::uint64_t number, std::uint32_t opcode, std::span<const std::byte> call);
  Result<void> make_room(wire::ObjectId object);

  const session::Api api_;
  CallHandler& calls_;
  MovableObjects& objects_;
  Executor::Loop& loop_;
  Replies& replies_;
  MemoryAccount* const memory_;

  bool has_begun_ = false;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moves_;
  std::vector<std::uint32_t> forced_;
  std::unordered_set<std::uint64_t> made_;            // calls of images ahead, by their numbers
  std::unordered_set<std::uint64_t> released_ahead_;  // objects, by their ids
  std::uint64_t next_number_ = 1;
  RestoredEvents events_;
  wire::ObjectId latest_;                             // that a call has made or changed
  std::map<std::uint64_t, wire::ObjectId> releases_;  // to be done, by their numbers
  std::vector<std::uint64_t> call_;
};

}  // namespace fairgv::vgpu
