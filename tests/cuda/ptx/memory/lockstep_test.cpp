// Volatile accesses to shared memory: the lanes of a warp go together from one to the next, as a model of
// such a warp does, whether the kernel's threads are work-items or are run in steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda/ptx/device.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::ptx_test {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kThreads = 64;
constexpr std::size_t kRegisters = 4;
constexpr int kRounds = 5;

/// One instruction of all lanes. A lane's place in its warp's shared memory is (lane * factor + offset) % 32.
struct Access {
  enum class Kind { load, store, add } kind;
  std::uint32_t value, other;     // registers
  std::uint32_t factor, offset;   // an odd factor: no two lanes have one place
  std::uint32_t skipped_by = 32;  // lanes from here on skip it
  bool barrier = false;           // before it
};

std::vector<Access> random_program(std::mt19937_64& random) {
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  std::vector<Access> program(6 + below(12));
  for (Access& each : program) {
    each.kind = static_cast<Access::Kind>(below(3));
    each.value = below(kRegisters);
    each.other = below(kRegisters);
    each.factor = 2 * below(16) + 1;
    each.offset = below(kLanes);
    if (below(4) == 0) each.skipped_by = below(kLanes);
    each.barrier = below(6) == 0;
  }
  return program;
}

std::string text_of(const std::vector<Access>& program, bool second_warp_leaves) {
  std::string text = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.visible .entry kernel(.param .u64 out) {
  .shared .align 4 .b32 words[64];
  .reg .b64 %out;
  .reg .b32 %tid, %lane, %warp, %at, %v<4>;
  .reg .pred %p;
  mov.u32 %tid, %tid.x;
  and.b32 %lane, %tid, 31;
  sub.u32 %warp, %tid, %lane;
  mov.u32 %at, words;
  mad.lo.u32 %at, %tid, 4, %at;
  st.shared.u32 [%at], %tid;
)ptx";
  for (std::size_t i = 0; i < kRegisters; ++i)
    text += fmt::format("  mad.lo.u32 %v{0}, %tid, {1}, {0};\n", i, 7 + i);
  text += "  bar.sync 0;\n";
  if (second_warp_leaves)
    text += "  setp.gt.u32 %p, %tid, 31;\n  @%p bra DONE;\n  bar.warp.sync 0xffffffff;\n";
  for (const Access& each : program) {
    const char* const guard = each.skipped_by < kLanes ? "@%p " : "";
    if (each.barrier && !second_warp_leaves) text += "  bar.sync 0;\n";
    text += fmt::format("  setp.lt.u32 %p, %lane, {};\n", each.skipped_by);
    if (each.kind == Access::Kind::add) {
      text += fmt::format("  {}add.u32 %v{}, %v{}, %v{};\n", guard, each.value, each.value, each.other);
      continue;
    }
    text += fmt::format(
        "  mad.lo.u32 %at, %lane, {}, {};\n  and.b32 %at, %at, 31;\n  add.u32 %at, %at, %warp;\n"
        "  shl.b32 %at, %at, 2;\n  mov.u32 %tid, words;\n  add.u32 %at, %at, %tid;\n",
        each.factor, each.offset);
    text += each.kind == Access::Kind::load
                ? fmt::format("  {}ld.volatile.shared.u32 %v{}, [%at];\n", guard, each.value)
                : fmt::format("  {}st.volatile.shared.u32 [%at], %v{};\n", guard, each.value);
  }
  text += "  ld.param.u64 %out, [out];\n  add.u32 %at, %lane, %warp;\n  mad.wide.u32 %out, %at, 16, %out;\n";
  for (std::size_t i = 0; i < kRegisters; ++i)
    text += fmt::format("  st.global.u32 [%out+{}], %v{};\n", 4 * i, i);
  return text + "DONE:\n  ret;\n}\n";
}

/// The registers of a warp whose lanes have made each access together.
std::vector<std::uint32_t> model(const std::vector<Access>& program, std::uint32_t first_thread) {
  std::array<std::uint32_t, kLanes> words{};
  std::array<std::array<std::uint32_t, kRegisters>, kLanes> registers{};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t thread = first_thread + lane;
    words.at(lane) = thread;
    for (std::uint32_t i = 0; i < kRegisters; ++i) registers.at(lane).at(i) = thread * (7 + i) + i;
  }
  for (const Access& each : program) {
    for (std::uint32_t lane = 0; lane < each.skipped_by && lane < kLanes; ++lane) {
      std::uint32_t& value = registers.at(lane).at(each.value);
      std::uint32_t& word = words.at((lane * each.factor + each.offset) % kLanes);
      if (each.kind == Access::Kind::load) value = word;
      if (each.kind == Access::Kind::store) word = value;
      if (each.kind == Access::Kind::add) value += registers.at(lane).at(each.other);
    }
  }
  std::vector<std::uint32_t> all;
  for (const auto& of_lane : registers) all.insert(all.end(), of_lane.begin(), of_lane.end());
  return all;
}

void expect_as_the_model(bool second_warp_leaves) {
  std::mt19937_64 random(harness::printed_seed());
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Access> program = random_program(random);
    const std::string text = text_of(program, second_warp_leaves);
    SCOPED_TRACE(text);
    Module module(text);
    EXPECT_EQ(module.info("kernel").stepped, second_warp_leaves);
    Memory<std::uint32_t> out(kThreads * kRegisters);
    module.launch("kernel", {1, 1, 1}, {kThreads, 1, 1}, Parameters().add(out.address()));
    for (std::uint32_t first = 0; first < (second_warp_leaves ? kLanes : kThreads); first += kLanes) {
      const std::vector<std::uint32_t> wanted = model(program, first);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(out[first * kRegisters + i], wanted[i]) << "thread " << first + i / kRegisters;
      }
    }
  }
}

TEST(PtxLockstep, ThreadsThatAreWorkItemsAgreeWithTheModel) {
  expect_as_the_model(false);
}

TEST(PtxLockstep, ThreadsThatAreRunInStepsAgreeWithTheModel) {
  expect_as_the_model(true);
}

}  // namespace
}  // namespace fairgv::ptx_test
