// Platforms, devices, contexts, queues: their presence and their queries.
#include <cstring>
#include <set>
#include <sstream>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

class Platforms : public OpenCL {
 protected:
  std::string text(cl_platform_info param) const {
    std::size_t size = 0;
    EXPECT_EQ(CL_SUCCESS, clGetPlatformInfo(platform, param, 0, nullptr, &size));
    std::string value(size, '\0');
    EXPECT_EQ(CL_SUCCESS, clGetPlatformInfo(platform, param, size, value.data(), nullptr));
    EXPECT_EQ('\0', value.back()) << "a string answer counts its NUL";
    return value.c_str();
  }
};

std::set<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> found;
  for (std::string word; stream >> word;) found.insert(word);
  return found;
}

TEST_F(Platforms, SpeakTheIcdExtensionAndAVersion) {
  EXPECT_EQ(1U, words(text(CL_PLATFORM_EXTENSIONS)).count("cl_khr_icd"));
  EXPECT_EQ(0U, text(CL_PLATFORM_VERSION).find("OpenCL "));
  EXPECT_FALSE(text(CL_PLATFORM_NAME).empty());
  EXPECT_FALSE(text(CL_PLATFORM_VENDOR).empty());
  EXPECT_EQ("FULL_PROFILE", text(CL_PLATFORM_PROFILE));
}

TEST_F(Platforms, RefuseUnknownQueriesAndTooSmallMemory) {
  char small[2];
  EXPECT_EQ(CL_INVALID_VALUE, clGetPlatformInfo(platform, 0x1234, sizeof(small), small, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(small), small, nullptr));
}

TEST_F(Platforms, HaveDevicesThatNameThemAsTheirPlatform) {
  cl_uint count = 0;
  ASSERT_EQ(CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
  std::vector<cl_device_id> devices(count);
  ASSERT_EQ(CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr));
  for (cl_device_id each : devices)
    EXPECT_EQ(platform, device_info<cl_platform_id>(each, CL_DEVICE_PLATFORM));
}

TEST_F(Platforms, HaveADefaultDevice) {
  cl_device_id chosen = nullptr;
  EXPECT_EQ(CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &chosen, nullptr));
  EXPECT_NE(nullptr, chosen);
}

TEST_F(Platforms, DevicesListTheSameExtensionsInBothForms) {
  std::size_t size = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, nullptr, &size) != CL_SUCCESS) {
    GTEST_SKIP() << "an OpenCL 3.0 query";
  }
  std::vector<cl_name_version> versions(size / sizeof(cl_name_version));
  ASSERT_EQ(CL_SUCCESS,
            clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS_WITH_VERSION, size, versions.data(), nullptr));
  std::set<std::string> names;
  for (const cl_name_version& version : versions) names.insert(version.name);
  EXPECT_EQ(words(device_text(CL_DEVICE_EXTENSIONS)), names);
}

TEST_F(Platforms, DevicesWithoutACapabilityRefuseItsCalls) {
  cl_int error = CL_SUCCESS;
  if (device_info<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) {
    EXPECT_EQ(nullptr, clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error));
    EXPECT_EQ(CL_INVALID_OPERATION, error);
    const cl_image_format format{CL_RGBA, CL_UNORM_INT8};
    EXPECT_EQ(nullptr, clCreateImage2D(context, CL_MEM_READ_ONLY, &format, 4, 4, 0, nullptr, &error));
    EXPECT_EQ(CL_INVALID_OPERATION, error);
  }
  if (device_info<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES) == 0) {
    EXPECT_EQ(nullptr, clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0));
  }
  if ((device_info<cl_device_exec_capabilities>(device, CL_DEVICE_EXECUTION_CAPABILITIES) &
       CL_EXEC_NATIVE_KERNEL) == 0) {
    EXPECT_EQ(CL_INVALID_OPERATION,
              clEnqueueNativeKernel(
                  queue, [](void*) {}, nullptr, 0, 0, nullptr, nullptr, 0, nullptr, nullptr));
  }
}

TEST_F(Platforms, ContextsSayWhatTheyWereMadeOf) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int error = CL_SUCCESS;
  const ContextHandle made(clCreateContext(properties, 1, &device, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  cl_uint devices = 0;
  EXPECT_EQ(CL_SUCCESS, clGetContextInfo(made, CL_CONTEXT_NUM_DEVICES, sizeof(devices), &devices, nullptr));
  EXPECT_EQ(1U, devices);
  cl_device_id first = nullptr;
  EXPECT_EQ(CL_SUCCESS, clGetContextInfo(made, CL_CONTEXT_DEVICES, sizeof(first), &first, nullptr));
  EXPECT_EQ(device, first);
  cl_context_properties told[3] = {};
  std::size_t size = 0;
  EXPECT_EQ(CL_SUCCESS, clGetContextInfo(made, CL_CONTEXT_PROPERTIES, sizeof(told), told, &size));
  EXPECT_EQ(sizeof(properties), size);
  EXPECT_EQ(0, std::memcmp(properties, told, sizeof(told)));
}

TEST_F(Platforms, ContextsCanBeMadeFromADeviceType) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int error = CL_SUCCESS;
  const ContextHandle made(clCreateContextFromType(properties, CL_DEVICE_TYPE_ALL, nullptr, nullptr, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  EXPECT_NE(nullptr, made.get());
}

TEST_F(Platforms, QueuesSayWhatTheyWereMadeOf) {
  cl_context owner = nullptr;
  EXPECT_EQ(CL_SUCCESS, clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(owner), &owner, nullptr));
  EXPECT_EQ(context.get(), owner);
  cl_device_id target = nullptr;
  EXPECT_EQ(CL_SUCCESS, clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(target), &target, nullptr));
  EXPECT_EQ(device, target);
  cl_command_queue_properties properties = 0;
  EXPECT_EQ(CL_SUCCESS,
            clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties, nullptr));
  EXPECT_EQ(cl_command_queue_properties{CL_QUEUE_PROFILING_ENABLE}, properties);
}

TEST_F(Platforms, QueuesTakeAPropertyList) {
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
  cl_int error = CL_SUCCESS;
  const QueueHandle made(clCreateCommandQueueWithProperties(context, device, properties, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  cl_command_queue_properties told = 0;
  EXPECT_EQ(CL_SUCCESS, clGetCommandQueueInfo(made, CL_QUEUE_PROPERTIES, sizeof(told), &told, nullptr));
  EXPECT_EQ(cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}, told);
}

}  // namespace
}  // namespace fairgv::test
