// Code as the libraries of programs have it: thousands of kernels in a module, of which a program needs a
// few, and launches that wait for the one before in the kernel (programmatic dependent launches).
#include <string>

#include "fixture.hpp"

namespace {

/// Kernel number N writes N + *in to out.
std::string many_kernels(int count) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (int number = 0; number < count; ++number) {
    text +=
        ".visible .entry kernel_" + std::to_string(number) +
        "(.param .u64 out, .param .u64 in)\n{\n.reg .b64 %d;\n.reg .b32 %v;\n"
        "griddepcontrol.wait;\nld.param.u64 %d, [in];\nld.global.u32 %v, [%d];\nadd.u32 %v, %v, " +
        std::to_string(number) +
        ";\nld.param.u64 %d, [out];\nst.global.u32 [%d], %v;\ngriddepcontrol.launch_dependents;\nret;\n}\n";
  }
  return text;
}

}  // namespace

TEST_F(WithContext, AModuleMayHaveThousandsOfKernels) {
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, many_kernels(2000).c_str()));
  const CUdeviceptr memory = allocate(3 * sizeof(int));
  upload<int>(memory, {5, 0, 0});
  CUdeviceptr in = memory;
  for (const int number : {1999, 300}) {
    CUfunction kernel = nullptr;
    ASSERT_OK(cuModuleGetFunction(&kernel, module, ("kernel_" + std::to_string(number)).c_str()));
    CUdeviceptr out = in + sizeof(int);
    void* arguments[] = {&out, &in};
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    ASSERT_OK(cuLaunchKernelEx(&config, kernel, arguments, nullptr));
    in = out;
  }
  const auto values = download<int>(memory, 3);
  EXPECT_EQ(5 + 1999, values[1]);
  EXPECT_EQ(5 + 1999 + 300, values[2]);
  CUfunction none = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, module, "kernel_2000"));
  EXPECT_OK(cuModuleUnload(module));
}
