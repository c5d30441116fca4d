// Which calls of nvcc make machine code, and how they are to be instead.
#include "cuda-shim/jit/nvcc.hpp"

#include <gtest/gtest.h>

namespace fairgv::jit {
namespace {

using Words = std::vector<std::string>;

TEST(NvccCall, MakesPtxUnderTheNameThatMachineCodeWouldHave) {
  const auto call =
      ptx_call({"nvcc", "--cubin", "-arch", "sm_75", "-I/usr/include/python3", "folder/kernel.cu"});
  ASSERT_TRUE(call);
  EXPECT_EQ(call->arguments, (Words{"nvcc", "--ptx", "-arch", "sm_75", "-I/usr/include/python3",
                                    "folder/kernel.cu", "-o", "kernel.cubin"}));
  EXPECT_EQ(call->output, "kernel.cubin");
}

TEST(NvccCall, KeepsTheOutputThatIsNamed) {
  for (const Words& output : {Words{"-o", "a.cubin"}, Words{"-o=a.cubin"}, Words{"--output-file", "a.cubin"},
                              Words{"--output-file=a.cubin"}}) {
    Words arguments{"nvcc", "-cubin", "k.cu"};
    arguments.insert(arguments.end(), output.begin(), output.end());
    const auto call = ptx_call(arguments);
    ASSERT_TRUE(call);
    arguments[1] = "--ptx";
    EXPECT_EQ(call->arguments, arguments);
    EXPECT_EQ(call->output, "a.cubin");
  }
}

TEST(NvccCall, StaysAsItIsWhereItMakesNoMachineCodeOfOneFile) {
  EXPECT_FALSE(ptx_call({"nvcc", "-arch=sm_75", "-o", "program", "k.cu"}));
  EXPECT_FALSE(ptx_call({"nvcc", "--version"}));
  EXPECT_FALSE(ptx_call({"nvcc", "-cubin", "a.cu", "b.cu"}));
  EXPECT_FALSE(ptx_call({"nvcc", "-cubin", "a.ptx"}));
  EXPECT_FALSE(ptx_call({"-cubin"}));
  EXPECT_FALSE(ptx_call({}));
}

}  // namespace
}  // namespace fairgv::jit
