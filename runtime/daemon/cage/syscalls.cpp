#include "runtime/daemon/cage/syscalls.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace fairgv::daemon {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

/// mseal, of Linux 6.10; numbers are the same on all architectures from 424 on. The x32 calls of x86-64 are
/// larger, too.
constexpr std::uint32_t kNewestKnown = 462;

constexpr std::uint32_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr long kRefused[] = {
    // other processes
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_process_madvise,
    SYS_process_mrelease,
    SYS_tkill,
    // by which a worker's processes are known to be its own
    SYS_setsid,
    SYS_setpgid,
    // the kernel and the machine
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_syslog,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_fanotify_init,
    // the view of the file system
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_setns,
    SYS_unshare,
    SYS_open_by_handle_at,
    // keys
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    // asynchronous I/O past this filter
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
#endif
};

constexpr std::uint32_t failure(int code) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code);
}

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

/// The lower half of an argument: pids, families and flags are ints, of which the kernel ignores the rest.
constexpr sock_filter load_argument(std::size_t index) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  return load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
}

/// Goes on with the next instruction if `test` holds for `value`, else skips so many.
constexpr sock_filter unless_skip(std::uint16_t test, long value, std::uint8_t instructions) {
  return BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), static_cast<std::uint32_t>(value), 0,
                  instructions);
}

}  // namespace

bool SyscallFilter::supported() {
  return kArchitecture != 0;
}

SyscallFilter::SyscallFilter() {
  add(load(offsetof(seccomp_data, arch)));
  add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  answer(SECCOMP_RET_KILL_PROCESS);
  add(load(offsetof(seccomp_data, nr)));
  add(unless_skip(BPF_JGT, kNewestKnown, 1));
  answer(failure(ENOSYS));
  add(unless_skip(BPF_JEQ, SYS_clone3, 1));
  answer(failure(ENOSYS));
  refuse_listed();
  guard_arguments();
  answer(SECCOMP_RET_ALLOW);
}

void SyscallFilter::refuse_listed() {
  for (const long call : kRefused) {
    add(unless_skip(BPF_JEQ, call, 1));
    answer(failure(EPERM));
  }
}

void SyscallFilter::guard_arguments() {
  // Each of these ends with an answer: the accumulator no longer has the number of the call.
  add(unless_skip(BPF_JEQ, SYS_socket, 4));
  add(load_argument(0));
  add(unless_skip(BPF_JEQ, AF_UNIX, 1));
  answer(SECCOMP_RET_ALLOW);
  answer(failure(EAFNOSUPPORT));

  add(unless_skip(BPF_JEQ, SYS_clone, 4));
  add(load_argument(0));
  add(unless_skip(BPF_JSET, kNewNamespaces, 1));
  answer(failure(EPERM));
  answer(SECCOMP_RET_ALLOW);

  constexpr long kOnlyAsk = 0xFFFF'FFFF;
  add(unless_skip(BPF_JEQ, SYS_personality, 4));
  add(load_argument(0));
  add(unless_skip(BPF_JEQ, kOnlyAsk, 1));
  answer(SECCOMP_RET_ALLOW);
  answer(failure(EPERM));

  refuse_if(SYS_fcntl, 1, {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY});
  refuse_if(SYS_ioctl, 1, {FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX});
  refuse_if(SYS_prctl, 0, {PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER});

  // 0: its own process group, which is the worker and its children; for prlimit64, the worker itself.
  for (const long call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_prlimit64}) {
    add(unless_skip(BPF_JEQ, call, 5));
    add(load_argument(0));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
    own_pid_.push_back(program_.size());
    add(unless_skip(BPF_JEQ, 0, 1));
    answer(SECCOMP_RET_ALLOW);
    answer(failure(EPERM));
  }
}

void SyscallFilter::refuse_if(long call, std::size_t argument, std::initializer_list<long> values) {
  add(unless_skip(BPF_JEQ, call, static_cast<std::uint8_t>(2 + 2 * values.size())));
  add(load_argument(argument));
  for (const long value : values) {
    add(unless_skip(BPF_JEQ, value, 1));
    answer(failure(EPERM));
  }
  answer(SECCOMP_RET_ALLOW);
}

void SyscallFilter::answer(unsigned what) {
  add(BPF_STMT(BPF_RET | BPF_K, what));
}

bool SyscallFilter::install() {
  for (const std::size_t at : own_pid_) program_[at].k = static_cast<std::uint32_t>(::getpid());
  const sock_fprog program{static_cast<unsigned short>(program_.size()), program_.data()};
  // Without the slow defences against speculation: everything in a worker's memory is its tenant's.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0;
}

}  // namespace fairgv::daemon
