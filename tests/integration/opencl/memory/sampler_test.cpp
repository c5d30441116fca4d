// Samplers: made, asked, given to kernels.
#include <cstring>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

class Samplers : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    if (device_info<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) GTEST_SKIP() << "no images";
  }

  SamplerHandle make_sampler(cl_bool normalized, cl_addressing_mode addressing) {
    cl_int error = CL_SUCCESS;
    SamplerHandle made(clCreateSampler(context, normalized, addressing, CL_FILTER_NEAREST, &error));
    EXPECT_EQ(CL_SUCCESS, error);
    return made;
  }
};

TEST_F(Samplers, AnswerQueriesAboutTheirProperties) {
  const SamplerHandle sampler = make_sampler(CL_TRUE, CL_ADDRESS_REPEAT);
  EXPECT_EQ(cl_bool{CL_TRUE}, sampler_info<cl_bool>(sampler, CL_SAMPLER_NORMALIZED_COORDS));
  EXPECT_EQ(cl_addressing_mode{CL_ADDRESS_REPEAT},
            sampler_info<cl_addressing_mode>(sampler, CL_SAMPLER_ADDRESSING_MODE));
  EXPECT_EQ(cl_filter_mode{CL_FILTER_NEAREST}, sampler_info<cl_filter_mode>(sampler, CL_SAMPLER_FILTER_MODE));
  EXPECT_EQ(context.get(), sampler_info<cl_context>(sampler, CL_SAMPLER_CONTEXT));
  EXPECT_EQ(1U, sampler_info<cl_uint>(sampler, CL_SAMPLER_REFERENCE_COUNT));
  EXPECT_EQ(CL_SUCCESS, clRetainSampler(sampler));
  EXPECT_EQ(2U, sampler_info<cl_uint>(sampler, CL_SAMPLER_REFERENCE_COUNT));
  EXPECT_EQ(CL_SUCCESS, clReleaseSampler(sampler));
  EXPECT_EQ(CL_INVALID_VALUE, clGetSamplerInfo(sampler, 0x1234, 0, nullptr, nullptr));
}

TEST_F(Samplers, TakeAPropertyList) {
  const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                              CL_FALSE,
                                              CL_SAMPLER_ADDRESSING_MODE,
                                              CL_ADDRESS_CLAMP_TO_EDGE,
                                              CL_SAMPLER_FILTER_MODE,
                                              CL_FILTER_LINEAR,
                                              0};
  cl_int error = CL_SUCCESS;
  const SamplerHandle sampler(clCreateSamplerWithProperties(context, properties, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(cl_filter_mode{CL_FILTER_LINEAR}, sampler_info<cl_filter_mode>(sampler, CL_SAMPLER_FILTER_MODE));
  cl_sampler_properties told[7] = {};
  std::size_t size = 0;
  EXPECT_EQ(CL_SUCCESS, clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, sizeof(told), told, &size));
  EXPECT_EQ(sizeof(properties), size);
  EXPECT_EQ(0, std::memcmp(properties, told, sizeof(told)));
  const cl_sampler_properties twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE,
                                         CL_FILTER_LINEAR, 0};
  EXPECT_EQ(nullptr, clCreateSamplerWithProperties(context, twice, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
}

TEST_F(Samplers, RefuseModesThatDoNotGoTogether) {
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateSampler(context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
  EXPECT_EQ(nullptr, clCreateSampler(context, 7, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
}

TEST_F(Samplers, AreGivenToKernels) {
  const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT32};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = 4;
  description.image_height = 1;
  cl_uint row[16] = {};
  for (cl_uint i = 0; i < 16; ++i) row[i] = 100 + i;
  const Buffer image(
      clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &description, row, nullptr));
  const KernelHandle look = make_kernel(
      build("kernel void look(read_only image2d_t from, sampler_t how, global uint4* to) {"
            "  const int i = get_global_id(0); to[i] = read_imageui(from, how, (int2)(i - 2, 0)); }"),
      "look");
  const Buffer result = make_buffer(8 * sizeof(cl_uint4));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(look, 0, sizeof(cl_mem), &image));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(look, 2, sizeof(cl_mem), &result));
  EXPECT_EQ(CL_INVALID_ARG_SIZE, clSetKernelArg(look, 1, 3, &image));
  const SamplerHandle edge = make_sampler(CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE);
  const SamplerHandle border = make_sampler(CL_FALSE, CL_ADDRESS_CLAMP);
  const auto first_red = [&](const SamplerHandle& sampler) {
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(look, 1, sizeof(cl_sampler), &sampler));
    const std::size_t items = 8;
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(queue, look, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
    const Bytes bytes = read(result, 8 * sizeof(cl_uint4));
    cl_uint red = 0;
    std::memcpy(&red, bytes.data(), sizeof(red));
    return red;
  };
  EXPECT_EQ(100U, first_red(edge));
  EXPECT_EQ(0U, first_red(border));
}

}  // namespace
}  // namespace fairgv::test
