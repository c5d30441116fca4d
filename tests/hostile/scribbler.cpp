#include "tests/hostile/scribbler.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <fstream>
#include <string>

namespace fairgv::hostile {
namespace {

/// An ordinary program's commands, events and buffers lie in the first pages of each part.
constexpr std::uint64_t kTouchedSlots = 1024;
constexpr std::uint64_t kTouchedArena = 1 << 20;
constexpr std::uint64_t kMostWrites = 64;

}  // namespace

std::vector<Region> regions_of(const ring::SegmentPreamble& preamble) {
  const auto& at = preamble.offsets;
  const auto& sizes = preamble.sizes;
  const auto ring = [](std::uint64_t offset, std::uint64_t bytes) {
    return Region{offset, sizeof(ring::RingHeader) + bytes};
  };
  const std::uint64_t slots = std::min<std::uint64_t>(sizes.completion_slots, kTouchedSlots);
  return {{at.requests, sizeof(ring::RingHeader)},  // the indices alone
          ring(at.requests, sizes.request_bytes),
          ring(at.responses, sizes.response_bytes),
          ring(at.notices, sizes.notice_bytes),
          {0, sizeof(ring::SegmentHeader)},
          {at.slots, slots * sizeof(ring::CompletionSlot)},
          {at.arena, std::min(sizes.arena_bytes, kTouchedArena)}};
}

Scribbler::Scribbler(std::span<std::byte> segment, const ring::SegmentPreamble& preamble, std::uint64_t seed)
    : segment_(segment), regions_(regions_of(preamble)), random_(seed) {}

void Scribbler::round() {
  // Twice as often each time towards the end of the list: a session that ends at once shows little.
  const std::uint64_t draw = below((std::uint64_t{1} << regions_.size()) - 1) + 1;
  latest_ = regions_[static_cast<std::size_t>(std::bit_width(draw)) - 1];
  for (std::uint64_t left = 1 + below(kMostWrites); left > 0; --left) write_somewhere();
}

void Scribbler::write_somewhere() {
  const std::uint64_t word = below(latest_.bytes / 8);
  auto* const to = reinterpret_cast<std::uint64_t*>(segment_.data() + latest_.offset) + word;
  const std::atomic_ref<std::uint64_t> shared(*to);
  switch (below(4)) {
    case 0:
      shared.store(random_(), std::memory_order_relaxed);
      break;
    case 1:
      shared.store(random_() >> below(64), std::memory_order_relaxed);
      break;
    case 2:
      shared.fetch_xor(std::uint64_t{1} << below(64), std::memory_order_relaxed);
      break;
    default:
      shared.fetch_add(below(9) - 4, std::memory_order_relaxed);
      break;
  }
}

std::uint64_t Scribbler::below(std::uint64_t count) {
  return std::uniform_int_distribution<std::uint64_t>(0, count - 1)(random_);
}

Result<std::span<std::byte>> find_segment() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:fairgv-segment") == line.npos) continue;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    return std::span(reinterpret_cast<std::byte*>(begin), end - begin);
  }
  return Error{"this process has no session"};
}

}  // namespace fairgv::hostile
