// An OpenCL program with a kernel that is more than a kernel: on a CPU device it runs in the worker as any
// code of the host's, and makes system calls. For system_kinship_test.cpp and system_output_test.cpp.
//
// - opencl_breakout daemonize: leaves a process behind, forked twice, with a try at a session of its own.
// - opencl_breakout abort: sends the worker what abort() sends.
// - opencl_breakout print TEXT TIMES: writes the text so often to standard error, after attempts on the files
//   behind descriptors 0 to 2.
//
// It prints a line, {"rounds": 1}, when its kernel has run, and then waits to be ended. It knows nothing of
// FairGV.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/workloads/support/device.hpp"

namespace {

/// System calls in OpenCL C. The numbers are the machine's (asm/unistd.h).
constexpr const char* kCalls = R"(
#if defined(__x86_64__)
enum { k_write = 1, k_lseek = 8, k_ioctl = 16, k_pause = 34, k_getpid = 39, k_clone = 56, k_exit = 60, k_wait4 = 61, k_kill = 62,
       k_fcntl = 72, k_ftruncate = 77, k_setsid = 112 };
long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("xorl %%r10d, %%r10d\n\txorl %%r8d, %%r8d\n\tsyscall"
                   : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r8", "r10", "r11", "memory");
  return result;
}
void wait_for_ever() { for (;;) call(k_pause, 0, 0, 0); }
#elif defined(__aarch64__)
enum { k_fcntl = 25, k_ioctl = 29, k_ftruncate = 46, k_lseek = 62, k_write = 64, k_ppoll = 73, k_exit = 93,
       k_kill = 129, k_setsid = 157, k_getpid = 172, k_clone = 220, k_wait4 = 260 };
long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("mov x8, %1\n\tmov x0, %2\n\tmov x1, %3\n\tmov x2, %4\n\tmov x3, xzr\n\tmov x4, xzr\n\t"
                   "svc 0\n\tmov %0, x0"
                   : "=r"(result) : "r"(number), "r"(a), "r"(b), "r"(c)
                   : "x0", "x1", "x2", "x3", "x4", "x8", "memory");
  return result;
}
void wait_for_ever() { for (;;) call(k_ppoll, 0, 0, 0); }
#endif
)";

constexpr const char* kDaemonize = R"(
enum { k_sigchld = 17 };
kernel void run(global const char* text, int length, global int* out) {
  const long child = call(k_clone, k_sigchld, 0, 0);
  if (child == 0) {
    call(k_setsid, 0, 0, 0);
    if (call(k_clone, k_sigchld, 0, 0) != 0) call(k_exit, 0, 0, 0);
    wait_for_ever();
  }
  out[0] = call(k_wait4, child, 0, 0) == child;
}
)";

constexpr const char* kAbort = R"(
enum { k_sigabrt = 6 };
kernel void run(global const char* text, int length, global int* out) {
  out[0] = (int)call(k_kill, call(k_getpid, 0, 0, 0), k_sigabrt, 0);
}
)";

/// What a file behind descriptors 0 to 2 could be harmed by, and then the text.
constexpr const char* kPrint = R"(
enum { k_setfl = 4, k_nonblock = 2048, k_append = 1024, k_tiocsti = 0x5412 };
kernel void run(global const char* text, int length, global int* out) {
  for (int fd = 0; fd < 3; ++fd) {
    call(k_ftruncate, fd, 0, 0);
    call(k_lseek, fd, 0, 0);
    call(k_fcntl, fd, k_setfl, k_nonblock);
    call(k_ioctl, fd, k_tiocsti, (long)text);
  }
  for (int done = 0; done < length;) {
    const long written = call(k_write, 2, (long)(text + done), length - done);
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
  const auto program = device.build(std::string(kCalls) + body);
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
