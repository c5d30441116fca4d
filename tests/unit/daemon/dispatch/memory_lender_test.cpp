// Turns on a device whose memory is lent: a session gets its turn once its memory is there, the session whose
// turn is farthest away gives its memory back, and turns grow with transfers. The test plays the workers.
#include "runtime/daemon/turns/memory_lender.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>

#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;

/// A worker's part of the page.
struct LentWorker {
  session::DeviceResidency page;

  /// Wants so much for its turn, and may not begin before all is there.
  void want(std::uint64_t bytes) {
    wanted = bytes;
    page.wants = bytes;
    page.lacks = bytes - std::min<std::uint64_t>(bytes, page.resident);
  }
  /// Takes out what is too much, brings in what it wants and may.
  void obey() {
    const std::uint64_t allowed = page.allowed;
    page.resident = std::min({std::max(page.resident.load(), wanted), allowed});
    page.agreed = std::max(page.resident.load(), allowed);
    page.lacks = wanted - std::min<std::uint64_t>(wanted, page.resident);
    page.answered = page.terms.load();
  }
  std::uint64_t allowed() const { return page.allowed; }

  std::uint64_t wanted = 0;
};

struct LentTurns : Turns {
  LentTurns() { lend({.capacity = 100, .longest_turn = 2s}); }

  void lend(const LendingRule& rule) {
    dispatcher.set_rules({.slices = dispatcher.device().rules.slices, .hold_limit = 10s, .lending = rule});
  }
  FakeWorker& join(std::uint32_t session) {
    FakeWorker& worker = workers.emplace_back();
    LentWorker& memory = lent.emplace_back();
    dispatcher.add_tenant(TenantId{session}, {1}, now);
    dispatcher.add_session(SessionId{session}, TenantId{session},
                           {worker.turn, &worker.promise, worker.header, {}, &memory.page}, now);
    return worker;
  }
  /// All workers do as they are told until nothing changes any more.
  void settle() {
    for (int round = 0; round < 20; ++round) {
      for (LentWorker& each : lent) each.obey();
      for (std::uint32_t i = 1; i <= lent.size(); ++i) look(i);
    }
  }
  void want_with(std::uint32_t session, FakeWorker& worker, std::uint64_t bytes) {
    lent[session - 1].want(bytes);
    want(session, worker);
  }
  std::uint64_t resident() const {
    std::uint64_t sum = 0;
    for (const LentWorker& each : lent) sum += each.page.resident;
    return sum;
  }

  std::deque<LentWorker> lent;
};

TEST_F(LentTurns, ASessionHasItsTurnOnceItsMemoryIsThere) {
  FakeWorker& one = join(1);
  want_with(1, one, 80);
  EXPECT_EQ(one.state(), State::wanting);
  EXPECT_GE(lent[0].allowed(), 80U);
  lent[0].obey();
  look(1);
  EXPECT_EQ(one.state(), State::held);
}

TEST_F(LentTurns, ASessionThatUsesNoMemoryWaitsForNothing) {
  FakeWorker& one = join(1);
  want_with(1, one, 0);
  EXPECT_EQ(one.state(), State::held);
}

TEST_F(LentTurns, MemoryOfTheNextComesInBesideTheTurnAsFarAsThereIsRoom) {
  FakeWorker& one = join(1);
  FakeWorker& two = join(2);
  want_with(1, one, 80);
  settle();
  one.begin();
  want_with(2, two, 80);
  EXPECT_EQ(lent[1].allowed(), 14U) << "beside 80 bytes and 6 that the first may grow by";
  EXPECT_GE(lent[0].allowed(), 80U) << "who has the turn gives nothing back";
  run(1, one, 1ms, true);
  EXPECT_EQ(two.state(), State::wanting);
  settle();
  EXPECT_EQ(two.state(), State::held);
  EXPECT_EQ(lent[1].page.resident, 80U);
  EXPECT_LE(resident(), 100U);
}

TEST_F(LentTurns, TheSessionWhoseTurnIsFarthestAwayGivesItsMemoryBack) {
  FakeWorker& one = join(1);
  FakeWorker& two = join(2);
  FakeWorker& three = join(3);
  want_with(1, one, 50);
  settle();
  run(1, one, 1ms, false);
  want_with(2, two, 50);
  settle();
  run(2, two, 5ms, true);
  settle();
  ASSERT_EQ(two.state(), State::held);
  two.begin();
  // The first, which sleeps, and not the second, which has the turn.
  want_with(3, three, 40);
  settle();
  EXPECT_EQ(lent[1].page.resident, 50U);
  EXPECT_LE(lent[0].page.resident, 10U);
  EXPECT_EQ(lent[2].page.resident, 40U);
}

TEST_F(LentTurns, NoMoreIsLentThanThereIsHoweverSlowWorkersAre) {
  std::vector<FakeWorker*> all{&join(1), &join(2), &join(3)};
  std::uint64_t seed = 7;
  const auto below = [&seed](std::uint64_t bound) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % bound;
  };
  for (int step = 0; step < 5'000; ++step) {
    const auto i = static_cast<std::uint32_t>(below(3));
    LentWorker& memory = lent[i];
    FakeWorker& worker = *all[i];
    if (below(3) != 0) memory.obey();
    if (worker.state() == State::idle) {
      memory.want(below(81));
      worker.want();
    } else if (worker.state() == State::held && memory.page.lacks == 0) {
      worker.begin();
      worker.use(std::chrono::microseconds(below(3'000)));
      worker.give_back(below(2) == 0);
    }
    look(i + 1);
    now += std::chrono::microseconds(below(2'000));
    if (dispatcher.deadline() && *dispatcher.deadline() <= now) dispatcher.expire(now);
    ASSERT_LE(resident(), 100U) << "step " << step;
    ASSERT_TRUE(dispatcher.take_broken().empty()) << "step " << step;
  }
}

TEST_F(LentTurns, TurnsGrowUntilTransfersAreASmallPartOfThem) {
  FakeWorker& one = join(1);
  FakeWorker& two = join(2);
  want_with(1, one, 80);
  settle();
  one.begin();
  want_with(2, two, 80);
  const auto turn_of = [&](std::uint32_t session, FakeWorker& worker, std::chrono::nanoseconds coming) {
    settle();
    EXPECT_EQ(worker.state(), State::held);
    lent[session - 1].page.moving_ns += static_cast<std::uint64_t>(coming.count());
    run(session, worker, worker.slice() == 0ns ? 1ms : worker.slice(), true);
  };
  run(1, one, 1ms, true);
  turn_of(2, two, 30ms);
  turn_of(1, one, 20ms);
  settle();
  EXPECT_EQ(two.slice(), 300ms) << "ten times the longest";
  turn_of(2, two, 900ms);
  settle();
  EXPECT_EQ(one.slice(), 2s) << "as long as a turn may be";
}

TEST_F(LentTurns, OnDemandTurnsStayAsTheyAreAndNothingComesInBefore) {
  lend({.capacity = 100, .on_demand = true, .longest_turn = 2s});
  FakeWorker& one = join(1);
  FakeWorker& two = join(2);
  EXPECT_EQ(lent[0].page.on_demand, 1U);
  want_with(1, one, 80);
  settle();
  one.begin();
  want_with(2, two, 80);
  EXPECT_EQ(lent[1].allowed(), 0U);
  run(1, one, 1ms, true);
  settle();
  lent[1].page.moving_ns = 50'000'000;
  run(2, two, 1ms, true);
  settle();
  EXPECT_EQ(one.slice(), 6ms);
}

TEST_F(LentTurns, AWorkerThatGivesNothingBackIsBroken) {
  FakeWorker& one = join(1);
  FakeWorker& two = join(2);
  want_with(1, one, 80);
  settle();
  run(1, one, 1ms, false);
  want_with(2, two, 80);
  lent[1].obey();
  look(2);
  EXPECT_EQ(two.state(), State::wanting);
  for (int i = 0; i < 600; ++i) {
    now += 20ms;
    dispatcher.expire(now);
  }
  const auto broken = dispatcher.take_broken();
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_EQ(broken[0].session, SessionId{1});
  EXPECT_NE(broken[0].reason.find("give back memory"), std::string::npos) << broken[0].reason;
  // Its worker is killed.
  dispatcher.remove_session(SessionId{1}, now);
  lent[1].obey();
  look(2);
  lent[1].obey();
  look(2);
  EXPECT_EQ(two.state(), State::held);
}

TEST_F(LentTurns, AWorkerThatNeverBringsItsMemoryInIsBroken) {
  FakeWorker& one = join(1);
  want_with(1, one, 80);
  for (int i = 0; i < 600; ++i) {
    now += 20ms;
    dispatcher.expire(now);
  }
  const auto broken = dispatcher.take_broken();
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_NE(broken[0].reason.find("did not bring in"), std::string::npos) << broken[0].reason;
}

TEST_F(LentTurns, MemoryThatCannotGoOutIsNotPromisedToOthers) {
  join(1);
  FakeWorker& two = join(2);
  lent[0].page.fixed = 30;
  lent[0].page.agreed = 30;
  want_with(2, two, 80);
  EXPECT_EQ(lent[1].page.most, 70U);
}

TEST_F(LentTurns, AnotherWorkerOfASessionBeginsWithNothing) {
  FakeWorker& one = join(1);
  want_with(1, one, 80);
  settle();
  one.begin();
  dispatcher.change_worker(SessionId{1}, {}, now);
  EXPECT_EQ(lent[0].allowed(), 0U);
  EXPECT_EQ(lent[0].page.agreed, 0U);
}

TEST_F(LentTurns, ALaterDispatcherGoesOnFromThePages) {
  FakeWorker& one = join(1);
  want_with(1, one, 80);
  settle();
  one.begin();
  Dispatcher next(sched::make_policy(sched::kDefaultPolicy, 6ms));
  next.set_rules({.slices = dispatcher.device().rules.slices, .lending = {.capacity = 100}});
  next.add_tenant(TenantId{1}, {1}, now);
  next.adopt_session(SessionId{1}, TenantId{1}, {one.turn, &one.promise, one.header, {}, &lent[0].page}, 0,
                     now);
  next.resume(now);
  next.device().places.each([&](const SessionPlace& place) {
    EXPECT_GE(place.memory->allowed(), 80U);
    EXPECT_GE(place.memory->held(), 80U);
  });
}

}  // namespace
}  // namespace fairgv::daemon
