// A client's session over a real segment, with a worker that the test plays.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/session/client/client.hpp"

namespace fairgv::session {

inline ring::SegmentSizes small_sizes() {
  return {.request_bytes = 4096,
          .response_bytes = 4096,
          .notice_bytes = 4096,
          .completion_slots = 8,
          .arena_bytes = 1 << 20};
}

/// Plays the worker on the same memory, mapped a second time as a worker would.
class PlayedWorker {
 public:
  explicit PlayedWorker(int fd)
      : segment_(ring::Segment::attach(UniqueFd(::dup(fd))).value()),
        requests_(segment_.requests()),
        replies_(segment_.responses()),
        notices_(segment_.notices()) {}

  struct Request {
    wire::Opcode opcode = 0;
    std::uint64_t tag = 0;
    std::vector<std::byte> payload;
  };

  /// Takes the next request; the record stays unconsumed until done().
  Request next() {
    ring::wait(segment_.header().worker_bell, budget_,
               [&] { return requests_.has_record() || segment_.closed(); });
    ring::RecordHeader header;
    std::span<const std::byte> payload;
    if (requests_.peek(header, payload) != ring::RingConsumer::Next::record) return {};
    Request request{header.opcode, header.tag, {payload.begin(), payload.end()}};
    if ((request.opcode & wire::kIndirectBit) != 0) {
      wire::Indirect indirect;
      EXPECT_TRUE(wire::decode(std::span<const std::byte>(request.payload), indirect));
      const std::byte* from = segment_.arena().data() + indirect.message.offset;
      request.payload.assign(from, from + indirect.message.bytes);
      request.opcode = static_cast<wire::Opcode>(request.opcode & ~wire::kIndirectBit);
    }
    return request;
  }
  void done() {
    requests_.pop();
    ring::ring(segment_.header().reply_bell);
  }
  void piece(wire::Opcode opcode, std::uint64_t tag, std::span<const std::byte> bytes) {
    ring::wait(segment_.header().room_bell, budget_, [&] { return replies_.has_room(bytes.size()); });
    std::byte* to = replies_.reserve(bytes.size());
    std::copy(bytes.begin(), bytes.end(), to);
    replies_.publish(opcode, tag, bytes.size());
    ring::ring(segment_.header().reply_bell);
  }
  template <class Call>
  void answer(std::uint64_t tag, const typename Call::Reply& reply) {
    std::vector<std::byte> bytes(wire::encoded_size(reply));
    wire::encode(reply, bytes.data());
    std::span<const std::byte> left(bytes);
    while (left.size() > replies_.max_payload()) {
      piece(wire::kPartialReply, tag, left.first(replies_.max_payload()));
      left = left.subspan(replies_.max_payload());
    }
    piece(Call::opcode, tag, left);
  }
  void complete(wire::EventId event, std::int32_t status) {
    using ring::SlotState;
    std::atomic<std::uint64_t>& state = segment_.slots()[event.index()].state;
    std::uint64_t before = state.load();
    std::uint64_t after = 0;
    do {
      after = SlotState::make(event.generation(), status) | (before & SlotState::kQuiet);
    } while (!state.compare_exchange_weak(before, after));
    if ((before & SlotState::kQuiet) == 0) ring::ring(segment_.header().completion_bell);
  }
  void notify(const wire::EventReached& notice) {
    std::byte* to = notices_.reserve(wire::encoded_size(notice));
    ASSERT_NE(to, nullptr);
    wire::encode(notice, to);
    notices_.publish(wire::EventReached::opcode, 0, wire::encoded_size(notice));
    ring::ring(segment_.header().notice_bell);
  }
  void close() { segment_.close(); }
  /// Starts or stops recording, as the daemon does.
  void record(bool on) { segment_.header().recording.on = on ? 1 : 0; }
  const ring::CompletionSlot& slot(wire::EventId event) { return segment_.slots()[event.index()]; }

  ring::Coscheduling& coscheduling() { return segment_.header().coscheduling; }
  /// Wakes threads that sleep on any CPU, as the dispatcher does.
  void switch_in() {
    coscheduling().switch_in();
    ring::ring(segment_.header().completion_bell);
  }

 private:
  ring::Segment segment_;
  ring::RingConsumer requests_;
  ring::RingProducer replies_;
  ring::RingProducer notices_;
  ring::SpinBudget budget_;
};

struct ClientSessionTest : ::testing::Test {
  ClientSessionTest() {
    auto segment = ring::Segment::create(small_sizes());
    EXPECT_TRUE(segment);
    worker.emplace(segment->fd());
    session.emplace(std::move(segment).value(), UniqueFd());
  }
  std::optional<PlayedWorker> worker;
  std::optional<ClientSession> session;
};

}  // namespace fairgv::session
