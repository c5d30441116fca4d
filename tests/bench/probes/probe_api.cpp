// An OpenCL program for `fairgv bench api`: the cost of one call of each of the most used entry points for
// the calling thread. Prints one JSON object, nanoseconds by name. It knows nothing of FairGV.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/json_line.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using workloads::check;

constexpr const char* kSource =
    "__kernel void touch(__global int* out, int value, __local int* scratch) { out[get_global_id(0)] += "
    "value; }";
constexpr std::size_t kItems = 64;
constexpr std::size_t kBytes = 4096;
constexpr int kBatches = 21;

class Probe {
 public:
  Probe() {
    cl_int error = CL_SUCCESS;
    queue_ = workloads::Queue(clCreateCommandQueue(device_.context(), device_.id(), 0, &error));
    check(error, "clCreateCommandQueue");
    workloads::set_arguments(kernel_, out_, cl_int{0});
    check(clSetKernelArg(kernel_.get(), 2, kItems * sizeof(cl_int), nullptr), "clSetKernelArg");
    launch(nullptr);
    finish();
  }

  void run() {
    references();
    arguments();
    queries();
    objects();
    commands();
    synchronous();
  }
  void print() { line_.boolean("verified", true).print(); }

 private:
  /// Median over batches of `count` calls; `tidy` runs after each batch and is not measured.
  template <class Call, class Tidy>
  void measure(const char* name, int count, Call&& call, Tidy&& tidy) {
    std::array<double, kBatches> times{};
    call(), tidy();  // one-time fetches and allocations are no cost of a call
    for (double& time : times) {
      const auto start = Clock::now();
      for (int i = 0; i < count; ++i) call();
      time = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / count;
      tidy();
    }
    std::nth_element(times.begin(), times.begin() + kBatches / 2, times.end());
    line_.number(name, times[kBatches / 2], 1);
  }
  template <class Call>
  void measure(const char* name, int count, Call&& call) {
    measure(name, count, call, [] {});
  }

  void finish() { check(clFinish(queue_.get()), "clFinish"); }
  void launch(cl_event* event) {
    check(
        clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &kItems, &kItems, 0, nullptr, event),
        "clEnqueueNDRangeKernel");
  }
  workloads::Event ended_event() {
    cl_event event = nullptr;
    launch(&event);
    finish();
    return workloads::Event(event);
  }

  void references() {
    constexpr int kMany = 10'000;
    const workloads::Event event = ended_event();
    const auto pair = [&](const char* retain_name, const char* release_name, auto retain, auto release,
                          auto object) {
      long count = 0;  // references that are ours
      measure(retain_name, kMany, [&] { retain(object), ++count; });
      measure(release_name, kMany, [&] { release(object), --count; });
      while (count-- > 0) release(object);
    };
    pair("clRetainMemObject", "clReleaseMemObject", clRetainMemObject, clReleaseMemObject, out_.get());
    pair("clRetainEvent", "clReleaseEvent", clRetainEvent, clReleaseEvent, event.get());
    pair("clRetainKernel", "clReleaseKernel", clRetainKernel, clReleaseKernel, kernel_.get());
  }

  void arguments() {
    constexpr int kMany = 10'000;
    const std::array<cl_mem, 2> buffers{out_.get(), other_.get()};
    std::size_t turn = 0;
    cl_int number = 0;
    measure("clSetKernelArg, buffer", kMany, [&] {
      check(clSetKernelArg(kernel_.get(), 0, sizeof(cl_mem), &buffers[++turn % 2]), "clSetKernelArg");
    });
    measure("clSetKernelArg, value", kMany, [&] {
      ++number;
      check(clSetKernelArg(kernel_.get(), 1, sizeof(number), &number), "clSetKernelArg");
    });
    measure("clSetKernelArg, local", kMany, [&] {
      check(clSetKernelArg(kernel_.get(), 2, kItems * 4 * (1 + ++turn % 2), nullptr), "clSetKernelArg");
    });
  }

  void queries() {
    constexpr int kMany = 5'000;
    const workloads::Event event = ended_event();
    std::array<char, 4096> text{};
    cl_uint number = 0;
    cl_int status = 0;
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    std::size_t size = 0;
    measure("clGetPlatformIDs", kMany, [&] { clGetPlatformIDs(1, &platform, &number); });
    measure("clGetDeviceIDs", kMany,
            [&] { clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &number); });
    measure("clGetPlatformInfo, name", kMany,
            [&] { clGetPlatformInfo(platform, CL_PLATFORM_NAME, text.size(), text.data(), &size); });
    measure("clGetDeviceInfo, compute units", kMany,
            [&] { clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(number), &number, nullptr); });
    measure("clGetDeviceInfo, extensions", kMany,
            [&] { clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, text.size(), text.data(), &size); });
    measure("clGetContextInfo, devices", kMany, [&] {
      clGetContextInfo(device_.context(), CL_CONTEXT_DEVICES, sizeof(device), &device, nullptr);
    });
    measure("clGetMemObjectInfo, size", kMany,
            [&] { clGetMemObjectInfo(out_.get(), CL_MEM_SIZE, sizeof(size), &size, nullptr); });
    measure("clGetKernelInfo, arguments", kMany,
            [&] { clGetKernelInfo(kernel_.get(), CL_KERNEL_NUM_ARGS, sizeof(number), &number, nullptr); });
    measure("clGetKernelWorkGroupInfo, size", kMany, [&] {
      clGetKernelWorkGroupInfo(kernel_.get(), device_.id(), CL_KERNEL_WORK_GROUP_SIZE, sizeof(size), &size,
                               nullptr);
    });
    measure("clGetEventInfo, status", kMany, [&] {
      clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
    });
    measure("clWaitForEvents, ended", kMany, [&] {
      const cl_event raw = event.get();
      clWaitForEvents(1, &raw);
    });
  }

  void objects() {
    constexpr int kSome = 500;
    cl_int error = CL_SUCCESS;
    measure("clCreateBuffer + release", kSome, [&] {
      const workloads::Buffer made(
          clCreateBuffer(device_.context(), CL_MEM_READ_WRITE, kBytes, nullptr, &error));
      check(error, "clCreateBuffer");
    });
    measure("clCreateKernel + release", kSome, [&] {
      const workloads::Kernel made(clCreateKernel(program_.get(), "touch", &error));
      check(error, "clCreateKernel");
    });
    measure("clCreateUserEvent + end + release", kSome, [&] {
      const workloads::Event made(clCreateUserEvent(device_.context(), &error));
      check(error, "clCreateUserEvent");
      clSetUserEventStatus(made.get(), CL_COMPLETE);
    });
  }

  void commands() {
    constexpr int kSome = 200;
    const auto drain = [this] { finish(); };
    measure(
        "clEnqueueNDRangeKernel", kSome, [&] { launch(nullptr); }, drain);
    measure(
        "clEnqueueNDRangeKernel, event", kSome,
        [&] {
          cl_event event = nullptr;
          launch(&event);
          clReleaseEvent(event);
        },
        drain);
    measure(
        "clEnqueueCopyBuffer, 4 KiB", kSome,
        [&] {
          check(
              clEnqueueCopyBuffer(queue_.get(), out_.get(), other_.get(), 0, 0, kBytes, 0, nullptr, nullptr),
              "clEnqueueCopyBuffer");
        },
        drain);
    measure(
        "clEnqueueFillBuffer, 4 KiB", kSome,
        [&] {
          const cl_int zero = 0;
          check(clEnqueueFillBuffer(queue_.get(), out_.get(), &zero, sizeof(zero), 0, kBytes, 0, nullptr,
                                    nullptr),
                "clEnqueueFillBuffer");
        },
        drain);
    measure(
        "clEnqueueMarkerWithWaitList", kSome,
        [&] { check(clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, nullptr), "clEnqueueMarker"); },
        drain);
    measure("clFlush, idle", kSome, [&] { check(clFlush(queue_.get()), "clFlush"); });
    measure("clFinish, idle", kSome, [&] { finish(); });
  }

  void synchronous() {
    constexpr int kSome = 100;
    measure("launch + clFinish", kSome, [&] { launch(nullptr), finish(); });
    measure("clEnqueueWriteBuffer, 4 KiB, blocking", kSome, [&] {
      check(clEnqueueWriteBuffer(queue_.get(), out_.get(), CL_TRUE, 0, kBytes, host_.data(), 0, nullptr,
                                 nullptr),
            "clEnqueueWriteBuffer");
    });
    measure("clEnqueueReadBuffer, 4 KiB, blocking", kSome, [&] {
      check(clEnqueueReadBuffer(queue_.get(), out_.get(), CL_TRUE, 0, kBytes, host_.data(), 0, nullptr,
                                nullptr),
            "clEnqueueReadBuffer");
    });
    measure(
        "clEnqueueMapBuffer + unmap, 4 KiB", kSome,
        [&] {
          cl_int error = CL_SUCCESS;
          void* const mapped = clEnqueueMapBuffer(queue_.get(), out_.get(), CL_TRUE, CL_MAP_READ, 0, kBytes,
                                                  0, nullptr, nullptr, &error);
          check(error, "clEnqueueMapBuffer");
          check(clEnqueueUnmapMemObject(queue_.get(), out_.get(), mapped, 0, nullptr, nullptr),
                "clEnqueueUnmap");
        },
        [this] { finish(); });
  }

  workloads::Device device_{"0", "0"};
  workloads::Queue queue_;
  workloads::Program program_ = device_.build(kSource);
  workloads::Kernel kernel_ = device_.kernel(program_, "touch");
  workloads::Buffer out_ = device_.buffer<char>(kBytes);
  workloads::Buffer other_ = device_.buffer<char>(kBytes);
  std::vector<char> host_ = std::vector<char>(kBytes);
  workloads::JsonLine line_;
};

}  // namespace

int main() {
  try {
    Probe probe;
    probe.run();
    probe.print();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-api: %s\n", error.what());
    return 1;
  }
}
