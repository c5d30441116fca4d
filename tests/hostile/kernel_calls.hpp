// System calls in OpenCL C. On a CPU device a kernel is code of the worker's process and can make them; tests
// and benchmarks of hostile tenants do.
#pragma once

namespace fairgv::hostile {

/// call(number, six arguments), the numbers as the machine has them (asm/unistd.h), and wait_for_ever(). Goes
/// before the kernels.
inline constexpr const char* kKernelCalls = R"cl(
#if defined(__x86_64__)
enum { k_read = 0, k_write = 1, k_lseek = 8, k_mmap = 9, k_ioctl = 16, k_sched_yield = 24, k_pause = 34,
       k_nanosleep = 35, k_getpid = 39, k_clone = 56, k_exit = 60, k_wait4 = 61, k_kill = 62, k_fcntl = 72,
       k_ftruncate = 77, k_setsid = 112, k_clock_gettime = 228, k_readlinkat = 267 };
long call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  __asm__ volatile("movq %5, %%r10\n\tmovq %6, %%r8\n\tmovq %7, %%r9\n\tsyscall"
                   : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "g"(d), "g"(e), "g"(f)
                   : "rcx", "r8", "r9", "r10", "r11", "memory");
  return result;
}
void wait_for_ever() { for (;;) call(k_pause, 0, 0, 0, 0, 0, 0); }
#elif defined(__aarch64__)
enum { k_fcntl = 25, k_ioctl = 29, k_ftruncate = 46, k_lseek = 62, k_read = 63, k_write = 64,
       k_ppoll = 73, k_readlinkat = 78, k_exit = 93, k_nanosleep = 101, k_clock_gettime = 113, k_sched_yield = 124, k_kill = 129, k_setsid = 157,
       k_getpid = 172, k_clone = 220, k_mmap = 222, k_wait4 = 260 };
long call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  __asm__ volatile("mov x8, %1\n\tmov x0, %2\n\tmov x1, %3\n\tmov x2, %4\n\tmov x3, %5\n\tmov x4, %6\n\t"
                   "mov x5, %7\n\tsvc 0\n\tmov %0, x0"
                   : "=r"(result) : "r"(number), "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f)
                   : "x0", "x1", "x2", "x3", "x4", "x5", "x8", "memory");
  return result;
}
void wait_for_ever() { for (;;) call(k_ppoll, 0, 0, 0, 0, 0, 0); }
#endif
)cl";

}  // namespace fairgv::hostile
