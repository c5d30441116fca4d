// An OpenCL program with a kernel that is more than a kernel: on a CPU device it runs in the worker like any
// host code, and makes system calls. For containment/kinship_test.cpp, containment/output_test.cpp and
// `fairgv bench storm`.
//
// - opencl_breakout daemonize: leaves a process behind, forked twice, which tries to start a session of its
// own.
// - opencl_breakout abort: sends the worker the signal that abort() sends.
// - opencl_breakout print TEXT TIMES: writes the text so often to standard error, after attempts on the files
//   behind descriptors 0 to 2.
//
// The program prints a line, {"rounds": 1}, when its kernel has run, and then waits to be ended. It knows
// nothing of FairGV.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/hostile/kernel_calls.hpp"
#include "tests/workloads/support/device.hpp"

namespace {

constexpr const char* kDaemonize = R"(
enum { k_sigchld = 17 };
kernel void run(global const char* text, int length, global int* out) {
  const long child = call(k_clone, k_sigchld, 0, 0, 0, 0, 0);
  if (child == 0) {
    call(k_setsid, 0, 0, 0, 0, 0, 0);
    if (call(k_clone, k_sigchld, 0, 0, 0, 0, 0) != 0) call(k_exit, 0, 0, 0, 0, 0, 0);
    wait_for_ever();
  }
  out[0] = call(k_wait4, child, 0, 0, 0, 0, 0) == child;
}
)";

constexpr const char* kAbort = R"(
enum { k_sigabrt = 6 };
kernel void run(global const char* text, int length, global int* out) {
  out[0] = (int)call(k_kill, call(k_getpid, 0, 0, 0, 0, 0, 0), k_sigabrt, 0, 0, 0, 0);
}
)";

/// Calls that could harm a file behind descriptors 0 to 2, and then the text.
constexpr const char* kPrint = R"(
enum { k_setfl = 4, k_nonblock = 2048, k_append = 1024, k_tiocsti = 0x5412 };
kernel void run(global const char* text, int length, global int* out) {
  for (int fd = 0; fd < 3; ++fd) {
    call(k_ftruncate, fd, 0, 0, 0, 0, 0);
    call(k_lseek, fd, 0, 0, 0, 0, 0);
    call(k_fcntl, fd, k_setfl, k_nonblock, 0, 0, 0);
    call(k_ioctl, fd, k_tiocsti, (long)text, 0, 0, 0);
  }
  for (int done = 0; done < length;) {
    const long written = call(k_write, 2, (long)(text + done), length - done, 0, 0, 0);
    if (written > 0) done += written;
  }
  out[0] = 1;
}
)";

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const std::string once = argc > 2 ? argv[2] : "-";
  std::string text;
  for (int left = argc > 3 ? std::stoi(argv[3]) : 1; left > 0; --left) text += once;
  workloads::Device device("0", "0");
  const char* const body = what == "print" ? kPrint : what == "abort" ? kAbort : kDaemonize;
  const auto program = device.build(std::string(fairgv::hostile::kKernelCalls) + body);
  const auto kernel = device.kernel(program, "run");
  const auto input = device.upload(std::vector<char>(text.begin(), text.end()));
  const auto out = device.buffer<int>(1);
  cl_int error = CL_SUCCESS;
  const workloads::Queue queue(clCreateCommandQueue(device.context(), device.id(), 0, &error));
  workloads::check(error, "clCreateCommandQueue");
  workloads::set_arguments(kernel, input, static_cast<cl_int>(text.size()), out);
  constexpr std::size_t kOne = 1;
  workloads::check(
      clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &kOne, &kOne, 0, nullptr, nullptr),
      "clEnqueueNDRangeKernel");
  int done = 0;
  workloads::check(
      clEnqueueReadBuffer(queue.get(), out.get(), CL_TRUE, 0, sizeof(done), &done, 0, nullptr, nullptr),
      "clEnqueueReadBuffer");
  std::printf("{\"rounds\": %d}\n", done);
  std::fflush(stdout);
  for (;;) ::pause();
}
