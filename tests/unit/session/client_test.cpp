// The client's session: calls and replies, waits, slots, notices, and a session that is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/session/client_fixture.hpp"

namespace fairgv::session {
namespace {

TEST_F(ClientSessionTest, ACallReturnsTheWorkersReply) {
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

TEST_F(ClientSessionTest, RepliesLongerThanTheRingArriveInPieces) {
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

TEST_F(ClientSessionTest, BigCallsTravelThroughTheArenaAndAreReclaimed) {
  const std::string source(200'000, 'x');
  std::thread peer([&] {
    for (int i = 0; i < 20; ++i) {
      const auto request = worker->next();
      wire::CreateProgramWithSource call;
      EXPECT_EQ(request.opcode, wire::CreateProgramWithSource::opcode);
      EXPECT_TRUE(wire::decode(std::span<const std::byte>(request.payload), call));
      EXPECT_EQ(call.source, source);
      worker->done();
      // The reply to a ping tells the client that the range is free again: 20 such ranges do not fit the
      // arena at once.
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

TEST_F(ClientSessionTest, SendersWaitForRoomAndLoseNothing) {
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

TEST_F(ClientSessionTest, AWaitEndsWithTheStatusThatTheWorkerStores) {
  const auto event = session->events().acquire();
  EXPECT_EQ(session->events().status(event), kQueued);
  std::thread peer([&] { worker->complete(event, -5); });
  EXPECT_EQ(session->wait(event), -5);
  peer.join();
}

// The end may come before or after the beginning of the wait: thousands of tries meet both orders.
TEST_F(ClientSessionTest, AWaitOnAQuietSlotIsAlwaysRung) {
  session->events().use_quiet_slots();
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
    const auto event = session->events().acquire();
    next = event.raw;
    EXPECT_EQ(session->wait(event), kComplete);
    session->release_event(event);
    worker->next();
    worker->done();
  }
  peer.join();
}

TEST_F(ClientSessionTest, OnlyAWaitForWhatHasNotEndedCountsAsASynchronousCall) {
  const auto event = session->events().acquire();
  std::thread peer([&] {
    while (worker->coscheduling().synchronous_calls == 0) std::this_thread::yield();
    worker->complete(event, 0);
  });
  EXPECT_EQ(session->wait(event), kComplete);
  peer.join();
  EXPECT_EQ(session->wait(event), kComplete);
  EXPECT_EQ(worker->coscheduling().synchronous_calls, 1U);
}

TEST_F(ClientSessionTest, CallsStoreTheirTimesOnlyWhileTheyAreRecorded) {
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

TEST_F(ClientSessionTest, AWaitShowsItsCallAndItsBeginning) {
  session->events().use_quiet_slots();
  for (const bool recorded : {true, false}) {
    worker->record(recorded);
    const auto event = session->events().acquire();
    std::thread waiter([&] { EXPECT_EQ(session->wait(event, wire::kFinish), kComplete); });
    // The slot is not quiet any more: by then it holds the call and the begin of the wait.
    while ((worker->slot(event).state.load() & ring::SlotState::kQuiet) != 0) std::this_thread::yield();
    EXPECT_EQ(worker->slot(event).awaited_from.load() != 0, recorded);
    EXPECT_EQ(worker->slot(event).awaited_as.load(), wire::kFinish);
    worker->complete(event, kComplete);
    waiter.join();
    session->events().release(event);  // the next event has the same slot, which holds a time
  }
}

// Otherwise the worker, which also writes the end of an access, would record the slot's last wait once more.
TEST_F(ClientSessionTest, AnEndThatTheProgramSetsLeavesTheSlotQuietUnlessAThreadWaits) {
  session->events().use_quiet_slots();
  const auto is_quiet = [&](wire::EventId event) {
    return (worker->slot(event).state.load() & ring::SlotState::kQuiet) != 0;
  };
  const auto alone = session->events().acquire();
  session->events().set(alone, kComplete);
  EXPECT_TRUE(is_quiet(alone));
  EXPECT_EQ(session->wait(alone), kComplete);

  const auto awaited = session->events().acquire();
  std::thread waiter([&] { EXPECT_EQ(session->wait(awaited), kComplete); });
  while (is_quiet(awaited)) std::this_thread::yield();
  session->events().set(awaited, kComplete);
  waiter.join();
  EXPECT_FALSE(is_quiet(awaited));
}

TEST_F(ClientSessionTest, AWaiterThatIsSwitchedInAndOutAgainMissesNoEnd) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto event = session->events().acquire();
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

TEST_F(ClientSessionTest, ALateWriteForTheSlotsFormerOwnerIsNotSeen) {
  const auto first = session->events().acquire();
  session->release_event(first);
  const auto second = session->events().acquire();
  ASSERT_EQ(second.index(), first.index());
  ASSERT_NE(second.generation(), first.generation());
  worker->complete(first, 0);
  EXPECT_EQ(session->events().status(second), kQueued);
  worker->complete(second, 0);
  EXPECT_EQ(session->events().status(second), kComplete);
}

TEST_F(ClientSessionTest, EventsAreRefusedWithoutAFreeSlotAndMadeAgainOnceThereIsOne) {
  std::vector<wire::EventId> events;
  for (int i = 0; i < 8; ++i) events.push_back(session->events().acquire());
  EXPECT_TRUE(events.back());
  EXPECT_FALSE(session->events().acquire());
  session->release_event(events[3]);
  EXPECT_TRUE(session->events().acquire());
}

TEST_F(ClientSessionTest, ALostSessionEndsWaitsCallsAndSends) {
  const auto event = session->events().acquire();
  std::thread waiter([&] { EXPECT_EQ(session->wait(event), kDeviceNotAvailable); });
  std::thread caller([&] { EXPECT_FALSE(session->call(wire::Ping{})); });
  worker->next();
  worker->close();
  waiter.join();
  caller.join();
  EXPECT_TRUE(session->lost());
  EXPECT_FALSE(session->send(wire::SetUserEventStatus{}));
}

TEST_F(ClientSessionTest, AReplyToAnotherCallEndsTheSession) {
  std::thread peer([&] {
    const auto request = worker->next();
    worker->answer<wire::Ping>(request.tag + 1, {});
    worker->done();
  });
  EXPECT_FALSE(session->call(wire::Ping{}));
  peer.join();
  EXPECT_TRUE(session->lost());
}

TEST_F(ClientSessionTest, NoticesArriveInOrderOnTheSessionsThread) {
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

TEST_F(ClientSessionTest, ALossIsReportedOnceAfterTheLastNotice) {
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

}  // namespace
}  // namespace fairgv::session
