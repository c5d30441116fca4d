#include "runtime/vgpu/aborts.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <iterator>

namespace fairgv::vgpu {
namespace {

/// From now on the signal's handler stays: other attempts succeed and change nothing.
void keep_handler() {
  constexpr unsigned kDoNothing = SECCOMP_RET_ERRNO | 0;
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGABRT, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kDoNothing),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(instructions), instructions};
  // If it cannot be had, the log names the fault in the place of the abort.
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

}  // namespace

void tell_of_aborts() {
  rlimit core{};
  if (::getpid() != 1 || ::getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max != 0) return;
  std::signal(SIGABRT, [](int) { ::_exit(128 + SIGABRT); });
  keep_handler();
}

}  // namespace fairgv::vgpu
