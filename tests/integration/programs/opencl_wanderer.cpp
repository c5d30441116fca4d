// An OpenCL program whose results depend on everything that it has done before, for move_test.cpp. It knows
// nothing of FairGV. Each round changes a buffer by two kernels and a copy, and the same numbers on the host;
// now and then the two are compared, and a line says how many rounds there have been. It runs until there is
// a file of this name, or for a minute, and then prints "right". It has another buffer of so many MiB, too.
//
//   opencl_wanderer MIB FILE
#include <CL/cl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t kNumbers = 4096;
constexpr unsigned kRoundsBetweenLooks = 20;

constexpr const char* kWanderSource = R"(
__kernel void advance(__global uint* numbers, const uint increment) {
  const size_t i = get_global_id(0);
  numbers[i] = numbers[i] * 1664525u + increment + (uint)i;
}
__kernel void mingle(__global const uint* from, __global uint* to) {
  const size_t i = get_global_id(0);
  to[i] = from[i] ^ (to[i] >> 3);
}
)";

void check_wandering(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::printf("%s: error %d\n", what, error);
  std::exit(1);
}

struct Wanderer {
  explicit Wanderer(std::size_t ballast_bytes) {
    cl_int error = CL_SUCCESS;
    cl_platform_id platform = nullptr;
    check_wandering(clGetPlatformIDs(1, &platform, nullptr), "platforms");
    check_wandering(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "devices");
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    check_wandering(error, "context");
    queue = clCreateCommandQueueWithProperties(context, device, nullptr, &error);
    check_wandering(error, "queue");
    const cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    check_wandering(error, "program");
    check_wandering(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build");
    step = clCreateKernel(program, "advance", &error);
    check_wandering(error, "step");
    mix = clCreateKernel(program, "mingle", &error);
    check_wandering(error, "mix");
    for (cl_mem* const buffer : {&numbers, &mixed}) {
      *buffer =
          clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes(), host.data(), &error);
      check_wandering(error, "buffer");
    }
    ballast = clCreateBuffer(context, CL_MEM_READ_WRITE, ballast_bytes, nullptr, &error);
    check_wandering(error, "ballast");
    check_wandering(clSetKernelArg(step, 0, sizeof(numbers), &numbers), "argument");
    check_wandering(clSetKernelArg(mix, 0, sizeof(numbers), &numbers), "argument");
    check_wandering(clSetKernelArg(mix, 1, sizeof(mixed), &mixed), "argument");
  }

  static std::size_t bytes() { return kNumbers * sizeof(std::uint32_t); }

  void round(std::uint32_t increment) {
    check_wandering(clSetKernelArg(step, 1, sizeof(increment), &increment), "argument");
    const std::size_t all = kNumbers;
    for (const cl_kernel kernel : {step, mix}) {
      check_wandering(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &all, nullptr, 0, nullptr, nullptr),
                      "launch");
    }
    check_wandering(clFlush(queue), "flush");
    for (std::size_t i = 0; i < kNumbers; ++i) {
      host[i] = host[i] * 1664525U + increment + static_cast<std::uint32_t>(i);
      host_mixed[i] = host[i] ^ (host_mixed[i] >> 3);
    }
  }

  bool is_right() {
    std::vector<std::uint32_t> read(kNumbers), read_mixed(kNumbers);
    check_wandering(
        clEnqueueReadBuffer(queue, numbers, CL_FALSE, 0, bytes(), read.data(), 0, nullptr, nullptr), "read");
    check_wandering(
        clEnqueueReadBuffer(queue, mixed, CL_TRUE, 0, bytes(), read_mixed.data(), 0, nullptr, nullptr),
        "read");
    return read == host && read_mixed == host_mixed;
  }

  const char* source = kWanderSource;
  std::vector<std::uint32_t> host = std::vector<std::uint32_t>(kNumbers);
  std::vector<std::uint32_t> host_mixed = std::vector<std::uint32_t>(kNumbers);
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel step = nullptr, mix = nullptr;
  cl_mem numbers = nullptr, mixed = nullptr, ballast = nullptr;
};

}  // namespace

int main(int, char** argv) {
  Wanderer wanderer(std::strtoul(argv[1], nullptr, 10) << 20U);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::uint32_t rounds = 0;
  while (::access(argv[2], F_OK) != 0 && std::chrono::steady_clock::now() < until) {
    wanderer.round(++rounds);
    if (rounds % kRoundsBetweenLooks != 0) continue;
    if (!wanderer.is_right()) {
      std::printf("wrong after %u rounds\n", rounds);
      return 1;
    }
    std::printf("{\"rounds\": %u}\n", rounds);
    std::fflush(stdout);
  }
  std::puts(wanderer.is_right() ? "right" : "wrong");
  return 0;
}
