#include "cuda-shim/softcuda/driver/launch/launch_frame.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace fairgv::cuda::soft {
namespace {

/// The cycle counter that __builtin_readcyclecounter() reads in a kernel.
std::uint64_t cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return 0;
#endif
}

std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
}

struct ClockStart {
  std::uint64_t cycles = soft::cycles();
  std::uint64_t nanoseconds = soft::nanoseconds();
};

/// Counter and clock are compared over the whole life of the driver: the longer it runs, the better they
/// agree.
void set_clock(RuntimeBlock& block, std::uint32_t clock_mhz) {
  static const ClockStart start;
  const std::uint64_t now_cycles = cycles();
  const std::uint64_t now = nanoseconds();
  const std::uint64_t elapsed_cycles = now_cycles - start.cycles;
  const std::uint64_t elapsed = now - start.nanoseconds;
  constexpr std::uint64_t kTooShort = 1'000'000;  // a millisecond: 0.1 % of reading error
  double scale = 1000.0 / (clock_mhz == 0 ? 1000.0 : clock_mhz);
  if (elapsed > kTooShort && elapsed_cycles != 0) {
    scale = static_cast<double>(elapsed) / static_cast<double>(elapsed_cycles);
  }
  block.clock_base = now_cycles;
  block.timer_base = now;
  block.timer_scale = static_cast<std::uint64_t>(scale * 4294967296.0);
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

std::unique_ptr<LaunchFrame> LaunchFrame::make(const OpenClDevice& device) {
  auto frame = std::make_unique<LaunchFrame>();
  frame->block_ = device.allocate(sizeof(RuntimeBlock));
  frame->ring_ = device.allocate(kRingBytes);
  if (!frame->block_ || !frame->ring_) return nullptr;
  new (frame->block_.data()) RuntimeBlock{};
  return frame;
}

bool LaunchFrame::prepare(const OpenClDevice& device, std::uint64_t dynamic_shared, std::uint64_t slot_bytes,
                          std::uint32_t slots) {
  static std::atomic<std::uint64_t> next_grid{1};  // relaxed: only uniqueness counts
  RuntimeBlock fresh;
  fresh.printf_address = ring_.address();
  fresh.printf_capacity = kRingBytes;
  fresh.dynamic_shared_bytes = dynamic_shared;
  fresh.grid_id = next_grid.fetch_add(1, std::memory_order_relaxed);
  set_clock(fresh, device.facts().clock_mhz);
  if (slots != 0) {
    constexpr std::uint64_t kLine = 64;
    const std::uint64_t slot = round_up(slot_bytes, kLine);
    const std::uint64_t flags = round_up(std::uint64_t{slots} * sizeof(std::uint32_t), kLine);
    const std::uint64_t needed = flags + slot * slots;
    if (needed > scratch_bytes_) {
      scratch_bytes_ = 0;
      scratch_ = DeviceMemory();
      scratch_ = device.allocate(needed);
      if (!scratch_) return false;
      scratch_bytes_ = needed;
    }
    std::memset(scratch_.data(), 0, flags);
    fresh.scratch_flags = scratch_.address();
    fresh.scratch_address = scratch_.address() + flags;
    fresh.scratch_slot_bytes = slot;
    fresh.scratch_slots = slots;
  }
  block() = fresh;
  return true;
}

std::unique_ptr<LaunchFrame> LaunchFrames::take(const OpenClDevice& device) {
  {
    const std::lock_guard guard(lock_);
    if (!free_.empty()) {
      auto frame = std::move(free_.back());
      free_.pop_back();
      return frame;
    }
  }
  return LaunchFrame::make(device);
}

void LaunchFrames::give_back(std::unique_ptr<LaunchFrame> frame) {
  const std::lock_guard guard(lock_);
  free_.push_back(std::move(frame));
}

}  // namespace fairgv::cuda::soft
