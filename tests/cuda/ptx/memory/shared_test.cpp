// Shared memory: the alignments that variables ask for, of the static and of the dynamic part, in kernels of
// every shape.
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
  expect_aligned("bar.warp.sync 0xffffffff;");
}

TEST(PtxShared, VariablesHaveTheirAlignmentInAGridsKernel) {
  expect_aligned("mov.u32 %size, %envreg2;");
}

}  // namespace
