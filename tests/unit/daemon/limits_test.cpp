// The rules by which users share the things that the daemon has only one of: its thread, its log, its places,
// its descriptors. Time is an argument everywhere.
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <map>
#include <sstream>

#include "runtime/daemon/limits/descriptor_plan.hpp"
#include "runtime/daemon/limits/log_budget.hpp"
#include "runtime/daemon/limits/places.hpp"
#include "runtime/daemon/limits/request_queue.hpp"
#include "runtime/daemon/limits/token_bucket.hpp"
#include "runtime/daemon/service/log_format.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using Time = TokenBucket::Time;

constexpr Account kOfAlice{kAlice, false};
constexpr Account kOfBob{kBob, false};
constexpr Time kBegin{1h};

TEST(TokenBucketTest, GivesABucketfulAtOnceAndThenWhatComesIn) {
  constexpr TokenBucket::Rate kRate{10, 2};
  TokenBucket bucket(kRate, kBegin);
  bucket.take(10, kRate, kBegin);
  EXPECT_EQ(bucket.level(kRate, kBegin), 0);
  EXPECT_EQ(bucket.level(kRate, kBegin + 3s), 6);
  EXPECT_EQ(bucket.level(kRate, kBegin + 1h), 10) << "no more than it holds";
  EXPECT_EQ(bucket.reaches(6, kRate), kBegin + 3s);
  bucket.take(4, kRate, kBegin);
  EXPECT_EQ(bucket.level(kRate, kBegin + 1s), -2) << "more may be taken than there is, and is made good";
  EXPECT_EQ(bucket.level(kRate, kBegin - 1h), -4) << "a clock that is read late sets nothing back";
}

/// The number of lines that are written out of `lines` that come at once.
std::uint64_t written(LogBudget& budget, const Account& account, int lines, Time now) {
  std::uint64_t count = 0;
  for (int i = 0; i < lines; ++i) count += budget.take(account, now) ? 1U : 0U;
  return count;
}

TEST(LogBudgetTest, LeavesOutWhatIsBeyondAUsersAndSaysHowMuch) {
  LogBudget budget;
  EXPECT_EQ(written(budget, kOfAlice, 10'000, kBegin), 120U);
  EXPECT_EQ(written(budget, kOfBob, 10, kBegin), 10U) << "others have their own";
  EXPECT_TRUE(budget.take_left_out(kBegin).empty()) << "not before it is over";
  ASSERT_TRUE(budget.deadline());
  const Time later = *budget.deadline();
  const auto left = budget.take_left_out(later);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].owner, kAlice);
  EXPECT_EQ(left[0].lines, 9'880U);
  EXPECT_EQ(written(budget, kOfAlice, 10'000, later), 30U) << "and then a row of whole lines again";
}

TEST(LogBudgetTest, LeavesNothingOutOfAnAdministrators) {
  LogBudget budget;
  EXPECT_EQ(written(budget, kOfRoot, 100'000, kBegin), 100'000U);
  EXPECT_EQ(written(budget, {kAlice, true}, 1'000, kBegin), 1'000U);
  EXPECT_FALSE(budget.deadline());
}

TEST(LogBudgetTest, IsBoundedForAllUsersTogetherHoweverManyThereAre) {
  LogBudget budget;
  std::uint64_t count = 0;
  for (uid_t uid = 1; uid <= 20'000; ++uid) count += written(budget, {uid, false}, 3, kBegin);
  EXPECT_EQ(count, 1'200U);
  std::uint64_t left = 0;
  for (Time now = kBegin; budget.deadline();) {
    now = *budget.deadline();
    for (const auto& each : budget.take_left_out(now)) left += each.lines;
  }
  EXPECT_EQ(left, 60'000U - 1'200U) << "every line that was left out is counted";
}

TEST(LogBudgetRandom, WritesOrCountsEveryLineAndNeverMoreThanTheBudget) {
  std::mt19937_64 random(harness::printed_seed());
  LogBudget budget;
  std::map<uid_t, std::uint64_t> lines;
  std::uint64_t said = 0, wrote = 0, left = 0;
  Time now = kBegin;
  for (int i = 0; i < 100'000; ++i) {
    now += std::chrono::milliseconds(random() % 20);
    const uid_t uid = static_cast<uid_t>(1 + random() % 5);
    ++said;
    if (budget.take({uid, false}, now)) {
      ++wrote;
      ++lines[uid];
    }
    for (const auto& each : budget.take_left_out(now)) left += each.lines;
  }
  const double seconds = std::chrono::duration<double>(now - kBegin).count();
  for (const auto& [uid, count] : lines) EXPECT_LE(static_cast<double>(count), 120 + seconds) << uid;
  while (budget.deadline()) {
    for (const auto& each : budget.take_left_out(*budget.deadline())) left += each.lines;
  }
  EXPECT_EQ(wrote + left, said);
}

TEST(LogFormat, QuotesNothingThatBeginsALineOrSteersATerminal) {
  std::ostringstream text;
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text);
  sink->set_formatter(make_log_formatter());
  spdlog::logger logger("test", sink);
  logger.info("program {}",
              "a\n2026-01-01 error: b\x1b[2J\r\xc2\x9b"
              "c\x7f");
  const std::string line = text.str();
  EXPECT_NE(line.find("info: program a?2026-01-01 error: b?[2J?"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line";
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_EQ(line.find('\x9b'), std::string::npos);
  text.str("");
  logger.info("{}", std::string(1'000'000, 'x'));
  EXPECT_LT(text.str().size(), kLongestLogLine + 100);
}

TEST(RequestQueueTest, GivesEachOwnerATurnHoweverManyRequestsWait) {
  RequestQueue queue;
  for (std::uint64_t key = 1; key <= 100; ++key) queue.add(kAlice, key);
  queue.add(kBob, 1'000);
  EXPECT_EQ(queue.next(kBegin), 1U);
  EXPECT_EQ(queue.next(kBegin), 1'000U);
  EXPECT_EQ(queue.next(kBegin), 2U);
}

TEST(RequestQueueTest, LetsAUserThatHasUsedTheThreadWait) {
  RequestQueue queue;
  queue.add(kAlice, 1);
  queue.charge(kAlice, 7s, kBegin);
  EXPECT_FALSE(queue.has_time(kAlice, kBegin));
  EXPECT_FALSE(queue.next(kBegin));
  ASSERT_TRUE(queue.deadline());
  EXPECT_GT(*queue.deadline(), kBegin + 9s);
  EXPECT_LE(*queue.deadline(), kBegin + 11s);
  queue.add(kBob, 2);
  EXPECT_EQ(queue.next(kBegin), 2U) << "others need not";
  EXPECT_EQ(queue.next(*queue.deadline()), 1U);
  EXPECT_FALSE(queue.deadline()) << "nobody waits";
}

TEST(RequestQueueTest, ForgetsConnectionsThatAreGone) {
  RequestQueue queue;
  queue.add(kAlice, 1);
  queue.add(kAlice, 2);
  queue.add(kBob, 3);
  queue.forget(kAlice, 1);
  queue.forget(kBob, 3);
  queue.forget(kBob, 4);
  EXPECT_EQ(queue.next(kBegin), 2U);
  EXPECT_FALSE(queue.next(kBegin));
  EXPECT_FALSE(queue.deadline());
}

TEST(RequestQueueRandom, ServesEveryRequestOnceAndInItsOwnersOrder) {
  std::mt19937_64 random(harness::printed_seed());
  RequestQueue queue;
  std::map<uid_t, std::vector<std::uint64_t>> waiting;
  std::map<std::uint64_t, uid_t> owners;
  Time now = kBegin;
  std::uint64_t key = 0;
  const auto serve = [&](std::uint64_t served) {
    auto& keys = waiting[owners.at(served)];
    ASSERT_EQ(keys.front(), served);
    keys.erase(keys.begin());
    queue.charge(owners.at(served), std::chrono::milliseconds(random() % 900), now);
  };
  for (int i = 0; i < 20'000; ++i) {
    const uid_t uid = static_cast<uid_t>(random() % 6);
    now += std::chrono::milliseconds(random() % 100);
    if (random() % 2 == 0) {
      queue.add(uid, ++key);
      waiting[uid].push_back(key);
      owners[key] = uid;
    } else if (random() % 8 == 0 && !waiting[uid].empty()) {
      queue.forget(uid, waiting[uid].back());
      waiting[uid].pop_back();
    } else if (const auto served = queue.next(now)) {
      serve(*served);
    }
  }
  while (const auto at = queue.deadline()) {
    now = std::max(now, *at);
    const auto served = queue.next(now);
    ASSERT_TRUE(served);
    serve(*served);
  }
  for (const auto& [uid, keys] : waiting) EXPECT_TRUE(keys.empty()) << uid;
}

std::string begins(const SessionCount& there, const Account& account, const Config& config,
                   std::size_t room = 10'000) {
  const auto may = may_begin(there, account, account.owner, config, room);
  return may ? "yes" : may.error().message;
}

TEST(Places, OfSessionsAreKeptForAdministrators) {
  Config config;
  config.session_limit = 32;
  EXPECT_EQ(begins({29, 0}, kOfAlice, config), "yes");
  EXPECT_NE(begins({30, 0}, kOfAlice, config).find("keeps its last 2 places for administrators"),
            std::string::npos);
  EXPECT_EQ(begins({31, 31}, kOfRoot, config), "yes");
  EXPECT_EQ(begins({31, 0}, {kAlice, true}, config), "yes") << "of the admin_group";
  EXPECT_NE(begins({32, 0}, kOfRoot, config).find("raise session_limit"), std::string::npos);
  config.kept_sessions = 0;
  EXPECT_EQ(begins({31, 0}, kOfAlice, config), "yes");
  config.kept_sessions = 100;
  EXPECT_NE(begins({0, 0}, kOfAlice, config), "yes");
  config = {};
  config.session_limit = 1;
  EXPECT_EQ(begins({0, 0}, kOfAlice, config), "yes") << "the only place is everybody's";
}

TEST(Places, OfSessionsAreAsManyAsThereAreDescriptorsFor) {
  const Config config;
  EXPECT_EQ(begins({5, 0}, kOfRoot, config, 6), "yes");
  EXPECT_NE(begins({6, 0}, kOfRoot, config, 6).find("RLIMIT_NOFILE"), std::string::npos);
  EXPECT_NE(begins({5, 0}, kOfAlice, config, 6), "yes");
}

TEST(Places, OfSessionsAreLimitedForEachUser) {
  Config config;
  config.user_session_limit = 3;
  EXPECT_EQ(begins({20, 2}, kOfAlice, config), "yes");
  EXPECT_NE(begins({20, 3}, kOfAlice, config).find("user 1000 already has 3 sessions"), std::string::npos);
  EXPECT_EQ(begins({20, 3}, kOfRoot, config), "yes");
}

/// Alice has the keys from 1 on, a later key silent for longer, and Bob has the keys from 101 on.
std::vector<Seat> seats_of(std::uint64_t alices, std::uint64_t bobs) {
  std::vector<Seat> seats{{1'000, kOfRoot, kBegin - 1h, false}};
  for (std::uint64_t i = 1; i <= alices; ++i) seats.push_back({i, kOfAlice, kBegin - i * 1s, false});
  for (std::uint64_t i = 1; i <= bobs; ++i) seats.push_back({100 + i, kOfBob, kBegin - i * 1h, false});
  return seats;
}

TEST(Places, OfConnectionsAreGivenUpByTheUserWithTheMost) {
  EXPECT_EQ(seat_to_clear(seats_of(5, 3), {7, false}), 5U) << "the one that has been silent for longest";
  EXPECT_EQ(seat_to_clear(seats_of(5, 3), kOfBob), 5U);
  EXPECT_FALSE(seat_to_clear(seats_of(5, 4), kOfBob)) << "he would have as many as she then";
  EXPECT_FALSE(seat_to_clear(seats_of(5, 3), kOfAlice));
  EXPECT_FALSE(seat_to_clear(seats_of(1, 1), {7, false}));
  EXPECT_EQ(seat_to_clear(seats_of(1, 0), kOfRoot), 1U);
  EXPECT_FALSE(seat_to_clear(seats_of(0, 0), kOfRoot)) << "an administrator's is nobody else's";
}

TEST(Places, OfConnectionsThatWaitForAnAnswerStayTheirs) {
  auto seats = seats_of(5, 0);
  seats[5].busy = true;
  EXPECT_EQ(seat_to_clear(seats, {7, false}), 4U);
  for (Seat& seat : seats) seat.busy = true;
  EXPECT_FALSE(seat_to_clear(seats, {7, false}));
}

TEST(Descriptors, AreEnoughForAllThatIsAllowedWhereTheSystemHasThem) {
  const DescriptorPlan plan = plan_descriptors(descriptors_for(256), 256);
  EXPECT_EQ(plan.sessions, 256U);
  EXPECT_EQ(plan.connections, kMostConnections);
}

TEST(Descriptors, AreSharedOutSoThatSomeAreLeftWhereThereAreFew) {
  for (std::uint64_t limit = 150; limit < 5'000; ++limit) {
    const DescriptorPlan plan = plan_descriptors(limit, 500);
    EXPECT_GE(plan.sessions, 1U);
    EXPECT_GE(plan.connections, 16U);
    EXPECT_LE(plan.sessions * 11 + plan.connections, limit) << limit;
  }
  EXPECT_EQ(plan_descriptors(1'024, 256).connections, 128U);
  EXPECT_EQ(plan_descriptors(1'024, 256).sessions, 72U);
}

}  // namespace
}  // namespace fairgv::daemon
