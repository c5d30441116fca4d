// The usage store, the thread that fills it, and the times that people ask for.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "runtime/daemon/reports/usage_sampler.hpp"
#include "runtime/daemon/reports/usage_writer.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tools/fairgv/usage_time.hpp"

namespace fairgv::daemon {
namespace {

using usage::Row;
using usage::Store;
using usage::UsageAmounts;
using usage::UsageBy;

constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kNoon = 20'000 * kDay + 12 * kHour;  // of some day, UTC

Row row(std::int64_t begin, const std::string& tenant, std::uint32_t uid, std::uint64_t device_ns,
        std::uint32_t device = 0) {
  return {begin,
          begin + 10'000,
          tenant,
          uid,
          device,
          "cpu",
          {.device_ns = device_ns, .entitled_ns = 2 * device_ns, .memory_byte_s = 0.5, .launches = 3}};
}

struct Usage : ::testing::Test {
  Usage() {
    auto opened = Store::open(path());
    EXPECT_TRUE(opened) << opened.error().message;
    store.emplace(std::move(opened).value());
  }
  std::string path() const { return folder / "usage.db"; }
  std::vector<usage::UsageSum> by(UsageBy what, std::int64_t since = 0, std::int64_t until = 30'000 * kDay,
                                  std::optional<std::uint32_t> uid = {}) {
    const auto sums = store->sum({since, until, what}, uid);
    EXPECT_TRUE(sums) << sums.error().message;
    return sums.value();
  }

  harness::TemporaryFolder folder;
  std::optional<Store> store;
};

TEST_F(Usage, IsSummedUpByTenantUserDeviceAndDay) {
  const std::vector<Row> rows{row(kNoon, "a", 7, 10), row(kNoon + kDay, "a", 8, 20),
                              row(kNoon + kDay, "b", 8, 40, 1)};
  ASSERT_TRUE(store->append(rows));
  auto sums = by(UsageBy::tenant);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].key, "a");
  EXPECT_EQ(sums[0].amounts.device_ns, 30u);
  EXPECT_EQ(sums[0].amounts.entitled_ns, 60u);
  EXPECT_EQ(sums[0].amounts.memory_byte_s, 1.0);
  EXPECT_EQ(sums[0].amounts.launches, 6u);
  sums = by(UsageBy::user);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[1].key, "8");
  EXPECT_EQ(sums[1].amounts.device_ns, 60u);
  sums = by(UsageBy::device);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[1].key, "1 cpu");
  sums = by(UsageBy::day);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].amounts.device_ns, 10u);
  EXPECT_EQ(sums[1].amounts.device_ns, 60u);
}

TEST_F(Usage, CountsIntervalsThatBeginInTheTimeAskedFor) {
  const std::vector<Row> rows{row(kNoon, "a", 7, 1), row(kNoon + 1'000, "a", 7, 10)};
  ASSERT_TRUE(store->append(rows));
  EXPECT_EQ(by(UsageBy::tenant, kNoon, kNoon + 1'000).at(0).amounts.device_ns, 1u);
  EXPECT_EQ(by(UsageBy::tenant, kNoon + 1, kNoon + 1'001).at(0).amounts.device_ns, 10u);
  EXPECT_TRUE(by(UsageBy::tenant, kNoon + 1'001).empty());
}

TEST_F(Usage, OfOneUserIsOnlyThat) {
  const std::vector<Row> rows{row(kNoon, "a", 7, 1), row(kNoon, "b", 8, 10)};
  ASSERT_TRUE(store->append(rows));
  const auto sums = by(UsageBy::tenant, 0, 30'000 * kDay, 8);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].key, "b");
}

TEST_F(Usage, TextIsTakenAsItIs) {
  const std::vector<Row> rows{row(kNoon, "a'; DROP TABLE usage; --", 7, 1)};
  ASSERT_TRUE(store->append(rows));
  EXPECT_EQ(by(UsageBy::tenant).at(0).key, "a'; DROP TABLE usage; --");
}

TEST_F(Usage, AbsurdClaimsDoNotBreakTheSum) {
  Row absurd = row(kNoon, "a", 7, 1);
  absurd.amounts.bytes = ~std::uint64_t{0};
  const std::vector<Row> rows{absurd, absurd};
  ASSERT_TRUE(store->append(rows));
  EXPECT_GE(by(UsageBy::tenant).at(0).amounts.bytes, std::uint64_t{1} << 62);
}

TEST_F(Usage, OldIntervalsBecomeHoursWithTheSameSums) {
  std::vector<Row> rows;
  for (int i = 0; i < 720; ++i) rows.push_back(row(kNoon + i * 10'000, "a", 7, 1));  // two hours
  rows.push_back(row(kNoon + 5 * kHour, "a", 7, 1));
  ASSERT_TRUE(store->append(rows));
  const auto before = by(UsageBy::tenant);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(store->retire(0, kNoon + 4 * kHour));
    EXPECT_EQ(store->rows().value(), 3u);
    EXPECT_EQ(by(UsageBy::tenant).at(0).amounts, before.at(0).amounts);
  }
  EXPECT_EQ(by(UsageBy::tenant, kNoon + kHour).at(0).amounts.device_ns, 361u);
}

TEST_F(Usage, IntervalsThatAreTooOldAreDeleted) {
  const std::vector<Row> rows{row(kNoon, "a", 7, 1), row(kNoon + 100 * kDay, "a", 7, 10)};
  ASSERT_TRUE(store->append(rows));
  ASSERT_TRUE(store->retire(kNoon + 50 * kDay, kNoon + 99 * kDay));
  EXPECT_EQ(by(UsageBy::tenant).at(0).amounts.device_ns, 10u);
}

TEST_F(Usage, IsReadByOthersWhileItIsWritten) {
  const std::vector<Row> rows{row(kNoon, "a", 7, 1)};
  ASSERT_TRUE(store->append(rows));
  const auto reader = Store::open_to_read(path());
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_TRUE(store->append(rows));
  EXPECT_EQ(reader->rows().value(), 2u);
  EXPECT_EQ(std::filesystem::status(path()).permissions(), std::filesystem::perms(0600));
}

TEST_F(Usage, AFileThatIsNoStoreIsAnErrorThatNamesIt) {
  folder.write("text.db", std::string(5'000, 'x'));
  for (const auto& opened : {Store::open(folder / "text.db"), Store::open_to_read(folder / "none.db"),
                             Store::open("/proc/none/usage.db")}) {
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find(".db"), std::string::npos) << opened.error().message;
  }
}

// SQLite would use a journal that another user has left beside the file.
TEST_F(Usage, IsNotKeptWhereOthersMayLeaveFilesBesideIt) {
  std::filesystem::create_directory(folder / "shared");
  std::filesystem::permissions(folder / "shared", std::filesystem::perms(01777));
  EXPECT_FALSE(Store::open(folder / "shared/usage.db"));
  folder.write("precious", "");
  std::filesystem::create_symlink(folder / "precious", folder / "link.db");
  EXPECT_FALSE(Store::open(folder / "link.db"));
}

// ---- the thread that writes the store

bool answers_come(const UsageWriter& writer) {
  pollfd answers{writer.answers_fd(), POLLIN, 0};
  return ::poll(&answers, 1, 30'000) == 1;
}

TEST(UsageWriter, WritesWhatItIsGivenBeforeItAnswersAndEnds) {
  const harness::TemporaryFolder folder;
  const std::string path = folder / "u/usage.db";  // the writer makes the folder
  {
    auto writer = UsageWriter::start({path, 36'500});
    ASSERT_TRUE(writer);
    writer.value()->offer({row(kNoon, "a", 7, 1)});
    writer.value()->ask(42, {0, 30'000 * kDay, UsageBy::tenant}, {});
    ASSERT_TRUE(answers_come(*writer.value()));
    const auto answers = writer.value()->take_answers();
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].token, 42u);
    ASSERT_TRUE(answers[0].sums);
    EXPECT_EQ(answers[0].sums.value().at(0).amounts.device_ns, 1u);
    EXPECT_EQ(writer.value()->state().flushes, 1u);
    EXPECT_EQ(writer.value()->state().error, "");
    writer.value()->offer({row(kNoon, "a", 7, 10)});
  }
  EXPECT_EQ(Store::open_to_read(path)->rows().value(), 2u);
}

TEST(UsageWriter, KeepsWhatItCannotWrite) {
  const harness::TemporaryFolder folder;
  const std::string path = folder / "usage.db";
  std::filesystem::create_directory(path);  // a folder in the file's place
  auto writer = UsageWriter::start({path, 36'500});
  ASSERT_TRUE(writer);
  writer.value()->offer({row(kNoon, "a", 7, 1)});
  writer.value()->ask(1, {0, 30'000 * kDay, UsageBy::tenant}, {});
  ASSERT_TRUE(answers_come(*writer.value()));
  EXPECT_FALSE(writer.value()->take_answers().at(0).sums);
  EXPECT_FALSE(writer.value()->idle());
  EXPECT_GE(writer.value()->state().failures, 1u);
  EXPECT_NE(writer.value()->state().error.find("usage.db"), std::string::npos);
  std::filesystem::remove(path);
  writer.value().reset();  // tries once more
  EXPECT_EQ(Store::open_to_read(path)->rows().value(), 1u);
}

// ---- the rows of the store

struct Sampled : ::testing::Test {
  Sampled() {
    TenantEntry entry;
    entry.tenant.id = TenantId{3};
    entry.tenant.name = "a";
    entry.tenant.uid = 7;
    entry.devices.resize(1);
    books.tenants.push_back(entry);
  }
  std::vector<Row> sample(std::int64_t now_ms) { return sampler.sample(books, {"cpu"}, now_ms); }

  Books books;
  UsageSampler sampler{kNoon};
};

TEST_F(Sampled, IsWhatWasUsedSinceTheLastTime) {
  books.tenants[0].devices[0].use.device_time = std::chrono::nanoseconds(10);
  auto rows = sample(kNoon + 100);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].begin_ms, kNoon);
  EXPECT_EQ(rows[0].end_ms, kNoon + 100);
  EXPECT_EQ(rows[0].tenant, "a");
  EXPECT_EQ(rows[0].uid, 7u);
  EXPECT_EQ(rows[0].device_name, "cpu");
  EXPECT_EQ(rows[0].amounts, (UsageAmounts{.device_ns = 10}));
  EXPECT_TRUE(sample(kNoon + 200).empty()) << "nothing was used";
  books.tenants[0].devices[0].use.device_time = std::chrono::nanoseconds(15);
  books.tenants[0].devices[0].entitled = std::chrono::nanoseconds(4);
  rows = sample(kNoon + 300);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].begin_ms, kNoon + 200);
  EXPECT_EQ(rows[0].amounts, (UsageAmounts{.device_ns = 5, .entitled_ns = 4}));
}

TEST_F(Sampled, TotalsThatBeginAnewCountFromZero) {
  books.tenants[0].devices[0].use.work.launches = 10;
  (void)sample(kNoon);
  books.tenants[0].devices[0].use.work.launches = 2;
  EXPECT_EQ(sample(kNoon + 1).at(0).amounts.launches, 2u);
}

TEST_F(Sampled, ADaemonAfterGoesOnFromThere) {
  books.tenants[0].devices[0].use.work.bytes = 10;
  (void)sample(kNoon);
  UsageSampler next(kNoon + 5);
  next.restore(TenantId{3}, sampler.sampled(TenantId{3}));
  books.tenants[0].devices[0].use.work.bytes = 11;
  const auto rows = next.sample(books, {"cpu"}, kNoon + 9);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].amounts.bytes, 1u);
}

TEST_F(Sampled, AClockThatWasSetBackMakesNoIntervalThatEndsBeforeItBegins) {
  books.tenants[0].devices[0].use.work.bytes = 10;
  const auto rows = sample(kNoon - kHour);
  EXPECT_EQ(rows.at(0).begin_ms, kNoon - kHour);
  EXPECT_EQ(rows.at(0).end_ms, kNoon - kHour);
}

// ---- times

struct Times : ::testing::Test {
  Times() {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  ~Times() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  static std::optional<std::int64_t> parse(const std::string& text) {
    const auto time = tools::parse_time(text, "--since", kNow);
    if (time) return time.value();
    EXPECT_NE(time.error().message.find("--since '" + text + "'"), std::string::npos);
    return std::nullopt;
  }
  static constexpr std::int64_t kNow = 1'795'371'720'500;  // 2026-11-22 18:22 UTC, 19:22 in Berlin
};

TEST_F(Times, AreDaysTimesAndHowLongAgo) {
  EXPECT_EQ(parse("now"), kNow);
  EXPECT_EQ(parse("90s"), kNow - 90'000);
  EXPECT_EQ(parse("2h"), kNow - 2 * kHour);
  EXPECT_EQ(parse("7d"), kNow - 7 * kDay);
  EXPECT_EQ(parse("1w"), kNow - 7 * kDay);
  EXPECT_EQ(parse("1970-01-02Z"), kDay);
  EXPECT_EQ(parse("2026-11-22T18:22Z"), 1'795'371'720'000);
  EXPECT_EQ(parse("2026-11-22 19:22:00"), 1'795'371'720'000);
  EXPECT_EQ(parse("today"), parse("2026-11-22"));
  EXPECT_EQ(parse("yesterday"), parse("2026-11-21"));
  EXPECT_EQ(parse("2026-11-22"), parse("2026-11-21T23:00Z"));
  EXPECT_EQ(parse("2026-07-01").value() - parse("2026-06-30T22:00Z").value(), 0) << "summer time";
}

TEST_F(Times, ThatAreNoneAreRefused) {
  for (const char* const text :
       {"", "h", "2", "2hh", "-2h", "2 h", "99999999999999999999h", "9999999w", "2026-13-01", "2026-02-30",
        "2026-04-31", "2026-1-1", "2026-11-22T25:00", "2026-11-22T10:60", "2026-11-22T", "tomorrow", "Z"}) {
    EXPECT_EQ(parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fairgv::daemon
