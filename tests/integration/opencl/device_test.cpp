// Sub-devices, and the clocks of devices.
#include <array>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

using DeviceHandle = Handle<cl_device_id, clReleaseDevice>;

class SubDevices : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    if (device_info<cl_uint>(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES) < 2)
      GTEST_SKIP() << "one compute unit";
  }
  std::array<DeviceHandle, 2> split(cl_device_id whole) {
    const cl_device_partition_property each[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1,
                                                 CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_id parts[2] = {};
    cl_uint count = 0;
    EXPECT_EQ(CL_SUCCESS, clCreateSubDevices(whole, each, 2, parts, &count));
    EXPECT_EQ(2U, count);
    return {DeviceHandle(parts[0]), DeviceHandle(parts[1])};
  }
};

TEST_F(SubDevices, KnowTheDeviceThatTheyArePartOf) {
  const auto parts = split(device);
  for (const DeviceHandle& part : parts) {
    EXPECT_EQ(device, device_info<cl_device_id>(part, CL_DEVICE_PARENT_DEVICE));
    EXPECT_EQ(1U, device_info<cl_uint>(part, CL_DEVICE_MAX_COMPUTE_UNITS));
    cl_device_partition_property type[8] = {};
    std::size_t size = 0;
    ASSERT_EQ(CL_SUCCESS, clGetDeviceInfo(part, CL_DEVICE_PARTITION_TYPE, sizeof(type), type, &size));
    EXPECT_EQ(cl_device_partition_property{CL_DEVICE_PARTITION_BY_COUNTS}, type[0]);
  }
  EXPECT_EQ(nullptr, device_info<cl_device_id>(device, CL_DEVICE_PARENT_DEVICE));
}

TEST_F(SubDevices, AreCounted) {
  const auto parts = split(device);
  EXPECT_EQ(1U, device_info<cl_uint>(parts[0], CL_DEVICE_REFERENCE_COUNT));
  ASSERT_EQ(CL_SUCCESS, clRetainDevice(parts[0]));
  EXPECT_EQ(2U, device_info<cl_uint>(parts[0], CL_DEVICE_REFERENCE_COUNT));
  ASSERT_EQ(CL_SUCCESS, clReleaseDevice(parts[0]));
  EXPECT_EQ(1U, device_info<cl_uint>(parts[0], CL_DEVICE_REFERENCE_COUNT));
  // A root device has no such count.
  EXPECT_EQ(CL_SUCCESS, clReleaseDevice(device));
  EXPECT_EQ(CL_SUCCESS, clReleaseDevice(device));
  EXPECT_EQ(1U, device_info<cl_uint>(device, CL_DEVICE_REFERENCE_COUNT));
}

TEST_F(SubDevices, RefuseWhatCannotBeSplit) {
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  const cl_device_partition_property none[] = {CL_DEVICE_PARTITION_EQUALLY, 0, 0};
  const cl_device_partition_property unknown[] = {0x7777, 1, 0};
  const cl_device_partition_property too_many[] = {CL_DEVICE_PARTITION_BY_COUNTS, 100'000, 0, 0};
  cl_device_id parts[1] = {};
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_DEVICE, clCreateSubDevices(nullptr, equally, 0, nullptr, &count));
  EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, nullptr, 0, nullptr, &count));
  EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, none, 0, nullptr, &count));
  EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, unknown, 0, nullptr, &count));
  EXPECT_EQ(CL_INVALID_VALUE, clCreateSubDevices(device, equally, 1, parts, &count));
  EXPECT_EQ(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(device, too_many, 0, nullptr, &count));
  ASSERT_EQ(CL_SUCCESS, clCreateSubDevices(device, equally, 0, nullptr, &count));
  EXPECT_EQ(device_info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS), count);
}

TEST_F(SubDevices, RunKernels) {
  auto parts = split(device);
  const cl_device_id devices[] = {parts[0], parts[1]};
  cl_int error = CL_SUCCESS;
  ContextHandle both(clCreateContext(nullptr, 2, devices, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  std::swap(context, both);
  {
    const ProgramHandle program = build("kernel void mark(global int* out, int at) { out[at] = at + 1; }");
    const KernelHandle kernel = make_kernel(program, "mark");
    const Buffer buffer = make_buffer(2 * sizeof(std::int32_t));
    const cl_mem memory = buffer;
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(memory), &memory));
    for (std::int32_t i = 0; i < 2; ++i) {
      const QueueHandle on_part(clCreateCommandQueue(context, devices[i], 0, &error));
      ASSERT_EQ(CL_SUCCESS, error);
      cl_device_id of_queue = nullptr;
      ASSERT_EQ(CL_SUCCESS,
                clGetCommandQueueInfo(on_part, CL_QUEUE_DEVICE, sizeof(of_queue), &of_queue, nullptr));
      EXPECT_EQ(devices[i], of_queue);
      ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(i), &i));
      const std::size_t one = 1;
      ASSERT_EQ(CL_SUCCESS,
                clEnqueueNDRangeKernel(on_part, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
      ASSERT_EQ(CL_SUCCESS, clFinish(on_part));
      std::size_t group = 0;
      EXPECT_EQ(CL_SUCCESS, clGetKernelWorkGroupInfo(kernel, devices[i], CL_KERNEL_WORK_GROUP_SIZE,
                                                     sizeof(group), &group, nullptr));
    }
    const QueueHandle on_part(clCreateCommandQueue(context, devices[0], 0, &error));
    std::int32_t result[2] = {};
    ASSERT_EQ(CL_SUCCESS, clEnqueueReadBuffer(on_part, buffer, CL_TRUE, 0, 8, result, 0, nullptr, nullptr));
    EXPECT_EQ(1, result[0]);
    EXPECT_EQ(2, result[1]);
  }
  std::swap(context, both);
}

TEST_F(SubDevices, LiveAsLongAsAContextUsesThem) {
  auto parts = split(device);
  const cl_device_id part = parts[0];
  cl_int error = CL_SUCCESS;
  const ContextHandle on_part(clCreateContext(nullptr, 1, &part, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  if (is_bare_pocl()) return;  // its contexts hold the whole device instead
  EXPECT_EQ(CL_SUCCESS, clReleaseDevice(parts[0].give_up()));
  EXPECT_EQ(CL_SUCCESS, clReleaseDevice(parts[1].give_up()));
  for (int i = 0; i < 20; ++i) split(device);
  const QueueHandle made(clCreateCommandQueue(on_part, part, 0, &error));
  EXPECT_EQ(CL_SUCCESS, error);
}

TEST_F(OpenCL, ClocksOfDevicesAreReadIfThereAreAny) {
  cl_ulong resolution = 77;
  ASSERT_EQ(CL_SUCCESS, clGetPlatformInfo(platform, CL_PLATFORM_HOST_TIMER_RESOLUTION, sizeof(resolution),
                                          &resolution, nullptr));
  cl_ulong on_device = 0;
  cl_ulong on_host = 0;
  const cl_int expected = resolution == 0 ? CL_INVALID_OPERATION : CL_SUCCESS;
  EXPECT_EQ(expected, clGetDeviceAndHostTimer(device, &on_device, &on_host));
  EXPECT_EQ(expected, clGetHostTimer(device, &on_host));
  EXPECT_EQ(CL_INVALID_DEVICE, clGetHostTimer(nullptr, &on_host));
}

}  // namespace
}  // namespace fairgv::test
