// What clSetKernelArg takes, and what is known of arguments.
#include "tests/integration/opencl_fixture.hpp"

namespace fairgv::test {
namespace {

constexpr const char* kSource = R"(
  typedef struct { int first; float second[5]; } Settings;
  kernel void by_value(global int* out, const Settings settings, const int number, const float3 triple) {
    out[0] = settings.first + (int)settings.second[4] + number + (int)triple.z;
  }
  kernel void with_local(global int* out, local int* scratch) {
    local int fixed[4];
    fixed[get_local_id(0) & 3] = 1;
    scratch[get_local_id(0)] = fixed[0];
    out[0] = scratch[0];
  }
)";

struct Settings {
  std::int32_t first = 1;
  float second[5] = {0, 0, 0, 0, 20};
};

class Arguments : public OpenCL {};

TEST_F(Arguments, HaveTheSizeOfTheirType) {
  const ProgramHandle program = build(kSource);
  const KernelHandle kernel = make_kernel(program, "by_value");
  const char bytes[64] = {};
  // Of the program's own types only the driver knows the size, and PoCL 3.1 lets every size pass.
  EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 2, 8, bytes));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 3, 8, bytes));

  const Buffer buffer = make_buffer(sizeof(std::int32_t));
  const cl_mem memory = buffer;
  const Settings settings;
  const std::int32_t number = 300;
  const float triple[4] = {1, 2, 4000, 4};
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(memory), &memory));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(settings), &settings));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 2, sizeof(number), &number));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 3, sizeof(triple), triple));
  const std::size_t one = 1;
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
  std::int32_t result = 0;
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(result), &result, 0, nullptr, nullptr));
  EXPECT_EQ(4321, result);
}

TEST_F(Arguments, InLocalMemoryCountAsSoonAsTheyAreSet) {
  const ProgramHandle program = build(kSource);
  const KernelHandle kernel = make_kernel(program, "with_local");
  const auto local_bytes = [&] {
    cl_ulong bytes = 0;
    EXPECT_EQ(CL_SUCCESS, clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(bytes),
                                                   &bytes, nullptr));
    return bytes;
  };
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, 64, nullptr));
  const cl_ulong before = local_bytes();
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, 128, nullptr));
  EXPECT_EQ(before + 64, local_bytes());
}

TEST_F(Arguments, AreDescribedToWhomAskedForIt) {
  cl_kernel_arg_address_qualifier qualifier = 0;
  const auto ask = [&](cl_kernel kernel) {
    return clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(qualifier), &qualifier,
                              nullptr);
  };
  const ProgramHandle silent = build(kSource, "");
  EXPECT_EQ(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ask(make_kernel(silent, "by_value")));
  const ProgramHandle asked = build(kSource, "-cl-kernel-arg-info");
  EXPECT_EQ(CL_SUCCESS, ask(make_kernel(asked, "by_value")));
}

}  // namespace
}  // namespace fairgv::test
