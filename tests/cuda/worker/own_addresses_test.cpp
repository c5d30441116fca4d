// Addresses that only the driver of a module could give again.
#include "runtime/vgpu/cuda/move/own_addresses.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace fairgv::vgpu::cuda {
namespace {

std::string addresses_in(const std::string& items) {
  const std::string text = ".version 7.0\n.target sm_75\n.address_size 64\n" + items;
  return own_addresses(std::as_bytes(std::span(text)), 80).value_or("none");
}

TEST(OwnAddresses, KernelsAndFunctionsHaveNone) {
  EXPECT_EQ(
      addresses_in(".extern .shared .align 4 .b8 shared[];\n"
                   ".func helps() { ret; }\n"
                   ".visible .entry runs(.param .u64 p) { .shared .b32 own; .local .b32 stack; ret; }\n"),
      "none");
}

TEST(OwnAddresses, VariablesHave) {
  EXPECT_EQ(addresses_in(".global .align 4 .u32 counter;\n"),
            "it has variables (counter), which lie where the driver puts them");
  EXPECT_EQ(addresses_in(".visible .const .align 4 .u32 salt;\n"),
            "it has variables (salt), which lie where the driver puts them");
}

TEST(OwnAddresses, AllocationsOfKernelsHave) {
  EXPECT_EQ(addresses_in(".extern .func (.param .b64 r) malloc(.param .b64 size);\n"),
            "its kernels allocate memory");
}

TEST(OwnAddresses, FunctionsThatAreCalledByTheirAddressesHave) {
  EXPECT_EQ(addresses_in(
                ".visible .entry runs(.param .u64 p)\n{\n  .reg .b64 %d<2>;\n"
                "  ld.param.u64 %d1, [p];\n  proto: .callprototype _ ();\n  call %d1, proto;\n  ret;\n}\n"),
            "it calls functions by their addresses");
}

TEST(OwnAddresses, MachineCodeTellsNothing) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF and so on";
  EXPECT_EQ(own_addresses(std::as_bytes(std::span(kElf)), 80),
            "its program has machine code only and no PTX");
  EXPECT_EQ(addresses_in("this is no PTX"), "its PTX cannot be read");
}

}  // namespace
}  // namespace fairgv::vgpu::cuda
