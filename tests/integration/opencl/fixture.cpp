#include "tests/integration/opencl/fixture.hpp"

#include <cstring>

namespace fairgv::test {

void OpenCL::SetUp() {
  const std::uint64_t seed = std::random_device{}();
  random.seed(seed);
  trace_.emplace(__FILE__, __LINE__, "seed " + std::to_string(seed));  // printed with every failure

  ASSERT_EQ(CL_SUCCESS, clGetPlatformIDs(1, &platform, nullptr));
  ASSERT_EQ(CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  cl_int error = CL_SUCCESS;
  context = ContextHandle(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
}

QueueHandle OpenCL::make_queue(cl_command_queue_properties properties) const {
  cl_int error = CL_SUCCESS;
  QueueHandle made(clCreateCommandQueue(context, device, properties, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  return made;
}

Buffer OpenCL::make_buffer(std::size_t bytes, cl_mem_flags flags, void* host) const {
  cl_int error = CL_SUCCESS;
  Buffer made(clCreateBuffer(context, flags, bytes, host, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  return made;
}

Buffer OpenCL::make_buffer(const Bytes& contents) const {
  Bytes copy = contents;
  return make_buffer(copy.size(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, copy.data());
}

EventHandle OpenCL::make_user_event() const {
  cl_int error = CL_SUCCESS;
  EventHandle made(clCreateUserEvent(context, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  return made;
}

ProgramHandle OpenCL::make_program(const std::string& source) const {
  const char* text = source.c_str();
  cl_int error = CL_SUCCESS;
  ProgramHandle made(clCreateProgramWithSource(context, 1, &text, nullptr, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  return made;
}

ProgramHandle OpenCL::build(const std::string& source, const std::string& options) const {
  ProgramHandle made = make_program(source);
  EXPECT_EQ(CL_SUCCESS, clBuildProgram(made, 0, nullptr, options.c_str(), nullptr, nullptr));
  return made;
}

KernelHandle OpenCL::make_kernel(cl_program program, const char* name) const {
  cl_int error = CL_SUCCESS;
  KernelHandle made(clCreateKernel(program, name, &error));
  EXPECT_EQ(CL_SUCCESS, error) << name;
  return made;
}

Bytes OpenCL::read(cl_mem buffer, std::size_t bytes) const {
  Bytes contents(bytes);
  EXPECT_EQ(CL_SUCCESS,
            clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, contents.data(), 0, nullptr, nullptr));
  return contents;
}

Bytes OpenCL::random_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

std::size_t OpenCL::pick(std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(0, most)(random);
}

std::string OpenCL::device_text(cl_device_info param) const {
  std::size_t size = 0;
  EXPECT_EQ(CL_SUCCESS, clGetDeviceInfo(device, param, 0, nullptr, &size));
  std::string text(size, '\0');
  EXPECT_EQ(CL_SUCCESS, clGetDeviceInfo(device, param, size, text.data(), nullptr));
  return text.c_str();
}

bool OpenCL::device_has(const char* extension) const {
  return (" " + device_text(CL_DEVICE_EXTENSIONS) + " ").find(std::string(" ") + extension + " ") !=
         std::string::npos;
}

bool OpenCL::is_bare_pocl() const {
  char name[64] = {};
  return clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, nullptr) == CL_SUCCESS &&
         std::strcmp(name, "Portable Computing Language") == 0;
}

std::int32_t status_of(cl_event event) {
  return event_info<cl_int>(event, CL_EVENT_COMMAND_EXECUTION_STATUS);
}

}  // namespace fairgv::test
