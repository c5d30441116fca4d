// Shared memory: the alignments that variables ask for, of the static and of the dynamic part, in kernels of
// every shape; and lanes that go together without a word of it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/cuda/ptx/device.hpp"

namespace {

using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;

constexpr const char* kText = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.extern .shared .align 512 .b8 dynamic[];

.visible .entry kernel(.param .u64 out) {
  .shared .align 1 .b8 small[5];
  .shared .align 256 .b8 large[12];
  .reg .b64 %out, %at, %end;
  .reg .b32 %tid, %size, %block;
  .reg .pred %p;
  mov.u32 %tid, %tid.x;
  KIND
  ld.param.u64 %out, [out];
  mov.u32 %block, %ctaid.x;
  mad.wide.u32 %out, %block, 16, %out;
  mov.u64 %at, large;
  cvta.shared.u64 %at, %at;
  st.shared.u8 [small], 1;
  st.u32 [%at], 7;
  st.global.u64 [%out], %at;
  mov.u64 %at, dynamic;
  cvta.shared.u64 %at, %at;
  st.global.u64 [%out+8], %at;
  mov.u32 %size, %dynamic_smem_size;
  cvt.u64.u32 %end, %size;
  add.u64 %end, %at, %end;
  st.u8 [%end+-1], 9;
  ret;
}
)ptx";

void expect_aligned(const std::string& kind) {
  std::string text = kText;
  text.replace(text.find("KIND"), 4, kind);
  Module module(text);
  constexpr std::size_t kBlocks = 5;
  Memory<std::uint64_t> out(2 * kBlocks);
  for (const std::size_t dynamic : {std::size_t{1}, std::size_t{100}, std::size_t{4096}}) {
    for (std::uint64_t& each : out) each = 1;
    module.launch("kernel", {kBlocks, 1, 1}, {2, 1, 1}, Parameters().add(out.address()), dynamic);
    for (std::size_t i = 0; i < kBlocks; ++i) {
      EXPECT_EQ(out[2 * i] % 256, 0u) << kind;
      EXPECT_EQ(out[2 * i + 1] % 512, 0u) << kind;
      EXPECT_GE(out[2 * i + 1], out[2 * i] + 12) << kind;
    }
  }
}

TEST(PtxShared, VariablesHaveTheirAlignmentInADirectKernel) {
  expect_aligned("");
}

TEST(PtxShared, VariablesHaveTheirAlignmentInASteppedKernel) {
  expect_aligned("activemask.b32 %size;");
}

TEST(PtxShared, VariablesHaveTheirAlignmentInAGridsKernel) {
  expect_aligned("mov.u32 %size, %envreg2;");
}

// A sum as programs of the first GPUs write it: in the last warp nothing but `volatile` orders the steps.
constexpr const char* kSum = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.visible .entry sum(.param .u64 values) {
  .shared .align 4 .b32 sums[64];
  .reg .b64 %values, %mine;
  .reg .b32 %tid, %block, %at, %step, %a, %b;
  .reg .pred %p;
  ld.param.u64 %values, [values];
  mov.u32 %tid, %tid.x;
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %a, %block, 64, %tid;
  mad.wide.u32 %mine, %a, 4, %values;
  ld.global.u32 %a, [%mine];
  mov.u32 %at, sums;
  mad.lo.u32 %at, %tid, 4, %at;
  st.shared.u32 [%at], %a;
  bar.sync 0;
  setp.gt.u32 %p, %tid, 31;
  @%p bra DONE;
  mov.u32 %step, 32;
NEXT:
  mad.lo.u32 %b, %step, 4, %at;
  ld.volatile.shared.u32 %b, [%b];
  ld.volatile.shared.u32 %a, [%at];
  add.u32 %a, %a, %b;
  st.volatile.shared.u32 [%at], %a;
  shr.u32 %step, %step, 1;
  setp.ne.u32 %p, %step, 0;
  @%p bra NEXT;
  st.global.u32 [%mine], %a;
DONE:
  ret;
}
)ptx";

TEST(PtxShared, LanesOfAWarpGoTogetherFromOneVolatileAccessToTheNext) {
  Module module(kSum);
  constexpr std::uint32_t kBlocks = 3;
  Memory<std::uint32_t> values(kBlocks * 64);
  for (std::uint32_t i = 0; i < kBlocks * 64; ++i) values[i] = i + 1;
  module.launch("sum", {kBlocks, 1, 1}, {64, 1, 1}, Parameters().add(values.address()));
  for (std::uint32_t block = 0; block < kBlocks; ++block)
    EXPECT_EQ(values[block * 64], 64 * (64 * block) + 64 * 65 / 2) << block;
}

}  // namespace
