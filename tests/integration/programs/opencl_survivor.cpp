// An OpenCL program that goes on when a command of its own ends because its device is not available: for
// device_failure_test.cpp. It knows nothing of FairGV. Each round is one launch, which the program waits for;
// one that has failed has changed nothing, and is made again. Now and then the results are compared with the
// host's, and a line says how many rounds there have been. It runs until there is a file of this name, or for
// a minute, and then prints "right" or "wrong", and how many launches were lost.
//
//   opencl_survivor FILE
#include <CL/cl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kSurvivingNumbers = 4096;
constexpr unsigned kRoundsBetweenReports = 20;

constexpr const char* kSurvivorSource = R"(
__kernel void go_on(__global uint* numbers, const uint increment) {
  const size_t i = get_global_id(0);
  numbers[i] = numbers[i] * 1664525u + increment + (uint)i;
}
)";

void check_survival(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  std::printf("%s: error %d\n", what, error);
  std::exit(1);
}

struct Survivor {
  Survivor() {
    cl_int error = CL_SUCCESS;
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    check_survival(clGetPlatformIDs(1, &platform, nullptr), "platforms");
    check_survival(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "devices");
    const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    check_survival(error, "context");
    queue = clCreateCommandQueueWithProperties(context, device, nullptr, &error);
    check_survival(error, "queue");
    const char* source = kSurvivorSource;
    const cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    check_survival(error, "program");
    check_survival(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build");
    kernel = clCreateKernel(program, "go_on", &error);
    check_survival(error, "kernel");
    numbers = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes(), host.data(), &error);
    check_survival(error, "buffer");
    check_survival(clSetKernelArg(kernel, 0, sizeof(numbers), &numbers), "argument");
  }

  static std::size_t bytes() { return kSurvivingNumbers * sizeof(std::uint32_t); }

  /// The launch's status.
  cl_int launch() {
    const std::size_t all = kSurvivingNumbers;
    cl_event end = nullptr;
    const cl_int error = clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &all, nullptr, 0, nullptr, &end);
    if (error != CL_SUCCESS) return error;
    clWaitForEvents(1, &end);
    cl_int status = CL_COMPLETE;
    check_survival(clGetEventInfo(end, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr),
                   "status");
    clReleaseEvent(end);
    return status;
  }

  void round(std::uint32_t increment) {
    check_survival(clSetKernelArg(kernel, 1, sizeof(increment), &increment), "argument");
    for (cl_int status = launch(); status != CL_COMPLETE; status = launch()) {
      if (status != CL_DEVICE_NOT_AVAILABLE) check_survival(status, "launch");
      if (++lost > kMostLost) check_survival(status, "launches");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (std::size_t i = 0; i < kSurvivingNumbers; ++i)
      host[i] = host[i] * 1664525U + increment + static_cast<std::uint32_t>(i);
  }

  bool is_right() const {
    std::vector<std::uint32_t> read(kSurvivingNumbers);
    check_survival(clEnqueueReadBuffer(queue, numbers, CL_TRUE, 0, bytes(), read.data(), 0, nullptr, nullptr),
                   "read");
    return read == host;
  }

  /// A device that is lost for good is the program's end.
  static constexpr unsigned kMostLost = 300;

  std::vector<std::uint32_t> host = std::vector<std::uint32_t>(kSurvivingNumbers);
  unsigned lost = 0;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem numbers = nullptr;
};

}  // namespace

int main(int, char** argv) {
  Survivor survivor;
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::uint32_t rounds = 0;
  while (::access(argv[1], F_OK) != 0 && std::chrono::steady_clock::now() < until) {
    survivor.round(++rounds);
    if (rounds % kRoundsBetweenReports != 0) continue;
    if (!survivor.is_right()) {
      std::printf("wrong after %u rounds\n", rounds);
      return 1;
    }
    std::printf("{\"rounds\": %u, \"lost\": %u}\n", rounds, survivor.lost);
    std::fflush(stdout);
  }
  std::printf("%s, lost %u\n", survivor.is_right() ? "right" : "wrong", survivor.lost);
  return 0;
}
