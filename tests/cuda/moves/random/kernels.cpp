#include "tests/cuda/moves/random/kernels.hpp"

namespace fairgv::moves::cuda {
namespace {

constexpr const char* kVariables = R"(.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
.global .align 4 .u32 counter;
.global .align 8 .u64 place;
.const .align 4 .u32 constant;
.global .align 1 .b8 line[17] = {107,101,114,110,101,108,32,115,97,121,115,32,37,117,10,0,0};
)";

/// %r1: the thread's number; ends those that are not below %r2.
constexpr const char* kIndex = R"(
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r1, %r2;
  @%p1 bra DONE;
  mul.wide.u32 %d2, %r1, 4;
)";

constexpr const char* kRegisters = R"(
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<12>;
)";

constexpr const char* kEnd = "DONE:\n  ret;\n}\n";

std::string kernel(const std::string& head, const std::string& body) {
  return ".visible .entry " + head + kRegisters + body + kEnd;
}

std::string mix_kernel(const std::string& salt) {
  return kernel("mix(.param .u64 data, .param .u32 n, .param .u32 a)",
                "  ld.param.u64 %d1, [data];\n  ld.param.u32 %r2, [n];\n  ld.param.u32 %r6, [a];\n" +
                    std::string(kIndex) +
                    "  add.s64 %d3, %d1, %d2;\n  ld.global.u32 %r7, [%d3];\n"
                    "  mad.lo.u32 %r8, %r7, %r6, %r1;\n  ld.const.u32 %r9, [constant];\n"
                    "  add.u32 %r8, %r8, %r9;\n  add.u32 %r8, %r8, " +
                    salt + ";\n  st.global.u32 [%d3], %r8;\n");
}

std::string combine_kernel() {
  return kernel("combine(.param .u64 out, .param .u64 in, .param .u32 n, .param .u32 step)",
                "  ld.param.u64 %d1, [out];\n  ld.param.u64 %d5, [in];\n  ld.param.u32 %r2, [n];\n"
                "  ld.param.u32 %r6, [step];\n" +
                    std::string(kIndex) +
                    "  add.s64 %d3, %d1, %d2;\n  ld.global.u32 %r7, [%d3];\n  mul.lo.u32 %r8, %r1, %r6;\n"
                    "  rem.u32 %r8, %r8, %r2;\n  mul.wide.u32 %d4, %r8, 4;\n  add.s64 %d4, %d5, %d4;\n"
                    "  ld.global.u32 %r9, [%d4];\n  mul.lo.u32 %r7, %r7, 3;\n  xor.b32 %r7, %r7, %r9;\n"
                    "  st.global.u32 [%d3], %r7;\n");
}

std::string work_kernel(const std::string& salt) {
  return kernel("work(.param .u64 data, .param .u32 n, .param .u32 rounds)",
                "  ld.param.u64 %d1, [data];\n  ld.param.u32 %r2, [n];\n  ld.param.u32 %r6, [rounds];\n" +
                    std::string(kIndex) +
                    "  add.s64 %d3, %d1, %d2;\n  ld.global.u32 %r7, [%d3];\n  mov.u32 %r8, 0;\n"
                    "LOOP:\n  setp.ge.u32 %p2, %r8, %r6;\n  @%p2 bra STORE;\n"
                    "  mad.lo.u32 %r7, %r7, 1664525, " +
                    salt +
                    ";\n  shr.u32 %r9, %r7, 13;\n  xor.b32 %r7, %r7, %r9;\n  add.u32 %r8, %r8, 1;\n"
                    "  bra LOOP;\nSTORE:\n  st.global.u32 [%d3], %r7;\n");
}

std::string reduce_kernel() {
  return ".visible .entry reduce(.param .u64 out, .param .u64 in, .param .u32 n)" + std::string(kRegisters) +
         "  .shared .align 4 .b8 sums[256];\n"
         "  ld.param.u64 %d1, [out];\n  ld.param.u64 %d5, [in];\n  ld.param.u32 %r2, [n];\n"
         "  mov.u32 %r3, %ctaid.x;\n  mov.u32 %r4, %ntid.x;\n  mov.u32 %r5, %tid.x;\n"
         "  mad.lo.s32 %r1, %r3, %r4, %r5;\n  mov.u32 %r7, 0;\n  setp.ge.u32 %p1, %r1, %r2;\n"
         "  @%p1 bra LOADED;\n  mul.wide.u32 %d2, %r1, 4;\n  add.s64 %d3, %d5, %d2;\n"
         "  ld.global.u32 %r7, [%d3];\nLOADED:\n  mov.u64 %d6, sums;\n  mul.wide.u32 %d7, %r5, 4;\n"
         "  add.s64 %d7, %d6, %d7;\n  st.shared.u32 [%d7], %r7;\n  mov.u32 %r8, 32;\nHALVE:\n"
         "  bar.sync 0;\n  setp.eq.u32 %p2, %r8, 0;\n  @%p2 bra SUMMED;\n"
         "  setp.ge.u32 %p3, %r5, %r8;\n  @%p3 bra NEXT;\n  mul.wide.u32 %d8, %r8, 4;\n"
         "  add.s64 %d8, %d7, %d8;\n  ld.shared.u32 %r9, [%d8];\n  ld.shared.u32 %r10, [%d7];\n"
         "  add.u32 %r10, %r10, %r9;\n  st.shared.u32 [%d7], %r10;\nNEXT:\n  shr.u32 %r8, %r8, 1;\n"
         "  bra HALVE;\nSUMMED:\n  setp.ne.u32 %p3, %r5, 0;\n  @%p3 bra DONE;\n"
         "  ld.shared.u32 %r11, [%d7];\n  red.global.add.u32 [%d1], %r11;\n" +
         kEnd;
}

std::string bump_kernel() {
  return kernel("bump(.param .u32 amount)",
                "  ld.param.u32 %r1, [amount];\n  mov.u64 %d1, counter;\n"
                "  red.global.add.u32 [%d1], %r1;\n");
}

std::string remember_kernel() {
  return kernel("remember(.param .u64 address)",
                "  ld.param.u64 %d1, [address];\n  mov.u64 %d2, place;\n  st.global.u64 [%d2], %d1;\n");
}

std::string recall_kernel() {
  return kernel("recall(.param .u32 n, .param .u32 a)",
                "  mov.u64 %d5, place;\n  ld.global.u64 %d1, [%d5];\n  ld.param.u32 %r2, [n];\n"
                "  ld.param.u32 %r6, [a];\n" +
                    std::string(kIndex) +
                    "  add.s64 %d3, %d1, %d2;\n  ld.global.u32 %r7, [%d3];\n"
                    "  mad.lo.u32 %r7, %r7, %r6, 1;\n  st.global.u32 [%d3], %r7;\n");
}

std::string paint_kernel() {
  return kernel("paint(.param .u64 surface, .param .u32 r)",
                "  ld.param.u64 %d1, [surface];\n  ld.param.u32 %r1, [r];\n  mov.u32 %r2, %tid.x;\n"
                "  mov.u32 %r3, %ctaid.x;\n  shl.b32 %r4, %r2, 2;\n"
                "  suld.b.2d.b32.trap {%r5}, [%d1, {%r4, %r3}];\n  add.u32 %r6, %r2, %r3;\n"
                "  mad.lo.u32 %r5, %r6, %r1, %r5;\n  sust.b.2d.b32.trap [%d1, {%r4, %r3}], {%r5};\n");
}

std::string look_kernel() {
  return kernel("look(.param .u64 texture, .param .u64 out)",
                "  ld.param.u64 %d1, [texture];\n  ld.param.u64 %d2, [out];\n  mov.u32 %r1, %tid.x;\n"
                "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n"
                "  tex.2d.v4.u32.s32 {%r5, %r6, %r7, %r8}, [%d1, {%r1, %r2}];\n"
                "  mad.lo.u32 %r9, %r2, %r3, %r1;\n  mul.wide.u32 %d3, %r9, 4;\n"
                "  add.s64 %d3, %d2, %d3;\n  ld.global.u32 %r10, [%d3];\n  add.u32 %r10, %r10, %r5;\n"
                "  st.global.u32 [%d3], %r10;\n");
}

std::string say_kernel() {
  return ".visible .entry say(.param .u32 number)\n{\n  .local .align 8 .b8 depot[8];\n"
         "  .reg .b64 %SP;\n  .reg .b64 %SPL;\n  .reg .b32 %r<3>;\n  .reg .b64 %d<4>;\n"
         "  mov.u64 %SPL, depot;\n  cvta.local.u64 %SP, %SPL;\n  ld.param.u32 %r1, [number];\n"
         "  add.u64 %d1, %SP, 0;\n  add.u64 %d2, %SPL, 0;\n  st.local.u32 [%d2], %r1;\n"
         "  mov.u64 %d3, line;\n  cvta.global.u64 %d3, %d3;\n  {\n  .param .b64 param0;\n"
         "  st.param.b64 [param0+0], %d3;\n  .param .b64 param1;\n  st.param.b64 [param1+0], %d1;\n"
         "  .param .b32 retval0;\n  call.uni (retval0), vprintf, (param0, param1);\n"
         "  ld.param.b32 %r2, [retval0+0];\n  }\n  ret;\n}\n";
}

}  // namespace

std::string kernels(std::uint32_t salt) {
  const std::string number = std::to_string(salt & 0x7fffffffU);
  return kVariables + mix_kernel(number) + combine_kernel() + work_kernel(number) + reduce_kernel() +
         bump_kernel() + remember_kernel() + recall_kernel() + paint_kernel() + look_kernel() + say_kernel();
}

}  // namespace fairgv::moves::cuda
