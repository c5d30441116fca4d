// Functions of extensions: their availability, and those that work on plain arguments.
#include <sstream>
#include <string>
#include <utility>

#include "tests/integration/opencl/fixture.hpp"

#include <CL/cl_ext.h>  // after the fixture, which selects the version of OpenCL

namespace fairgv::test {
namespace {

class Extensions : public OpenCL {
 protected:
  void* address(const char* name) const { return clGetExtensionFunctionAddressForPlatform(platform, name); }

  std::string all() const {
    std::size_t size = 0;
    EXPECT_EQ(CL_SUCCESS, clGetPlatformInfo(platform, CL_PLATFORM_EXTENSIONS, 0, nullptr, &size));
    std::string text(size, '\0');
    EXPECT_EQ(CL_SUCCESS, clGetPlatformInfo(platform, CL_PLATFORM_EXTENSIONS, size, text.data(), nullptr));
    return " " + std::string(text.c_str()) + " " + device_text(CL_DEVICE_EXTENSIONS) + " ";
  }
  bool has(const std::string& extension) const {
    return all().find(" " + extension + " ") != std::string::npos;
  }
};

TEST_F(Extensions, ThatAreListedHaveTheirFunctionsAtAFixedAddress) {
  const std::pair<const char*, const char*> functions[] = {
      {"cl_khr_icd", "clIcdGetPlatformIDsKHR"},
      {"cl_khr_command_buffer", "clEnqueueCommandBufferKHR"},
      {"cl_khr_il_program", "clCreateProgramWithILKHR"},
      {"cl_khr_create_command_queue", "clCreateCommandQueueWithPropertiesKHR"},
      {"cl_khr_suggested_local_work_size", "clGetKernelSuggestedLocalWorkSizeKHR"},
      {"cl_khr_semaphore", "clCreateSemaphoreWithPropertiesKHR"},
      {"cl_intel_unified_shared_memory", "clSharedMemAllocINTEL"},
      {"cl_pocl_content_size", "clSetContentSizeBufferPoCL"},
  };
  EXPECT_TRUE(has("cl_khr_icd")) << "the loader finds no platform without it; listed are:" << all();
  for (const auto& [extension, function] : functions) {
    if (!has(extension)) continue;
    void* const found = address(function);
    EXPECT_NE(nullptr, found) << extension;
    EXPECT_EQ(found, address(function)) << extension;
  }
}

TEST_F(Extensions, HaveNoOtherFunctions) {
  EXPECT_EQ(nullptr, address("clDoWhatIMeanKHR"));
  EXPECT_EQ(nullptr, address(""));
}

// ---- cl_pocl_content_size: copies end at the size that another buffer holds

using SetContentSizeBuffer = cl_int (*)(cl_mem buffer, cl_mem content_size_buffer);

class ContentSize : public Extensions {
 protected:
  void SetUp() override {
    Extensions::SetUp();
    if (!has("cl_pocl_content_size")) GTEST_SKIP() << "an extension of PoCL's";
    set_size_buffer = reinterpret_cast<SetContentSizeBuffer>(address("clSetContentSizeBufferPoCL"));
    ASSERT_NE(nullptr, set_size_buffer);
  }
  SetContentSizeBuffer set_size_buffer = nullptr;
};

TEST_F(ContentSize, LimitsCopies) {
  const Bytes contents = random_bytes(256);
  const Buffer from = make_buffer(contents);
  const Buffer to = make_buffer(Bytes(256, 0));
  const Buffer size = make_buffer(Bytes{100, 0, 0, 0, 0, 0, 0, 0});
  ASSERT_EQ(CL_SUCCESS, set_size_buffer(from, size));
  ASSERT_EQ(CL_SUCCESS, clEnqueueCopyBuffer(queue, from, to, 120, 120, 50, 0, nullptr, nullptr));
  EXPECT_EQ(Bytes(256, 0), read(to, 256));
  ASSERT_EQ(CL_SUCCESS, clEnqueueCopyBuffer(queue, from, to, 80, 80, 50, 0, nullptr, nullptr));
  Bytes expected(256, 0);
  std::copy(contents.begin() + 80, contents.begin() + 100, expected.begin() + 80);
  EXPECT_EQ(expected, read(to, 256));
}

TEST_F(ContentSize, HasTheDriversErrors) {
  const Buffer buffer = make_buffer(64);
  const Buffer small = make_buffer(4);
  const Buffer size = make_buffer(64);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_size_buffer(nullptr, size));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_size_buffer(buffer, nullptr));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, set_size_buffer(buffer, small));
  const cl_buffer_region region{0, 32};
  cl_int error = CL_SUCCESS;
  const Buffer part(
      clCreateSubBuffer(size, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set_size_buffer(buffer, part));
  const ContextHandle foreign(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  const Buffer elsewhere(clCreateBuffer(foreign, CL_MEM_READ_WRITE, 64, nullptr, &error));
  EXPECT_EQ(CL_INVALID_CONTEXT, set_size_buffer(buffer, elsewhere));
}

}  // namespace
}  // namespace fairgv::test
