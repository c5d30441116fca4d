// Arguments that clSetKernelArg takes, and queries of arguments.
#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

constexpr const char* kArgumentSource = R"(
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
  const ProgramHandle program = build(kArgumentSource);
  const KernelHandle kernel = make_kernel(program, "by_value");
  const char bytes[64] = {};
  // Only the driver knows the size of the program's own types, and PoCL 3.1 accepts every size.
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
  const ProgramHandle program = build(kArgumentSource);
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
  const ProgramHandle silent = build(kArgumentSource, "");
  EXPECT_EQ(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, ask(make_kernel(silent, "by_value")));
  const ProgramHandle asked = build(kArgumentSource, "-cl-kernel-arg-info");
  EXPECT_EQ(CL_SUCCESS, ask(make_kernel(asked, "by_value")));
}

// PoCL 3.1 itself reads memory that it has freed.
class ReleasedArguments : public Arguments {
 protected:
  void SetUp() override {
    Arguments::SetUp();
    if (is_bare_pocl()) GTEST_SKIP() << "undefined on the driver itself";
  }
  template <class Object>
  static void set(cl_kernel kernel, cl_uint index, Object object) {
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, index, sizeof(object), &object));
  }
  cl_int launch(cl_kernel kernel) {
    const std::size_t one = 1;
    return clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
  }
};

TEST_F(ReleasedArguments, BeforeALaunchAreNone) {
  const KernelHandle add =
      make_kernel(build("kernel void add(global int* to, global int* what) { *to += *what; }"), "add");
  const Buffer to = make_buffer(Bytes(4, 0));
  const Buffer one = make_buffer(Bytes{1, 0, 0, 0});
  set(add, 0, to.get());
  set(add, 1, make_buffer(Bytes(4, 9)).get());
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(add));
  // By now another object lies in the same place.
  const Buffer other = make_buffer(Bytes(4, 7));
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(add));
  cl_ulong bytes = 0;
  EXPECT_EQ(CL_SUCCESS,
            clGetKernelWorkGroupInfo(add, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(bytes), &bytes, nullptr));
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(add));
  set(add, 1, one.get());
  EXPECT_EQ(CL_SUCCESS, launch(add));
  EXPECT_EQ((Bytes{1, 0, 0, 0}), read(to, 4));
}

TEST_F(ReleasedArguments, OfALaunchBeforeStayUnlessTheyChange) {
  const KernelHandle add =
      make_kernel(build("kernel void add(global int* to, global int* what) { *to += *what; }"), "add");
  const Buffer to = make_buffer(Bytes(4, 0));
  Buffer one = make_buffer(Bytes{1, 0, 0, 0});
  set(add, 0, to.get());
  set(add, 1, one.get());
  ASSERT_EQ(CL_SUCCESS, launch(add));
  one = Buffer();
  EXPECT_EQ(CL_SUCCESS, launch(add));
  EXPECT_EQ((Bytes{2, 0, 0, 0}), read(to, 4));
}

TEST_F(ReleasedArguments, OfEveryKindAreNone) {
  if (device_info<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) GTEST_SKIP() << "no images";
  const KernelHandle look =
      make_kernel(build("kernel void look(read_only image2d_t from, sampler_t how, global uint4* to) {"
                        "  *to = read_imageui(from, how, (int2)(0, 0)); }"),
                  "look");
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT32};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = shape.image_height = 1;
  cl_uint pixel[4] = {1, 2, 3, 4};
  const auto make_image = [&] {
    return Buffer(
        clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape, pixel, nullptr));
  };
  const auto make_sampler = [&] {
    return SamplerHandle(clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, nullptr));
  };
  const Buffer image = make_image();
  const SamplerHandle sampler = make_sampler();
  const Buffer to = make_buffer(Bytes(16, 0));
  set(look, 0, make_image().get());
  set(look, 1, sampler.get());
  set(look, 2, to.get());
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(look));
  set(look, 0, image.get());
  set(look, 1, make_sampler().get());
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(look));
  set(look, 1, sampler.get());
  EXPECT_EQ(CL_SUCCESS, launch(look));
  EXPECT_EQ((Bytes{1, 0, 0, 0}), read(to, 4));
}

}  // namespace
}  // namespace fairgv::test
