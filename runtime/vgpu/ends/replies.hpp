// The response ring, worker to front end: answers of queries.
//
// The loop thread's alone. A reply longer than the ring takes at once goes in pieces (wire::kPartialReply);
// the front end reads them as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/ring/segment.hpp"
#include "runtime/ring/spsc_ring.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::vgpu {

class Replies {
 public:
  /// `meanwhile` is called now and then while send() waits for room: the device must not be kept waiting by a
  /// front end that is slow to read. `answering` hears of each reply to a call that says when it began.
  Replies(
      const ring::Segment& segment, std::function<void()> meanwhile,
      std::function<void(wire::Opcode, std::uint64_t began_ns)> answering = [](auto, auto) {})
      : segment_(segment),
        ring_(segment.responses()),
        meanwhile_(std::move(meanwhile)),
        answering_(std::move(answering)) {}

  /// From now on, or no longer, nobody waits for a reply: calls are handled again.
  void mute(bool muted) { muted_ = muted; }

  /// Answers the call that came with `tag`. Returns when the reply is in the ring, or the session is closed.
  template <wire::Message Reply>
  void send(wire::Opcode opcode, std::uint64_t tag, const Reply& reply) {
    if (muted_) [[unlikely]]
      return;
    // Before the program has it: a call of its that is recorded later has begun later.
    if (const std::uint64_t began = wire::time_of(tag); began != 0) [[unlikely]]
      answering_(opcode, began);
    const std::size_t size = wire::encoded_size(reply);
    if (std::byte* to = ring_.reserve(size)) {
      wire::encode(reply, to);
      ring_.publish(opcode, tag, size);
      ring::ring(segment_.header().reply_bell);
      return;
    }
    encoded_.resize(size);
    wire::encode(reply, encoded_.data());
    send_pieces(opcode, tag, encoded_);
    encoded_ = {};
  }

 private:
  void send_pieces(wire::Opcode opcode, std::uint64_t tag, std::span<const std::byte> reply);

  const ring::Segment& segment_;
  ring::RingProducer ring_;
  ring::SpinBudget room_budget_;
  std::function<void()> meanwhile_;
  std::function<void(wire::Opcode, std::uint64_t)> answering_;
  std::vector<std::byte> encoded_;
  bool muted_ = false;
};

}  // namespace fairgv::vgpu
