// A program that builds a source with a mistake, and ends at once: the driver's message must not come too
// late.
#include <CL/cl.h>

int main() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 2;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 2;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const char* source = "kernel void wrong(global int* out) { out[0] = nothing_that_there_is; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
  return clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr) == CL_BUILD_PROGRAM_FAILURE ? 0 : 1;
}
