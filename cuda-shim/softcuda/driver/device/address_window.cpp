#include "cuda-shim/softcuda/driver/device/address_window.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cuda-shim/api/of_thread.hpp"

namespace fairgv::cuda::soft {
namespace {

/// Far from the places that the system chooses by itself, on x86-64 and on AArch64 with 48 bits, and from the
/// arenas of sessions. ThreadSanitizer has shadows of other addresses only.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kWindowBegin = 0x10'0000'0000;
constexpr std::uint64_t kWindowEnd = 0x70'0000'0000;
#else
constexpr std::uint64_t kWindowBegin = 0x2000'0000'0000;
constexpr std::uint64_t kWindowEnd = 0x3000'0000'0000;
#endif

constexpr std::uint64_t kStep = std::uint64_t{2} << 20U;
/// So much is kept for the next blocks: a program that allocates and frees in turns gets no new pages each
/// time.
constexpr std::uint64_t kMostIdle = std::uint64_t{64} << 20U;

constexpr std::uint64_t down(std::uint64_t value, std::uint64_t to) {
  return value / to * to;
}
constexpr std::uint64_t up(std::uint64_t value, std::uint64_t to) {
  return down(value + to - 1, to);
}

void* pointer_to(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

struct NextPlace {
  std::uint64_t address = 0;
};

}  // namespace

AddressWindow& AddressWindow::of_process() {
  static auto* const window = new AddressWindow(kWindowBegin, kWindowEnd);
  return *window;
}

AddressWindow::AddressWindow(std::uint64_t begin, std::uint64_t end) : begin_(begin), end_(end) {
  insert_free(begin, end - begin);
}

void AddressWindow::place_next(std::uint64_t address) {
  of_thread<NextPlace>().address = address;
}

std::uint64_t AddressWindow::take_next_place() {
  return std::exchange(of_thread<NextPlace>().address, 0);
}

void AddressWindow::insert_free(std::uint64_t begin, std::uint64_t bytes) {
  free_.emplace(begin, bytes);
  by_size_.emplace(bytes, begin);
}

void AddressWindow::erase_free(Blocks::iterator block) {
  by_size_.erase({block->second, block->first});
  free_.erase(block);
}

/// Takes a part of a free block, with its pages.
bool AddressWindow::carve(Blocks::iterator block, std::uint64_t address, std::uint64_t bytes) {
  if (!map(down(address, kStep), up(address + bytes, kStep))) return false;
  const auto [begin, size] = *block;
  erase_free(block);
  if (address > begin) insert_free(begin, address - begin);
  if (begin + size > address + bytes) insert_free(address + bytes, begin + size - (address + bytes));
  idle_ -= bytes;
  return true;
}

std::uint64_t AddressWindow::take(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0 || bytes > end_ - begin_) return 0;
  const std::lock_guard guard(lock_);
  // The smallest that has room.
  for (auto fit = by_size_.lower_bound({bytes, 0}); fit != by_size_.end(); ++fit) {
    const auto [size, begin] = *fit;
    const std::uint64_t address = up(begin, alignment);
    if (address - begin > size - bytes) continue;
    return carve(free_.find(begin), address, bytes) ? address : 0;
  }
  return 0;
}

bool AddressWindow::take_at(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0 || address < begin_ || address >= end_ || bytes > end_ - address) return false;
  const std::lock_guard guard(lock_);
  const auto after = free_.upper_bound(address);
  if (after == free_.begin()) return false;
  const auto block = std::prev(after);
  const std::uint64_t offset = address - block->first;
  if (offset >= block->second || block->second - offset < bytes) return false;
  return carve(block, address, bytes);
}

void AddressWindow::give_back(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  idle_ += bytes;
  std::uint64_t begin = address;
  std::uint64_t end = address + bytes;
  auto after = free_.upper_bound(address);
  if (after != free_.end() && after->first == end) {
    end += after->second;
    erase_free(after++);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      erase_free(before);
    }
  }
  insert_free(begin, end - begin);
  if (idle_ > kMostIdle)
    unmap_idle(std::max(up(begin, kStep), down(address, kStep)),
               std::min(down(end, kStep), up(address + bytes, kStep)));
}

/// Makes all steps from begin to end be there. False: the system has no memory, or other code has the
/// addresses.
bool AddressWindow::map(std::uint64_t begin, std::uint64_t end) {
  // The mappings that are there, in order; between them lie the gaps.
  auto next = mapped_.upper_bound(begin);
  if (next != mapped_.begin() && std::prev(next)->second > begin) begin = std::prev(next)->second;
  while (begin < end) {
    const std::uint64_t gap_end = next == mapped_.end() ? end : std::min(end, next->first);
    if (begin < gap_end) {
      void* const got = ::mmap(pointer_to(begin), gap_end - begin, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == MAP_FAILED) return false;
      if (got != pointer_to(begin)) {
        ::munmap(got, gap_end - begin);  // a kernel before 4.17 takes the address as a hint
        return false;
      }
      idle_ += gap_end - begin;
      mapped_.emplace(begin, gap_end);
    }
    if (next == mapped_.end()) break;
    begin = std::max(gap_end, next->second);
    ++next;
  }
  return true;
}

/// The steps from begin to end are in no block: their pages go.
void AddressWindow::unmap_idle(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto at = mapped_.upper_bound(begin);
  if (at != mapped_.begin()) --at;
  while (at != mapped_.end() && at->first < end) {
    const std::uint64_t first = std::max(at->first, begin);
    const std::uint64_t last = std::min(at->second, end);
    if (first >= last || ::munmap(pointer_to(first), last - first) != 0) {
      ++at;
      continue;
    }
    idle_ -= last - first;
    const auto [mapped_begin, mapped_end] = *at;
    at = mapped_.erase(at);
    if (mapped_begin < first) mapped_.emplace(mapped_begin, first);
    if (last < mapped_end) at = mapped_.emplace(last, mapped_end).first;
  }
}

}  // namespace fairgv::cuda::soft
