// The client's session against a worker that this test plays over a real segment.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <random>
#include <thread>

#include "runtime/session/client/client.hpp"

namespace fairgv::session {
namespace {

ring::SegmentSizes small_sizes() {
  return {.request_bytes = 4096,
          .response_bytes = 4096,
          .notice_bytes = 4096,
          .completion_slots = 8,
          .arena_bytes = 1 << 20};
}

/// Plays the worker on the same memory, mapped a second time as a worker would.
class Worker {
 public:
  explicit Worker(int fd)
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
  /// As the daemon does.
  void record(bool on) { segment_.header().recording.on = on ? 1 : 0; }
  const ring::CompletionSlot& slot(wire::EventId event) { return segment_.slots()[event.index()]; }

  ring::Coscheduling& coscheduling() { return segment_.header().coscheduling; }
  /// As the dispatcher does, for whoever sleeps on any CPU.
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

struct Fixture : ::testing::Test {
  Fixture() {
    auto segment = ring::Segment::create(small_sizes());
    EXPECT_TRUE(segment);
    worker.emplace(segment->fd());
    session.emplace(std::move(segment).value(), UniqueFd());
  }
  std::optional<Worker> worker;
  std::optional<ClientSession> session;
};

TEST_F(Fixture, CallReturnsTheWorkersReply) {
  std::thread peer([&] {
    const auto request = worker->next();
    wire::GetDeviceInfo call;
    EXPECT_TRUE(wire::decode(std::span<const std::byte>(request.payload), call));
    EXPECT_EQ(call.param, 0x1000u);
    worker->answer<wire::GetDeviceInfo>(request.tag, {0, {std::byte{42}}});
    worker->done();
  });
  const auto reply = session->call(wire::GetDeviceInfo{0, 0x1000});
  peer.join();
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->value.size(), 1u);
  EXPECT_EQ(reply->value[0], std::byte{42});
}

TEST_F(Fixture, RepliesLongerThanTheRingArriveInPieces) {
  std::vector<std::byte> big(100'000);
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<std::byte>(i * 7);
  std::thread peer([&] {
    const auto request = worker->next();
    worker->answer<wire::GetProgramInfo>(request.tag, {0, big});
    worker->done();
  });
  const auto reply = session->call(wire::GetProgramInfo{});
  peer.join();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->value, big);
}

TEST_F(Fixture, BigCallsTravelThroughTheArenaAndAreReclaimed) {
  const std::string source(200'000, 'x');
  std::thread peer([&] {
    for (int i = 0; i < 20; ++i) {
      const auto request = worker->next();
      wire::CreateProgramWithSource call;
      EXPECT_EQ(request.opcode, wire::CreateProgramWithSource::opcode);
      EXPECT_TRUE(wire::decode(std::span<const std::byte>(request.payload), call));
      EXPECT_EQ(call.source, source);
      worker->done();
      // The reply to a ping tells the client that the range is free again: 20 of them do not fit the arena at
      // once.
      const auto ping = worker->next();
      worker->answer<wire::Ping>(ping.tag, {});
      worker->done();
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(session->send(wire::CreateProgramWithSource{session->new_object(), {}, source}));
    EXPECT_TRUE(session->call(wire::Ping{}));
  }
  peer.join();
}

TEST_F(Fixture, SendersWaitForRoomAndLoseNothing) {
  constexpr int kThreads = 3;
  constexpr std::uint64_t kEach = 2'000;
  std::thread peer([&] {
    std::uint64_t count = 0;
    while (count < kThreads * kEach) {
      const auto request = worker->next();
      EXPECT_EQ(request.opcode, wire::SetUserEventStatus::opcode);
      worker->done();
      ++count;
    }
  });
  std::vector<std::thread> senders;
  for (int t = 0; t < kThreads; ++t) {
    senders.emplace_back([&] {
      for (std::uint64_t i = 0; i < kEach; ++i) EXPECT_TRUE(session->send(wire::SetUserEventStatus{}));
    });
  }
  for (auto& sender : senders) sender.join();
  peer.join();
}

TEST_F(Fixture, WaitEndsWithTheStatusThatTheWorkerStores) {
  const auto event = session->new_event();
  EXPECT_EQ(session->status(event), kQueued);
  std::thread peer([&] { worker->complete(event, -5); });
  EXPECT_EQ(session->wait(event), -5);
  peer.join();
}

// The order of the end and of the beginning of the wait is anybody's: thousands of tries meet both.
TEST_F(Fixture, AWaitOnAQuietSlotIsAlwaysRung) {
  session->use_quiet_slots();
  std::atomic<std::uint64_t> next{0};
  constexpr int kRounds = 3'000;
  std::thread peer([&] {
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t raw = 0;
      while ((raw = next.exchange(0)) == 0) std::this_thread::yield();
      if (round % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      worker->complete(wire::EventId{raw}, 0);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    const auto event = session->new_event();
    next = event.raw;
    EXPECT_EQ(session->wait(event), kComplete);
    session->release_event(event);
    worker->next();
    worker->done();
  }
  peer.join();
}

TEST_F(Fixture, OnlyAWaitForWhatHasNotEndedCountsAsASynchronousCall) {
  const auto event = session->new_event();
  std::thread peer([&] {
    while (worker->coscheduling().synchronous_calls == 0) std::this_thread::yield();
    worker->complete(event, 0);
  });
  EXPECT_EQ(session->wait(event), kComplete);
  peer.join();
  EXPECT_EQ(session->wait(event), kComplete);
  EXPECT_EQ(worker->coscheduling().synchronous_calls, 1U);
}

TEST_F(Fixture, TellsWhenItsCallsBeganOnlyWhileTheyAreRecorded) {
  const auto now = [] {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  };
  for (const bool recorded : {true, false, true}) {
    worker->record(recorded);
    const std::uint64_t before = now();
    std::uint64_t called = 0;
    std::uint64_t sent = 0;
    std::uint64_t ended = 0;
    std::thread peer([&] {
      const auto tag_of = [&] { return wire::time_of(worker->next().tag); };
      const auto ping = worker->next();
      called = wire::time_of(ping.tag);
      worker->answer<wire::Ping>(ping.tag, {});
      worker->done();
      sent = tag_of();
      worker->done();
      ended = tag_of();
      worker->done();
    });
    EXPECT_TRUE(session->call(wire::Ping{}));
    EXPECT_TRUE(session->send(wire::SetUserEventStatus{}));
    EXPECT_TRUE(session->send(wire::EndAccess{}));
    peer.join();
    EXPECT_EQ(sent, 0u) << "nobody waits for a one-way call";
    if (recorded) {
      EXPECT_LE(before, called);
      EXPECT_LE(called, ended);
      EXPECT_LE(ended, now());
    } else {
      EXPECT_EQ(called, 0u);
      EXPECT_EQ(ended, 0u);
    }
  }
}

TEST_F(Fixture, TellsSinceWhenAndInWhichCallItWaits) {
  session->use_quiet_slots();
  for (const bool recorded : {true, false}) {
    worker->record(recorded);
    const auto event = session->new_event();
    std::thread waiter([&] { EXPECT_EQ(session->wait(event, wire::kFinish), kComplete); });
    // Not quiet any more: it has said by then what it says.
    while ((worker->slot(event).state.load() & ring::SlotState::kQuiet) != 0) std::this_thread::yield();
    EXPECT_EQ(worker->slot(event).awaited_from.load() != 0, recorded);
    EXPECT_EQ(worker->slot(event).awaited_as.load(), wire::kFinish);
    worker->complete(event, kComplete);
    waiter.join();
    session->forget_event(event);  // the next one has the same slot, in which a time stands
  }
}

TEST_F(Fixture, AWaiterThatIsSwitchedInAndOutAgainMissesNothing) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto event = session->new_event();
    std::thread peer([&] {
      for (auto turns = random() % 4; turns > 0; --turns) {
        worker->switch_in();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 800));
        if (random() % 2 == 0) worker->coscheduling().switch_out();
      }
      worker->complete(event, 0);
    });
    EXPECT_EQ(session->wait(event), kComplete);
    peer.join();
    session->release_event(event);
    worker->next();
    worker->done();
  }
}

TEST_F(Fixture, ALateWriteForTheSlotsFormerOwnerIsNotSeen) {
  const auto first = session->new_event();
  session->release_event(first);
  const auto second = session->new_event();
  ASSERT_EQ(second.index(), first.index());
  ASSERT_NE(second.generation(), first.generation());
  worker->complete(first, 0);
  EXPECT_EQ(session->status(second), kQueued);
  worker->complete(second, 0);
  EXPECT_EQ(session->status(second), kComplete);
}

TEST_F(Fixture, SlotsRunOutCleanlyAndComeBack) {
  std::vector<wire::EventId> events;
  for (int i = 0; i < 8; ++i) events.push_back(session->new_event());
  EXPECT_TRUE(events.back());
  EXPECT_FALSE(session->new_event());
  session->release_event(events[3]);
  EXPECT_TRUE(session->new_event());
}

TEST_F(Fixture, ALostSessionEndsWaitsCallsAndSends) {
  const auto event = session->new_event();
  std::thread waiter([&] { EXPECT_EQ(session->wait(event), kDeviceNotAvailable); });
  std::thread caller([&] { EXPECT_FALSE(session->call(wire::Ping{})); });
  worker->next();
  worker->close();
  waiter.join();
  caller.join();
  EXPECT_TRUE(session->lost());
  EXPECT_FALSE(session->send(wire::SetUserEventStatus{}));
}

TEST_F(Fixture, AReplyToAnotherCallEndsTheSession) {
  std::thread peer([&] {
    const auto request = worker->next();
    worker->answer<wire::Ping>(request.tag + 1, {});
    worker->done();
  });
  EXPECT_FALSE(session->call(wire::Ping{}));
  peer.join();
  EXPECT_TRUE(session->lost());
}

TEST_F(Fixture, NoticesArriveInOrderOnTheSessionsThread) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::int32_t> seen;
  session->set_notice_handler([&](const wire::EventReached& notice) {
    const std::lock_guard lock(mutex);
    seen.push_back(notice.status);
    arrived.notify_one();
  });
  for (int i = 0; i < 10; ++i) worker->notify({wire::EventId::make(0, 1), 0, i});
  std::unique_lock lock(mutex);
  arrived.wait(lock, [&] { return seen.size() == 10; });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST_F(Fixture, LossIsToldOnceAfterTheLastNotice) {
  std::atomic<int> notices{0};
  std::atomic<int> notices_before_loss{-1};
  worker->notify({wire::EventId::make(0, 1), 0, 0});
  worker->notify({wire::EventId::make(0, 1), 0, 1});
  worker->close();
  session->set_notice_handler([&](const wire::EventReached&) { ++notices; },
                              [&] {
                                EXPECT_EQ(notices_before_loss.exchange(notices), -1);
                                notices_before_loss.notify_one();
                              });
  notices_before_loss.wait(-1);
  EXPECT_EQ(notices_before_loss, 2);
}

/// A client's session on a socket whose other end this test has, as the daemon does.
struct WithDaemon : ::testing::Test {
  WithDaemon() {
    auto ends = std::move(Socket::pair()).value();
    daemon = std::move(ends.first);
    session.emplace(ring::Segment::create(small_sizes()).value(), ends.second.release(), UniqueFd(),
                    true);
  }
  Socket daemon;
  std::optional<ClientSession> session;
};

TEST_F(WithDaemon, WhatTheDriverSaysComesOutOfStandardError) {
  ::testing::internal::CaptureStderr();
  std::thread answers([&] {
    const auto question = daemon.receive();
    ASSERT_TRUE(question);
    EXPECT_TRUE(daemon.send(to_text(DriverSays{{"a warning", "another"}, 0})));
    EXPECT_TRUE(daemon.send(to_text(DriverSays{{}, parse_hear(question->text)->number})));
  });
  session->hear_driver(std::chrono::seconds(60));
  answers.join();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "a warning\nanother\n");
  EXPECT_FALSE(session->lost());
}

TEST_F(WithDaemon, NobodyWaitsLongForADaemonThatDoesNotAnswer) {
  session->hear_driver(std::chrono::milliseconds(1));
  daemon.close();
  session->hear_driver(std::chrono::seconds(60));  // over at once: the session is lost
}

TEST_F(WithDaemon, AnythingElseThatTheDaemonSaysEndsTheSession) {
  EXPECT_TRUE(daemon.send("{}"));
  while (!session->lost()) std::this_thread::yield();
}

}  // namespace
}  // namespace fairgv::session
