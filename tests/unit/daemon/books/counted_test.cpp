// The dispatcher's counts for the books: waits, entitlements, and workers' claims.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "runtime/daemon/books/entitlement.hpp"
#include "runtime/daemon/books/wait_histogram.hpp"
#include "runtime/daemon/books/work_counters.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/daemon/dispatch/turns.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using Ns = std::chrono::nanoseconds;

// ---- waits

TEST(WaitHistogram, OfNothingHasNoQuantile) {
  const WaitHistogram waits;
  EXPECT_EQ(waits.count(), 0u);
  EXPECT_EQ(waits.quantile(0.99), 0ns);
}

TEST(WaitHistogram, TellsAQuantileThatIsNeverTooSmallAndAtMostAQuarterTooLarge) {
  const auto seed = harness::printed_seed();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(10, 39);
  std::vector<Ns> all;
  WaitHistogram waits;
  Ns sum{0};
  for (int i = 0; i < 2'000; ++i) {
    all.emplace_back(static_cast<std::int64_t>(std::exp2(exponent(random))));
    waits.add(all.back());
    sum += all.back();
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(waits.count(), all.size());
  EXPECT_EQ(waits.sum(), sum);
  for (const double q : {0.01, 0.25, 0.5, 0.9, 0.99, 1.0}) {
    const Ns exact = all[static_cast<std::size_t>(std::ceil(q * static_cast<double>(all.size()))) - 1];
    EXPECT_GE(waits.quantile(q), exact) << "q " << q << ", seed " << seed;
    EXPECT_LE(waits.quantile(q), exact * 5 / 4 + 1ns) << "q " << q << ", seed " << seed;
  }
  for (int octave = WaitHistogram::kFirstOctave; octave <= WaitHistogram::kLastOctave; ++octave) {
    const Ns bound(std::int64_t{1} << octave);
    const auto shorter = std::count_if(all.begin(), all.end(), [&](Ns wait) { return wait < bound; });
    EXPECT_EQ(waits.below(octave), static_cast<std::uint64_t>(shorter)) << octave << ", seed " << seed;
  }
}

TEST(WaitHistogram, TakesWhatIsTooShortAndTooLongToTell) {
  WaitHistogram waits;
  waits.add(-5ns);
  waits.add(0ns);
  waits.add(24h);
  EXPECT_EQ(waits.count(), 3u);
  EXPECT_EQ(waits.sum(), 24h);
  EXPECT_EQ(waits.quantile(0.5), 1024ns);
  EXPECT_EQ(waits.quantile(1), Ns(std::int64_t{1} << WaitHistogram::kLastOctave));
  EXPECT_EQ(waits.below(WaitHistogram::kLastOctave), 2u);
}

TEST(WaitHistogram, IsRestoredFromItsFilledBuckets) {
  WaitHistogram waits;
  for (const Ns wait : {1ns, 1024ns, 5'000ns, 5'100ns}) waits.add(wait);
  WaitHistogram copy;
  ASSERT_TRUE(copy.restore(waits.filled(), waits.sum()));
  EXPECT_EQ(copy.filled(), waits.filled());
  EXPECT_EQ(copy.count(), 4u);
  EXPECT_FALSE(copy.restore({{WaitHistogram::kBuckets, 1}}, 0ns));
}

TEST(Waits, OfLateAreThoseOfTheLastHalfToWholeMinute) {
  Waits waits;
  const Waits::Time start(600s);  // the begin of a period
  waits.add(8us, start + 1s);
  waits.add(9us, start + 31s);
  EXPECT_EQ(waits.recent(start + 32s).count(), 2u);
  EXPECT_EQ(waits.recent(start + 61s).count(), 1u);
  EXPECT_EQ(waits.recent(start + 91s).count(), 0u);
  waits.add(7us, start + 95s);
  EXPECT_EQ(waits.recent(start + 95s).count(), 1u);
  EXPECT_EQ(waits.all().count(), 3u);
}

// ---- entitlement

TEST(Entitlement, IsTheWeightOverAllWeightsWhileThereAreSessions) {
  Entitlement book;
  const Entitlement::Time start(1'000s);
  const TenantId a{1}, b{2};
  book.set(a, {1}, start);
  EXPECT_EQ(book.share(a), 1.0);
  book.set(b, {3}, start + 10s);
  EXPECT_EQ(book.share(a), 0.25);
  book.remove(a, start + 14s);
  EXPECT_EQ(book.share(a), 0.0);
  EXPECT_EQ(book.of(a, start + 99s), 11s);
  EXPECT_EQ(book.of(b, start + 20s), 9s);
  book.remove(b, start + 20s);
  EXPECT_EQ(book.of(b, start + 500s), 9s) << "nobody has sessions: nobody is entitled";
  book.set(a, {2}, start + 600s);
  EXPECT_EQ(book.of(a, start + 601s), 12s);
}

TEST(Entitlement, IsTheGuaranteeAndAPartOfTheRestByWeight) {
  Entitlement book;
  const Entitlement::Time start(1'000s);
  const TenantId a{1}, b{2};
  book.set(a, {.weight = 1, .min = {25ms, 100ms}}, start);
  book.set(b, {.weight = 2}, start);
  EXPECT_DOUBLE_EQ(book.share(a), 0.5);
  EXPECT_DOUBLE_EQ(book.share(b), 0.5);
  EXPECT_EQ(book.of(a, start + 10s), 5s);
  book.remove(a, start + 10s);
  EXPECT_EQ(book.of(a, start + 20s), 5s);
  EXPECT_EQ(book.of(b, start + 20s), 15s);
}

TEST(Entitlement, IsTheCeilingAtMostAndTheOthersHaveWhatItLeaves) {
  Entitlement book;
  const Entitlement::Time start(1'000s);
  const TenantId a{1}, b{2}, c{3};
  book.set(a, {.weight = 6, .max = sched::Share{200'000}}, start);
  EXPECT_DOUBLE_EQ(book.share(a), 0.2);
  book.set(b, {.weight = 1}, start);
  book.set(c, {.weight = 3}, start);
  EXPECT_DOUBLE_EQ(book.share(a), 0.2) << "by weight it would be 60 %";
  EXPECT_DOUBLE_EQ(book.share(b), 0.2);
  EXPECT_DOUBLE_EQ(book.share(c), 0.6);
  book.set(a, {.weight = 6}, start + 10s);
  EXPECT_DOUBLE_EQ(book.share(a), 0.6);
  book.set(b, {.weight = 30, .max = sched::Share{100'000}}, start + 20s);
  EXPECT_DOUBLE_EQ(book.share(a), 0.6);
  book.remove(c, start + 30s);
  EXPECT_EQ(book.of(a, start + 40s), 2s + 6s + 6s + 9s);
  EXPECT_EQ(book.of(b, start + 40s), 2s + 1s + 1s + 1s);
  EXPECT_EQ(book.of(c, start + 40s), 6s + 3s + 3s);
}

TEST(Entitlement, IsTheSumOfTheSharesOverTimeWhateverPromisesChange) {
  const auto seed = harness::printed_seed();
  std::mt19937_64 random(seed);
  Entitlement book;
  Entitlement::Time now(1'000s);
  std::map<std::uint32_t, double> expected;
  for (int step = 0; step < 3'000; ++step) {
    const TenantId id{1 + static_cast<std::uint32_t>(random() % 9)};
    const auto number = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random() % below); };
    if (number(4) == 0) {
      book.remove(id, now);
    } else {
      sched::TenantAttributes attributes{.weight = 1 + number(10)};
      if (number(2) == 0) attributes.max.ppm = 1 + number(1'000'000);
      if (number(2) == 0) attributes.min = {1ms * (1 + number(10)), 100ms};
      book.set(id, attributes, now);
    }
    const Ns length(number(1'000'000'000));
    for (std::uint32_t each = 1; each <= 9; ++each)
      expected[each] += book.share(TenantId{each}) * static_cast<double>(length.count());
    now += length;
  }
  for (const auto& [id, ns] : expected) {
    const auto got = static_cast<double>(book.of(TenantId{id}, now).count());
    EXPECT_NEAR(got, ns, 1e4) << "tenant " << id << ", seed " << seed;
  }
}

TEST(Entitlement, OfAllTogetherIsTheTimeInWhichAnybodyHadSessions) {
  const auto seed = harness::printed_seed();
  std::mt19937_64 random(seed);
  Entitlement book;
  Entitlement::Time now(1'000s);
  std::map<std::uint32_t, std::uint32_t> weights;
  std::map<std::uint32_t, double> expected;
  double anybody = 0;
  for (int step = 0; step < 5'000; ++step) {
    const std::uint32_t id = 1 + static_cast<std::uint32_t>(random() % 7);
    const std::uint32_t weight = random() % 3 == 0 ? 0 : 1 + static_cast<std::uint32_t>(random() % 10'000);
    if (weight == 0) {
      book.remove(TenantId{id}, now);
    } else {
      book.set(TenantId{id}, {weight}, now);
    }
    weights[id] = weight;
    const Ns length(static_cast<std::int64_t>(random() % 1'000'000'000));
    double sum = 0;
    for (const auto& [each, w] : weights) sum += w;
    for (const auto& [each, w] : weights) {
      if (w > 0) expected[each] += static_cast<double>(length.count()) * w / sum;
    }
    if (sum > 0) anybody += static_cast<double>(length.count());
    now += length;
  }
  double all = 0;
  for (const auto& [id, ns] : expected) {
    const auto got = static_cast<double>(book.of(TenantId{id}, now).count());
    EXPECT_NEAR(got, ns, 1e3) << "tenant " << id << ", seed " << seed;
    all += got;
  }
  EXPECT_NEAR(all, anybody, 1e4) << "seed " << seed;
}

// ---- workers' claims

struct Claims : ::testing::Test {
  session::DeviceTurn turn;
  const ClaimedWork::Time start{1'000s};
  ClaimedWork work{start};
};

TEST_F(Claims, AreBelievedWhileTheyArePossible) {
  turn.launches = 41;
  turn.bytes = std::uint64_t{1} << 36;
  turn.slices = 7;
  const WorkCounters seen = work.look(turn, start + 1s);
  EXPECT_EQ(seen.launches, 41u);
  EXPECT_EQ(seen.slices, 7u);
  EXPECT_EQ(seen.bytes, std::uint64_t{1} << 36);
}

TEST_F(Claims, NeverGoDown) {
  turn.launches = 41;
  (void)work.look(turn, start);
  turn.launches = 3;
  EXPECT_EQ(work.look(turn, start + 1s).launches, 41u);
}

TEST_F(Claims, AreCutToWhatADeviceCouldHaveDone) {
  turn.launches = ~std::uint64_t{0};
  turn.bytes = ~std::uint64_t{0};
  const WorkCounters seen = work.look(turn, start + 1s);
  EXPECT_EQ(seen.launches, 2'000'000'000u);
  EXPECT_EQ(seen.bytes, 2'000'000'000'000u);
  EXPECT_LT(work.look(turn, start + 1'000'000h).bytes, std::uint64_t{1} << 63) << "never beyond 64 bits";
}

TEST_F(Claims, GoOnFromWhatWasBelievedBefore) {
  WorkCounters before;
  before.launches = 5'000'000'000;
  ClaimedWork adopted(start, before);
  turn.launches = 5'000'000'001;
  EXPECT_EQ(adopted.look(turn, start).launches, 5'000'000'001u);
}

// ---- the dispatcher enters figures

struct Counted : Turns {
  DeviceUse use(std::uint32_t tenant) { return use_of(dispatcher, TenantId{tenant}, now); }
};

TEST_F(Counted, AWaitIsTheTimeFromAskingToTheGrant) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  EXPECT_EQ(use(1).waits.count(), 1u) << "the device was free";
  EXPECT_EQ(use(1).waits.sum(), 0ns);
  a.begin();
  want(2, b);
  EXPECT_EQ(use(2).queue, 1u);
  EXPECT_EQ(use(1).queue, 1u) << "it uses the device";
  EXPECT_EQ(use(2).waits.count(), 0u) << "it has not ended";
  run(1, a, 5ms, true);
  ASSERT_EQ(b.state(), State::held);
  EXPECT_EQ(use(2).waits.count(), 1u);
  EXPECT_EQ(use(2).waits.sum(), 5ms);
  EXPECT_GE(use(2).wait_p99, 5ms);
  EXPECT_EQ(use(2).queue, 0u) << "it has the turn, and no work yet";
  run(2, b, 6ms, false);
  ASSERT_EQ(a.state(), State::held);
  EXPECT_EQ(use(1).waits.count(), 2u);
  EXPECT_EQ(use(1).waits.sum(), 6ms);
}

TEST_F(Counted, ATenantThatLeavesTheQueueHasNotWaited) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2);
  want(1, a);
  a.begin();
  want(2, b);
  now += 1s;
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(use(2).waits.count(), 0u);
  EXPECT_EQ(use(2).queue, 0u);
}

TEST_F(Counted, EndedSessionsStayInTheTotals) {
  FakeWorker& a = add(1);
  FakeWorker& b = add(2, 1, 1);  // of the same tenant
  a.turn.slices = 5;
  b.turn.bytes = 4096;
  a.turn.interactive_cpu = 1;
  EXPECT_EQ(use(1).interactive, 1u);
  dispatcher.remove_session(SessionId{1}, now);
  a.turn.slices = 99;  // nobody looks at it any more
  EXPECT_EQ(use(1).interactive, 0u);
  EXPECT_EQ(use(1).work.slices, 5u);
  EXPECT_EQ(use(1).work.bytes, 4096u);
  dispatcher.remove_session(SessionId{2}, now);
  EXPECT_EQ(use(1).work.bytes, 4096u);
}

}  // namespace
}  // namespace fairgv::daemon
