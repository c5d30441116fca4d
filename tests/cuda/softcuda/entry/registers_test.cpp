// The number of registers that a function says, which programs read and bound as they do on a GPU.
#include <string>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

/// A kernel that reads `count` values before it adds them up: all of them are needed at one time.
std::string adder(unsigned count, const std::string& type, const std::string& directives) {
  std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry adder(.param .u64 at)\n" +
      directives + "{\n.reg ." + type + " %v<" + std::to_string(count) +
      ">;\n.reg .b64 %at;\n"
      "ld.param.u64 %at, [at];\n";
  for (unsigned n = 0; n < count; ++n)
    text +=
        "ld.volatile.global." + type + " %v" + std::to_string(n) + ", [%at+" + std::to_string(8 * n) + "];\n";
  for (unsigned n = 1; n < count; ++n) text += "add." + type + " %v0, %v0, %v" + std::to_string(n) + ";\n";
  return text + "st.global." + type + " [%at], %v0;\nret;\n}\n";
}

class Registers : public WithContext {
 protected:
  static int registers_of(const std::string& ptx, unsigned option = 0) {
    CUjit_option names[] = {CU_JIT_MAX_REGISTERS};
    void* values[] = {reinterpret_cast<void*>(std::uintptr_t{option})};
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    int registers = 0;
    EXPECT_OK(cuModuleLoadDataEx(&module, ptx.c_str(), option != 0 ? 1 : 0, names, values));
    EXPECT_OK(cuModuleGetFunction(&function, module, "adder"));
    EXPECT_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    EXPECT_OK(cuModuleUnload(module));
    return registers;
  }
};

constexpr int kAddress = 2;  // of two registers

TEST_F(Registers, AreThoseThatHoldNeededValuesAtOneTime) {
  EXPECT_EQ(registers_of(adder(8, "u32", "")), 8 + kAddress);
  EXPECT_EQ(registers_of(adder(40, "u32", "")), 40 + kAddress);
  EXPECT_EQ(registers_of(adder(20, "f64", "")), 40 + kAddress);
}

TEST_F(Registers, AreNoMoreThanTheLargestBlockCanHave) {
  int of_block = 0;
  int threads = 0;
  ASSERT_OK(cuDeviceGetAttribute(&of_block, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device_));
  ASSERT_OK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device_));
  const int registers = registers_of(adder(100, "f64", ""));
  EXPECT_GT(registers, 40 + kAddress);
  EXPECT_LE(registers * threads, of_block);
}

TEST_F(Registers, AreBoundByTheKernelOrElseByTheProgram) {
  EXPECT_EQ(registers_of(adder(40, "u32", ".maxnreg 24\n")), 24);
  EXPECT_EQ(registers_of(adder(40, "u32", ""), 38), 38);
  EXPECT_EQ(registers_of(adder(8, "u32", ""), 38), 8 + kAddress);
  EXPECT_EQ(registers_of(adder(40, "u32", ".maxnreg 24\n"), 38), 24);
}

}  // namespace
