#include "tests/workloads/support/device.hpp"

#include <unistd.h>

#include <array>

#include "tests/workloads/support/target.hpp"

namespace workloads {
namespace {

/// Reads a text property through clGet*Info; the terminating zero is dropped.
template <typename Object, typename Query>
std::string text_info(Query query, Object object, cl_uint property, const char* call) {
  std::size_t bytes = 0;
  check(query(object, property, 0, nullptr, &bytes), call);
  std::string text(bytes, '\0');
  check(query(object, property, bytes, text.data(), nullptr), call);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::vector<cl_platform_id> all_platforms() {
  cl_uint count = 0;
  check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  return platforms;
}

std::vector<cl_device_id> all_devices(cl_platform_id platform) {
  cl_uint count = 0;
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count), "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "clGetDeviceIDs");
  return devices;
}

}  // namespace

Device::Device(const std::string& platform, const std::string& device) {
  const auto platforms = all_platforms();
  std::vector<std::string> names;
  names.reserve(platforms.size());
  for (const cl_platform_id candidate : platforms) {
    names.push_back(text_info(clGetPlatformInfo, candidate, CL_PLATFORM_NAME, "clGetPlatformInfo"));
  }
  const std::size_t platform_index = choose("--platform", platform, names);
  platform_ = platforms[platform_index];
  platform_name_ = names[platform_index];

  const auto devices = all_devices(platform_);
  names.clear();
  for (const cl_device_id candidate : devices) {
    names.push_back(text_info(clGetDeviceInfo, candidate, CL_DEVICE_NAME, "clGetDeviceInfo"));
  }
  const std::size_t device_index = choose("--device", device, names);
  device_ = devices[device_index];
  device_name_ = names[device_index];

  const std::array<cl_context_properties, 3> properties = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform_), 0};
  cl_int status = CL_SUCCESS;
  context_ = Context(clCreateContext(properties.data(), 1, &device_, nullptr, nullptr, &status));
  check(status, "clCreateContext");
}

Program Device::build(const std::string& source) {
  source_ = source;
  return compile(source);
}

Program Device::rebuild() {
  return compile(source_ + "\n// process " + std::to_string(::getpid()) + ", " + std::to_string(++rebuilt_) +
                 '\n');
}

Program Device::compile(const std::string& source) {
  cl_int status = CL_SUCCESS;
  const char* text = source.c_str();
  Program program(clCreateProgramWithSource(context(), 1, &text, nullptr, &status));
  check(status, "clCreateProgramWithSource");
  const auto start = std::chrono::steady_clock::now();
  status = clBuildProgram(program.get(), 1, &device_, "", nullptr, nullptr);
  build_time_ = std::chrono::steady_clock::now() - start;
  if (status == CL_SUCCESS) return program;

  std::size_t bytes = 0;
  std::string log;
  if (clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) == CL_SUCCESS) {
    log.resize(bytes);
    if (clGetProgramBuildInfo(program.get(), device_, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr) !=
        CL_SUCCESS) {
      log.clear();
    }
  }
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  throw ClError("clBuildProgram", status, log);
}

Kernel Device::kernel(const Program& program, const char* name) const {
  cl_int status = CL_SUCCESS;
  Kernel kernel(clCreateKernel(program.get(), name, &status));
  check(status, "clCreateKernel");
  return kernel;
}

Buffer Device::allocate(cl_mem_flags flags, std::size_t bytes, void* content) const {
  cl_int status = CL_SUCCESS;
  Buffer buffer(clCreateBuffer(context(), flags, bytes, content, &status));
  check(status, "clCreateBuffer");
  return buffer;
}

}  // namespace workloads
