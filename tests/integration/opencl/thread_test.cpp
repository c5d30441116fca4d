// Several threads at once, and the child of a fork.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

using Threads = OpenCL;

TEST_F(Threads, ShareAQueue) {
  constexpr int kThreads = 4;
  std::vector<Buffer> buffers;
  for (int t = 0; t < kThreads; ++t) buffers.push_back(make_buffer(Bytes(4096, 0)));
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const cl_mem buffer = buffers[static_cast<std::size_t>(t)];
      for (int i = 1; i <= 100; ++i) {
        const auto value = static_cast<std::uint8_t>(i + t);
        if (clEnqueueFillBuffer(queue, buffer, &value, 1, 0, 4096, 0, nullptr, nullptr) != CL_SUCCESS)
          ++failures;
        if (i % 10 != 0) continue;
        Bytes back(4096);
        if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4096, back.data(), 0, nullptr, nullptr) !=
                CL_SUCCESS ||
            back != Bytes(4096, value)) {
          ++failures;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, failures.load());
}

TEST_F(Threads, HaveTheirOwnObjects) {
  const ProgramHandle program =
      build("kernel void add(global int* out, int value) { out[get_global_id(0)] += value; }");
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const QueueHandle own = make_queue();
      const KernelHandle kernel = make_kernel(program, "add");
      const Buffer buffer = make_buffer(Bytes(256, 0));
      const cl_mem raw = buffer;
      const std::size_t global = 64;
      cl_int sum = 0;
      for (cl_int i = 0; i < 200; ++i) {
        const cl_int value = i * t;
        sum += value;
        if (clSetKernelArg(kernel, 0, sizeof(raw), &raw) != CL_SUCCESS ||
            clSetKernelArg(kernel, 1, sizeof(value), &value) != CL_SUCCESS ||
            clEnqueueNDRangeKernel(own, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr) !=
                CL_SUCCESS) {
          ++failures;
        }
      }
      std::vector<cl_int> result(64);
      if (clEnqueueReadBuffer(own, buffer, CL_TRUE, 0, 256, result.data(), 0, nullptr, nullptr) !=
              CL_SUCCESS ||
          result != std::vector<cl_int>(64, sum)) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, failures.load());
}

TEST_F(Threads, CreateAndReleaseAtTheSameTime) {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const Buffer buffer = make_buffer(1024);
        const EventHandle gate = make_user_event();
        EventHandle event;
        const std::uint8_t value = 1;
        if (clEnqueueFillBuffer(queue, buffer, &value, 1, 0, 1024, 0, nullptr, event.out()) != CL_SUCCESS)
          ++failures;
        if (clSetUserEventStatus(gate, CL_COMPLETE) != CL_SUCCESS) ++failures;
        if (i % 20 == 0 && clWaitForEvents(1, event.address()) != CL_SUCCESS) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(0, failures.load());
}

/// The OpenCL calls of a child. Returns 0, or the number of the step that failed.
int use_opencl_afresh(cl_platform_id platform, cl_context of_the_parent) {
  if (clRetainContext(of_the_parent) != CL_INVALID_CONTEXT) return 1;
  cl_device_id device = nullptr;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 2;
  const ContextHandle context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
  if (context.get() == nullptr) return 3;
  const QueueHandle queue(clCreateCommandQueue(context, device, 0, nullptr));
  const Buffer buffer(clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, nullptr));
  const std::uint8_t value = 6;
  if (clEnqueueFillBuffer(queue, buffer, &value, 1, 0, 64, 0, nullptr, nullptr) != CL_SUCCESS) return 4;
  Bytes back(64);
  if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64, back.data(), 0, nullptr, nullptr) != CL_SUCCESS)
    return 5;
  return back == Bytes(64, 6) ? 0 : 6;
}

TEST_F(Threads, OfTheChildOfAForkStartAfresh) {
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL's own threads do not exist in the child";
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no new threads in the child of a program with threads";
#endif
  const pid_t child = ::fork();
  ASSERT_NE(-1, child);
  if (child == 0) ::_exit(use_opencl_afresh(platform, context));
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status)) << "the step that failed";
  EXPECT_EQ(Bytes(10, 1), read(make_buffer(Bytes(10, 1)), 10)) << "the parent goes on";
}

TEST_F(Threads, GoOnInTheParentAfterAFork) {
  const Bytes data = random_bytes(3000);
  const Buffer buffer = make_buffer(data);
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  const pid_t child = ::fork();
  ASSERT_NE(-1, child);
  if (child == 0) ::_exit(0);
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(data, read(buffer, data.size()));
}

}  // namespace
}  // namespace fairgv::test
