#include "runtime/ring/segment.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>
#include <string>

namespace fairgv::ring {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

constexpr uint64_t kMinRingBytes = uint64_t{4} << 10;
constexpr uint64_t kMaxRingBytes = uint64_t{1} << 30;
constexpr uint32_t kMaxCompletionSlots = uint32_t{1} << 28;
constexpr uint64_t kMaxArenaBytes = uint64_t{16} << 40;

bool valid_ring(uint64_t bytes) {
  return bytes >= kMinRingBytes && bytes <= kMaxRingBytes && std::has_single_bit(bytes);
}

/// The first thing wrong with `sizes`, or null.
const char* fault(const SegmentSizes& sizes) {
  if (!valid_ring(sizes.request_bytes)) return "request ring size is not a power of two from 4 KiB to 1 GiB";
  if (!valid_ring(sizes.response_bytes))
    return "response ring size is not a power of two from 4 KiB to 1 GiB";
  if (!valid_ring(sizes.notice_bytes)) return "notice ring size is not a power of two from 4 KiB to 1 GiB";
  if (sizes.completion_slots == 0 || sizes.completion_slots > kMaxCompletionSlots) {
    return "number of completion slots is not from 1 to 2^28";
  }
  if (sizes.arena_bytes == 0 || sizes.arena_bytes > kMaxArenaBytes || sizes.arena_bytes % kPageBytes != 0) {
    return "arena size is not a multiple of 4 KiB up to 16 TiB";
  }
  return nullptr;
}

/// The fault of a wanted address, or null. Only the system can say whether the address is free.
const char* address_fault(uint64_t address) {
  return address % kPageBytes == 0 ? nullptr : "the wanted address is not a multiple of 4 KiB";
}

/// The one layout that sizes have. Cannot overflow for sizes without fault().
SegmentOffsets offsets_of(const SegmentSizes& sizes) {
  SegmentOffsets at;
  at.requests = kPageBytes;
  at.responses = at.requests + round_up_to_page(sizeof(RingHeader) + sizes.request_bytes);
  at.notices = at.responses + round_up_to_page(sizeof(RingHeader) + sizes.response_bytes);
  at.slots = at.notices + round_up_to_page(sizeof(RingHeader) + sizes.notice_bytes);
  at.arena = at.slots + round_up_to_page(uint64_t{sizes.completion_slots} * sizeof(CompletionSlot));
  at.total = at.arena + sizes.arena_bytes;
  return at;
}

/// Checks that `fd` is a memory file of ordinary pages that can never change its size; returns that size.
/// (Huge pages are refused because touching one may raise SIGBUS.)
Result<uint64_t> sealed_size(int fd) {
  struct statfs filesystem {};
  if (::fstatfs(fd, &filesystem) != 0) return system_error("segment: cannot examine the descriptor");
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (filesystem.f_type != TMPFS_MAGIC || seals < 0) {
    return Error{"segment: the descriptor is not a memory file; pass one made by Segment::create"};
  }
  if ((seals & kSeals) != kSeals) {
    return Error{"segment: the memory file is not sealed against shrinking and growing; refused"};
  }
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_error("segment: cannot read the memory file's size");
  return static_cast<uint64_t>(status.st_size);
}

/// Copies the preamble out of the file once (with a read, so that nothing is read twice) and checks the copy
/// against the file and against itself.
Result<SegmentPreamble> checked_preamble(int fd) {
  const Result<uint64_t> size = sealed_size(fd);
  if (!size) return size.error();

  SegmentPreamble preamble;
  if (::pread(fd, &preamble, sizeof(preamble), 0) != static_cast<ssize_t>(sizeof(preamble))) {
    return Error{"segment: the memory file is too short to hold a header; refused"};
  }
  if (preamble.magic != SegmentPreamble::kMagic) {
    return Error{"segment: the memory file does not start with FGVS: it is no FairGV segment"};
  }
  if (preamble.version != SegmentPreamble::kVersion) {
    return Error{"segment: layout version " + std::to_string(preamble.version) +
                 " is not supported (this is " + std::to_string(SegmentPreamble::kVersion) +
                 "); install matching FairGV versions"};
  }
  if (const char* what = fault(preamble.sizes)) {
    return Error{std::string("segment: refused: ") + what};
  }
  if (const char* what = address_fault(preamble.wanted_address)) {
    return Error{std::string("segment: refused: ") + what};
  }
  if (preamble.offsets != offsets_of(preamble.sizes) || preamble.offsets.total != size.value()) {
    return Error{"segment: the header's offsets do not match its sizes or the file's size; refused"};
  }
  return preamble;
}

/// A new memory file of `bytes`, sealed at that size.
Result<UniqueFd> sealed_file(uint64_t bytes) {
  UniqueFd fd(::memfd_create("fairgv-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("segment: cannot create a memory file");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return system_error("segment: cannot size a memory file to " + std::to_string(bytes) +
                        " bytes (lower the arena size, or raise 'ulimit -f')");
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0)
    return system_error("segment: cannot seal the memory file");
  return fd;
}

void close_and_wake(SegmentHeader& header) {
  // Release: pairs with the acquire in every predicate that reads `closed`.
  header.closed.store(1, std::memory_order_release);
  for (Doorbell* bell : {&header.worker_bell, &header.reply_bell, &header.completion_bell,
                         &header.notice_bell, &header.room_bell}) {
    ring_always(*bell);  // whatever the peer made of the flags
  }
}

}  // namespace

Result<Segment> Segment::create(const SegmentSizes& sizes, uint64_t wanted_address) {
  const char* const sizes_fault = fault(sizes);
  if (const char* what = sizes_fault != nullptr ? sizes_fault : address_fault(wanted_address)) {
    return Error{std::string("segment: cannot create: ") + what};
  }
  SegmentPreamble preamble;
  preamble.wanted_address = wanted_address;
  preamble.sizes = sizes;
  preamble.offsets = offsets_of(sizes);

  Result<UniqueFd> fd = sealed_file(preamble.offsets.total);
  if (!fd) return fd.error();
  Result<Mapping> mapping = Mapping::shared(fd->get(), preamble.offsets.total);
  if (!mapping) return mapping.error();

  // The indices, slots and arena are right as they are: zero.
  auto* header = new (mapping->data()) SegmentHeader;
  header->preamble = preamble;
  return Segment(std::move(fd).value(), std::move(mapping).value(), preamble);
}

Result<Segment> Segment::attach(UniqueFd fd) {
  const Result<SegmentPreamble> preamble = checked_preamble(fd.get());
  if (!preamble) return preamble.error();
  Result<Mapping> mapping =
      Mapping::shared(fd.get(), preamble.value().offsets.total, preamble.value().wanted_address);
  if (!mapping) return mapping.error();
  return Segment(std::move(fd), std::move(mapping).value(), preamble.value());
}

void Segment::close() {
  close_and_wake(header());
}

Result<Segment> Segment::attach_what_fits(UniqueFd fd) {
  const Result<SegmentPreamble> checked = checked_preamble(fd.get());
  if (!checked) return checked.error();
  const SegmentPreamble& preamble = checked.value();
  uint64_t arena_bytes = preamble.sizes.arena_bytes;
  const auto map = [&] {
    return Mapping::shared(fd.get(), preamble.offsets.arena + arena_bytes, preamble.wanted_address);
  };
  Result<Mapping> mapping = map();
  const auto halve = [&] {
    arena_bytes = std::max(arena_bytes / 2 / kPageBytes * kPageBytes,
                           std::min(kLeastArenaBytes, preamble.sizes.arena_bytes));
  };
  const auto is_least = [&] { return arena_bytes <= kLeastArenaBytes; };
  const bool is_cut = !mapping;
  while (!mapping && !is_least()) {
    halve();
    mapping = map();
  }
  if (!mapping) return mapping.error();
  if (is_cut && !is_least()) {
    halve();
    mapping.value().reset();  // there is no room for both
    mapping = map();
    if (!mapping) return mapping.error();
  }
  Segment segment(std::move(fd), std::move(mapping).value(), preamble);
  segment.sizes_.arena_bytes = arena_bytes;
  return segment;
}

Result<HeaderView> HeaderView::attach(int fd) {
  const Result<SegmentPreamble> preamble = checked_preamble(fd);
  if (!preamble) return preamble.error();
  Result<Mapping> mapping = Mapping::shared(fd, kPageBytes);
  if (!mapping) return mapping.error();
  return HeaderView(std::move(mapping).value());
}

void HeaderView::close() {
  close_and_wake(header());
}

}  // namespace fairgv::ring
