// An OpenCL program that loads the ICD loader by itself, uses it, unloads it and goes on; three times over.
// For system/life_test.cpp.
#include <dlfcn.h>

#include <cstdio>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace {

bool works(void* library) {
  const auto platforms = reinterpret_cast<decltype(&clGetPlatformIDs)>(dlsym(library, "clGetPlatformIDs"));
  const auto devices = reinterpret_cast<decltype(&clGetDeviceIDs)>(dlsym(library, "clGetDeviceIDs"));
  const auto create = reinterpret_cast<decltype(&clCreateContext)>(dlsym(library, "clCreateContext"));
  const auto release = reinterpret_cast<decltype(&clReleaseContext)>(dlsym(library, "clReleaseContext"));
  if (platforms == nullptr || devices == nullptr || create == nullptr || release == nullptr) return false;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (platforms(1, &platform, nullptr) != CL_SUCCESS) return false;
  if (devices(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return false;
  cl_int error = CL_SUCCESS;
  const cl_context context = create(nullptr, 1, &device, nullptr, nullptr, &error);
  return error == CL_SUCCESS && release(context) == CL_SUCCESS;
}

}  // namespace

int main() {
  for (int i = 0; i < 3; ++i) {
    void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 2;
    const bool right = works(library);
    std::puts(right ? "right" : "wrong");
    std::fflush(stdout);
    if (dlclose(library) != 0 || !right) return 1;
  }
  return 0;
}
