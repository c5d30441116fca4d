// The segment: its layout, the refusal of bad files, and its closing.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>

#include "tests/harness/sanitized.hpp"
#include "tests/unit/ring/support.hpp"

namespace fairgv::ring {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

UniqueFd duplicate(int fd) {
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

uint64_t allocated_bytes(int fd) {
  struct stat status {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return static_cast<uint64_t>(status.st_blocks) * 512;
}

/// A memory file with the contents of a good segment, but of any size and with any seals.
UniqueFd imitation(const SegmentPreamble& preamble, uint64_t bytes, int seals) {
  UniqueFd fd(memfd_create("imitation", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  const size_t written = std::min<size_t>(sizeof(preamble), bytes);
  EXPECT_EQ(pwrite(fd.get(), &preamble, written, 0), static_cast<ssize_t>(written));
  EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

/// Both ways to attach must refuse, with a message that contains `reason`.
void expect_refused(UniqueFd fd, const std::string& reason) {
  const Result<HeaderView> view = HeaderView::attach(fd.get());
  ASSERT_FALSE(view) << reason;
  EXPECT_NE(view.error().message.find(reason), std::string::npos) << view.error().message;
  const Result<Segment> segment = Segment::attach(std::move(fd));
  ASSERT_FALSE(segment) << reason;
  EXPECT_NE(segment.error().message.find(reason), std::string::npos) << segment.error().message;
}

class SegmentTest : public testing::Test {
 protected:
  Segment segment = Segment::create(small_sizes()).value();
  const SegmentPreamble good = segment.header().preamble;
};

TEST_F(SegmentTest, PartsAreAlignedDisjointAndWithinTheFile) {
  struct stat status {};
  ASSERT_EQ(fstat(segment.fd(), &status), 0);
  const auto* base = reinterpret_cast<const std::byte*>(&segment.header());
  uint64_t end = sizeof(SegmentHeader);
  const auto expect_next = [&](const void* begin, uint64_t bytes, uint64_t alignment) {
    const auto offset = static_cast<uint64_t>(static_cast<const std::byte*>(begin) - base);
    EXPECT_GE(offset, end);
    EXPECT_EQ(offset % alignment, 0U);
    end = offset + bytes;
  };
  for (const RingMemory& memory : {segment.requests(), segment.responses(), segment.notices()}) {
    EXPECT_EQ(memory.slot_count, 64U);
    expect_next(memory.header, sizeof(RingHeader), 64);
    expect_next(memory.slots, memory.slot_count * kSlotBytes, 64);
  }
  EXPECT_EQ(segment.slots().size(), 64U);
  expect_next(segment.slots().data(), segment.slots().size_bytes(), 64);
  EXPECT_EQ(segment.arena().size(), uint64_t{1} << 20);
  expect_next(segment.arena().data(), segment.arena().size_bytes(), kPageBytes);
  EXPECT_EQ(end, static_cast<uint64_t>(status.st_size));
}

TEST_F(SegmentTest, AnAttachedSegmentIsTheSameMemory) {
  const Segment other = Segment::attach(duplicate(segment.fd())).value();
  EXPECT_EQ(other.sizes(), segment.sizes());
  EXPECT_NE(&other.header(), &segment.header());
  segment.arena().back() = std::byte{17};
  segment.slots().back().state = 99;
  segment.notices().header->produced = 5;
  EXPECT_EQ(other.arena().back(), std::byte{17});
  EXPECT_EQ(other.slots().back().state, 99U);
  EXPECT_EQ(other.notices().header->produced, 5U);
}

TEST_F(SegmentTest, AMovedSegmentKeepsItsMemory) {
  SegmentHeader* const header = &segment.header();
  Segment moved = std::move(segment);
  EXPECT_EQ(&moved.header(), header);
  segment = std::move(moved);
  EXPECT_EQ(&segment.header(), header);
  EXPECT_FALSE(segment.closed());
}

TEST_F(SegmentTest, ADefaultSegmentTakesMemoryOnlyForWhatIsTouched) {
  const Segment large = Segment::create().value();
  EXPECT_GE(large.arena().size(), uint64_t{64} << 30);
  large.arena()[large.arena().size() / 2] = std::byte{1};
  EXPECT_LE(allocated_bytes(large.fd()), 64 * kPageBytes);
}

TEST_F(SegmentTest, IsLeftOutOfCoreDumps) {
  std::ifstream smaps("/proc/self/smaps");
  bool ours = false;
  bool found = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find("fairgv-segment") != std::string::npos) ours = true;
    if (ours && line.starts_with("VmFlags:")) {
      EXPECT_NE((line + " ").find(" dd "), std::string::npos) << line;
      found = true;
      ours = false;
    }
  }
  EXPECT_TRUE(found);
}

TEST_F(SegmentTest, ItsSizeAndSealsCannotBeChangedByAnybody) {
  const UniqueFd fd = duplicate(segment.fd());
  EXPECT_EQ(ftruncate(fd.get(), 4096), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(fd.get(), off_t{1} << 40), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(fcntl(fd.get(), F_GET_SEALS), kSeals);
}

TEST_F(SegmentTest, SizesOutOfBoundsAreRefused) {
  using Change = std::function<void(SegmentSizes&)>;
  const Change changes[] = {
      [](SegmentSizes& s) { s.request_bytes = 0; },
      [](SegmentSizes& s) { s.request_bytes = 2048; },
      [](SegmentSizes& s) { s.response_bytes = 3 * 4096; },
      [](SegmentSizes& s) { s.notice_bytes = uint64_t{1} << 63; },
      [](SegmentSizes& s) { s.completion_slots = 0; },
      [](SegmentSizes& s) { s.completion_slots = UINT32_MAX; },
      [](SegmentSizes& s) { s.arena_bytes = 0; },
      [](SegmentSizes& s) { s.arena_bytes = 4097; },
      [](SegmentSizes& s) { s.arena_bytes = UINT64_MAX - 4095; },
  };
  for (const Change& change : changes) {
    SegmentSizes sizes = small_sizes();
    change(sizes);
    EXPECT_FALSE(Segment::create(sizes)) << "case " << &change - changes;
    SegmentPreamble preamble = good;
    preamble.sizes = sizes;
    expect_refused(imitation(preamble, good.offsets.total, kSeals), "refused: ");
  }
}

TEST_F(SegmentTest, AnExactImitationIsAccepted) {
  EXPECT_TRUE(Segment::attach(imitation(good, good.offsets.total, kSeals)))
      << "or the refusals below would prove nothing";
}

TEST_F(SegmentTest, AMemoryFileWithoutAllSealsIsRefused) {
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_GROW | F_SEAL_SEAL, F_SEAL_SHRINK | F_SEAL_GROW}) {
    expect_refused(imitation(good, good.offsets.total, seals), "not sealed");
  }
}

TEST_F(SegmentTest, AFileOfAnotherSizeIsRefused) {
  expect_refused(imitation(good, 0, kSeals), "too short");
  expect_refused(imitation(good, sizeof(good) - 1, kSeals), "too short");
  expect_refused(imitation(good, sizeof(good), kSeals), "do not match");
  expect_refused(imitation(good, good.offsets.total - 1, kSeals), "do not match");
  expect_refused(imitation(good, good.offsets.total + kPageBytes, kSeals), "do not match");
}

TEST_F(SegmentTest, AnotherMagicOrVersionIsRefused) {
  SegmentPreamble preamble = good;
  preamble.magic = 0x12345678;
  expect_refused(imitation(preamble, good.offsets.total, kSeals), "FGVS");
  preamble = good;
  preamble.version = 77;
  expect_refused(imitation(preamble, good.offsets.total, kSeals), "version 77");
}

TEST_F(SegmentTest, OffsetsThatDoNotFollowFromTheSizesAreRefused) {
  uint64_t SegmentOffsets::*const offsets[] = {&SegmentOffsets::requests, &SegmentOffsets::responses,
                                               &SegmentOffsets::notices,  &SegmentOffsets::slots,
                                               &SegmentOffsets::arena,    &SegmentOffsets::total};
  for (const auto offset : offsets) {
    for (const uint64_t value : {uint64_t{0}, good.offsets.*offset + 64, UINT64_MAX}) {
      SegmentPreamble preamble = good;
      preamble.offsets.*offset = value;
      expect_refused(imitation(preamble, good.offsets.total, kSeals), "do not match");
    }
  }
}

TEST_F(SegmentTest, ADescriptorThatIsNoMemoryFileIsRefused) {
  expect_refused(UniqueFd(), "descriptor");
  expect_refused(UniqueFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), "not a memory file");
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd write_end(ends[1]);
  expect_refused(UniqueFd(ends[0]), "not a memory file");
}

TEST_F(SegmentTest, AMemoryFileOfHugePagesIsRefused) {
  UniqueFd huge(memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!huge) GTEST_SKIP() << "this kernel has no huge pages";
  expect_refused(std::move(huge), "not a memory file");
}

/// A page-aligned range in which nothing is mapped: the process has just unmapped it.
uint64_t free_address(uint64_t bytes) {
  void* const found = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(found, MAP_FAILED);
  munmap(found, bytes);
  return reinterpret_cast<uint64_t>(found);
}

TEST_F(SegmentTest, ASegmentIsAttachedAtTheWantedAddressIfThatIsFree) {
  const uint64_t wanted = free_address(good.offsets.total);
  const Segment made = Segment::create(small_sizes(), wanted).value();
  EXPECT_EQ(made.header().preamble.wanted_address, wanted);
  const bool taken = made.at_wanted_address();  // the system may have put the creator's mapping there
  const Segment first = Segment::attach(duplicate(made.fd())).value();
  EXPECT_EQ(first.at_wanted_address(), !taken);
  const Segment second = Segment::attach(duplicate(made.fd())).value();
  EXPECT_FALSE(second.at_wanted_address());
  first.arena()[5] = std::byte{23};
  EXPECT_EQ(second.arena()[5], std::byte{23});
}

TEST_F(SegmentTest, WithoutAWantedAddressNobodyIsThere) {
  EXPECT_FALSE(segment.at_wanted_address());
  EXPECT_FALSE(Segment::attach(duplicate(segment.fd()))->at_wanted_address());
}

TEST_F(SegmentTest, AWantedAddressWithinAPageIsRefused) {
  EXPECT_FALSE(Segment::create(small_sizes(), 4097));
  SegmentPreamble preamble = good;
  preamble.wanted_address = 4097;
  expect_refused(imitation(preamble, good.offsets.total, kSeals), "wanted address");
}

/// The part of an arena of 4 GiB that a process maps when it has so much address space beyond its use.
uint64_t arena_that_fits(uint64_t room, bool (*use)(Segment&)) {
  SegmentSizes sizes = small_sizes();
  sizes.arena_bytes = uint64_t{4} << 30;
  const Segment whole = Segment::create(sizes).value();
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = start_child([&] {
    std::ifstream statm("/proc/self/statm");
    uint64_t pages = 0;
    statm >> pages;
    const rlimit limit{pages * kPageBytes + room, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
    if (Segment::attach(duplicate(whole.fd()))) return false;  // the limit would show nothing
    auto segment = Segment::attach_what_fits(duplicate(whole.fd()));
    if (!segment) return false;
    const uint64_t bytes = segment->arena().size();
    if (segment->whole_arena_bytes() != sizes.arena_bytes || segment->sizes().arena_bytes != bytes)
      return false;
    return use(segment.value()) && write(pipe_ends[1], &bytes, sizeof(bytes)) == sizeof(bytes);
  });
  close(pipe_ends[1]);
  uint64_t bytes = 0;
  if (read(pipe_ends[0], &bytes, sizeof(bytes)) != sizeof(bytes)) bytes = 0;
  close(pipe_ends[0]);
  await_child(child);
  return bytes;
}

TEST(SegmentUnderALimit, IsMappedAsFarAsItFitsAndLeavesAsMuchForTheProgram) {
  if (harness::kSanitized) GTEST_SKIP() << "sanitizers need the address space";
  const auto use = [](Segment& segment) {
    segment.arena().front() = segment.arena().back() = std::byte{1};
    void* const own = mmap(nullptr, segment.arena().size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return own != MAP_FAILED;
  };
  const uint64_t room = uint64_t{1500} << 20;
  const uint64_t bytes = arena_that_fits(room, use);
  EXPECT_GE(bytes, room / 4);
  EXPECT_LE(bytes, room / 2);
  EXPECT_EQ(bytes % kPageBytes, 0U);
}

TEST(SegmentUnderALimit, IsRefusedWhereNotEvenALittleOfTheArenaFits) {
  if (harness::kSanitized) GTEST_SKIP() << "sanitizers need the address space";
  EXPECT_EQ(arena_that_fits(Segment::kLeastArenaBytes / 2, [](Segment&) { return true; }), 0U);
}

TEST_F(SegmentTest, WithoutALimitAllOfTheArenaIsMapped) {
  const auto mapped = Segment::attach_what_fits(duplicate(segment.fd()));
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped.value().arena().size(), small_sizes().arena_bytes);
  EXPECT_EQ(mapped.value().whole_arena_bytes(), small_sizes().arena_bytes);
}

TEST_F(SegmentTest, ScribblingOverTheHeaderDoesNotMoveAnAttachedSegment) {
  const Segment worker = Segment::attach(duplicate(segment.fd())).value();
  std::byte* const arena = worker.arena().data();
  segment.header().preamble.offsets = SegmentOffsets{};
  segment.header().preamble.sizes.arena_bytes = UINT64_MAX;
  EXPECT_EQ(worker.arena().data(), arena);
  EXPECT_EQ(worker.arena().size(), small_sizes().arena_bytes);
}

TEST_F(SegmentTest, ClosingWakesTheSleepersOnEveryBell) {
  SegmentHeader& header = segment.header();
  Doorbell* const bells[] = {&header.worker_bell, &header.reply_bell, &header.completion_bell,
                             &header.notice_bell, &header.room_bell};
  std::atomic<int> woken{0};
  std::vector<std::thread> sleepers;
  for (Doorbell* bell : bells) {
    sleepers.emplace_back([&, bell] {
      SpinBudget budget(std::chrono::nanoseconds(0));
      if (wait(
              *bell, budget, [&] { return segment.closed(); }, lost_by()))
        ++woken;
    });
    await_sleeper(*bell);
  }
  HeaderView::attach(segment.fd()).value().close();
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(woken, 5);
  EXPECT_TRUE(segment.closed());
}

}  // namespace
}  // namespace fairgv::ring
