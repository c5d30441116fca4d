// Images of parked sessions: copies with holes, files without names, and the limit of those in memory.
#include "runtime/daemon/moves/image_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/files/sparse_copy.hpp"
#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

constexpr std::uint64_t kImageBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kFarAway = std::uint64_t{40} << 20;

UniqueFd empty_image() {
  UniqueFd file(::memfd_create("image", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), kImageBytes), 0);
  return file;
}

/// A few bytes at the beginning, and far away.
UniqueFd image_with_a_hole() {
  UniqueFd file = empty_image();
  EXPECT_EQ(::pwrite(file.get(), "near", 4, 0), 4);
  EXPECT_EQ(::pwrite(file.get(), "far", 3, kFarAway), 3);
  return file;
}

std::string text_at(int file, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, '?');
  EXPECT_EQ(::pread(file, text.data(), bytes, static_cast<off_t>(offset)), static_cast<ssize_t>(bytes));
  return text;
}

TEST(SparseCopy, HolesAndZerosStayHoles) {
  const UniqueFd from = image_with_a_hole();
  const std::string zeros(std::size_t{8} << 20, '\0');
  ASSERT_EQ(::pwrite(from.get(), zeros.data(), zeros.size(), std::size_t{8} << 20),
            static_cast<ssize_t>(zeros.size()));
  const UniqueFd to = empty_image();
  const std::atomic<bool> stop{false};
  const auto copied = copy_sparse({from.get(), 0}, {to.get(), 0}, kImageBytes, stop);
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(text_at(to.get(), 0, 5), std::string("near\0", 5));
  EXPECT_EQ(text_at(to.get(), kFarAway, 4), std::string("far\0", 4));
  EXPECT_LE(allocated_bytes(to.get()), std::uint64_t{4} << 20) << "of " << allocated_bytes(from.get());
  EXPECT_GE(allocated_bytes(from.get()), zeros.size());
}

TEST(SparseCopy, CopiesAPartToAnotherPlace) {
  const UniqueFd from = image_with_a_hole();
  const UniqueFd to = empty_image();
  const std::atomic<bool> stop{false};
  ASSERT_TRUE(copy_sparse({from.get(), kFarAway}, {to.get(), 5'000}, 3, stop));
  EXPECT_EQ(text_at(to.get(), 5'000, 4), std::string("far\0", 4));
  EXPECT_EQ(text_at(to.get(), 0, 4), std::string(4, '\0'));
}

TEST(SparseCopy, AFullDiskIsALine) {
  const UniqueFd from = image_with_a_hole();
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const std::atomic<bool> stop{false};
  const auto copied = copy_sparse({from.get(), 0}, {full.get(), 0}, kImageBytes, stop);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().message, "write: No space left on device");
}

TEST(SparseCopy, StopsWhenItIsTold) {
  const UniqueFd from = image_with_a_hole();
  const UniqueFd to = empty_image();
  const std::atomic<bool> stop{true};
  EXPECT_FALSE(copy_sparse({from.get(), 0}, {to.get(), 0}, kImageBytes, stop));
  EXPECT_EQ(allocated_bytes(to.get()), 0U);
}

struct ImageStoreTest : ::testing::Test {
  Result<UniqueFd> stored(int image) {
    std::optional<Result<UniqueFd>> result;
    const auto begun =
        store.store(image, kImageBytes, [&](Result<UniqueFd> file) { result.emplace(std::move(file)); });
    if (!begun) return begun.error();
    while (!result) events->wait({});
    return std::move(*result);
  }
  harness::TemporaryFolder folder;
  Config config;
  std::unique_ptr<EventLoop> events = std::move(EventLoop::create()).value();
  Sessions sessions;
  ImageStore store{config, *events, sessions};
};

TEST_F(ImageStoreTest, AFileHasNoNameAndIsForReading) {
  config.session.parked_folder = folder / "parked";
  const UniqueFd image = image_with_a_hole();
  const auto file = stored(image.get());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(text_at(file.value().get(), 0, 4), "near");
  EXPECT_EQ(text_at(file.value().get(), kFarAway, 3), "far");
  struct stat found {};
  ASSERT_EQ(::fstat(file.value().get(), &found), 0);
  EXPECT_EQ(found.st_nlink, 0U);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  EXPECT_EQ(static_cast<std::uint64_t>(found.st_size), kImageBytes);
  EXPECT_EQ(::pwrite(file.value().get(), "x", 1, 0), -1);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "parked"));
  ASSERT_EQ(::stat((folder / "parked").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_F(ImageStoreTest, AFolderThatIsNoneIsALine) {
  folder.write("file", "");
  config.session.parked_folder = folder / "file";
  const UniqueFd image = image_with_a_hole();
  const auto file = stored(image.get());
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find(config.session.parked_folder), std::string::npos)
      << file.error().message;
}

TEST_F(ImageStoreTest, NobodyHearsOfAFileThatIsNotWantedAnyMore) {
  config.session.parked_folder = folder / "parked";
  const UniqueFd image = image_with_a_hole();
  bool told = false;
  const auto begun = store.store(image.get(), kImageBytes, [&](const Result<UniqueFd>&) { told = true; });
  ASSERT_TRUE(begun);
  store.forget(begun.value());
  events->wait({});
  EXPECT_FALSE(told);
}

TEST_F(ImageStoreTest, ImagesInMemoryAreLimitedByWhatTheyTake) {
  config.session.parked_memory = std::uint64_t{1} << 20;
  const UniqueFd image = image_with_a_hole();
  EXPECT_TRUE(store.may_stay(image.get())) << "a hole takes nothing";
  const std::string bytes(std::size_t{2} << 20, 'x');
  ASSERT_EQ(::pwrite(image.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  const auto stays = store.may_stay(image.get());
  ASSERT_FALSE(stays);
  EXPECT_NE(stays.error().message.find("may take 1.0 MiB of memory (parked_memory), 0 B are taken, and its "
                                       "image has 2.0 MiB"),
            std::string::npos)
      << stays.error().message;
}

struct ParksToFiles : MoveTest {
  std::string park() {
    outcome.reset();
    const auto begun = table.moves().park(session(), {.by = {0, true}, .drained = {}, .to_file = true},
                                          [this](const MoveOutcome& result) { outcome = result; });
    if (!begun) return begun.error().message;
    run_until([&] { return outcome.has_value(); });
    return outcome->failure ? outcome->failure->message : "";
  }
};

TEST_F(ParksToFiles, ASessionGoesOnFromItsFile) {
  house.config.session.parked_folder = folder / "parked";
  start_two(honest_old(), say(ready()) + honest_new());
  EXPECT_EQ(park(), "");
  ASSERT_TRUE(session().parked);
  EXPECT_TRUE(session().parked->how.to_file);
  EXPECT_TRUE(house.report().tenants.at(0).sessions.at(0).image->in_file);
  outcome.reset();
  ASSERT_TRUE(table.moves().unpark(session(), [this](const MoveOutcome& result) { outcome = result; }));
  run_until([&] { return outcome.has_value(); });
  EXPECT_FALSE(outcome->failure);
}

TEST_F(ParksToFiles, WhereNoFileCanBeMadeTheOldWorkerGoesOn) {
  folder.write("file", "");
  house.config.session.parked_folder = folder / "file";
  start_two(honest_old(), "");
  EXPECT_NE(park().find("session 1 is not parked: "), std::string::npos);
  run_until([&] { return has_come_to(1); });
  EXPECT_FALSE(session().parked);
  EXPECT_EQ(session().worker.pid(), old_worker);
}

}  // namespace
}  // namespace fairgv::daemon
