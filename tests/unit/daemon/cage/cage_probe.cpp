// Runs in a cage in a worker's place: makes a hostile kernel's attempts, and reports the end of each attempt
// in a line "NAME WORD". Further arguments are paths to be tried.
#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Attempt {
  const char* name;
  long (*call)();  // -1 with errno when it failed
};

template <long kCall>
long raw() {
  return ::syscall(kCall, 0, 0, 0, 0, 0, 0);
}

template <int kFamily>
long make_socket() {
  return ::socket(kFamily, SOCK_STREAM, 0);
}

template <unsigned long kRequest>
long control() {
  return ::ioctl(0, kRequest, 0);
}

int waiting = 0;

int make_pipe() {
  int ends[2] = {-1, -1};
  return ::pipe(ends) == 0 ? ends[0] : -1;
}

long run_program() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? 0 : -1;
}

/// Moves a file from folder to folder, as PoCL does in its cache.
long move_file() {
  const char* const cache = std::getenv("POCL_CACHE_DIR");
  const std::string folder = cache != nullptr ? cache : "/tmp";
  std::string inside = folder + "/fairgv-probe-XXXXXX";
  if (::mkdtemp(inside.data()) == nullptr) return -1;
  const std::string before = inside + ".file";
  const std::string after = inside + "/file";
  std::ofstream(before) << "something";
  const long moved = ::rename(before.c_str(), after.c_str());
  const int why = errno;
  for (const std::string& left : {before, after, inside}) static_cast<void>(std::remove(left.c_str()));
  errno = why;
  return moved;
}

/// Writes the thread's name in /proc; NVIDIA's driver does not start without this.
long name_thread() {
  std::promise<void> named;
  std::thread thread([ready = named.get_future()] { ready.wait(); });
  const int code = ::pthread_setname_np(thread.native_handle(), "probe's");
  named.set_value();
  thread.join();
  errno = code;
  return code == 0 ? 0 : -1;
}

constexpr Attempt kAttempts[] = {
    {"ptrace", [] { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr); }},
    {"process_vm_readv", raw<SYS_process_vm_readv>},
    {"process_vm_writev", raw<SYS_process_vm_writev>},
    {"pidfd_getfd", raw<SYS_pidfd_getfd>},
    {"pidfd_send_signal", raw<SYS_pidfd_send_signal>},
    // Where a probe has process numbers of its own, its parent has no number.
    {"signal_daemon", [] { return long{::kill(::getppid() == 0 ? 2 : ::getppid(), 0)}; }},
    {"signal_all", [] { return long{::kill(-1, 0)}; }},
    {"limit_daemon",
     [] {
       return ::syscall(SYS_prlimit64, ::getppid() == 0 ? 2 : ::getppid(), RLIMIT_CORE, nullptr, nullptr);
     }},
    {"setsid", raw<SYS_setsid>},
    {"setpgid", raw<SYS_setpgid>},
    {"kexec_load", raw<SYS_kexec_load>},
    {"init_module", raw<SYS_init_module>},
    {"finit_module", raw<SYS_finit_module>},
    {"delete_module", raw<SYS_delete_module>},
    {"bpf", raw<SYS_bpf>},
    {"perf_event_open", raw<SYS_perf_event_open>},
    {"userfaultfd", raw<SYS_userfaultfd>},
    {"reboot", [] { return long{::reboot(RB_DISABLE_CAD)}; }},
    {"swapon", [] { return long{::swapon("/dev/null", 0)}; }},
    {"acct", [] { return long{::acct("/dev/null")}; }},
    {"settimeofday", raw<SYS_settimeofday>},
    {"adjtimex", raw<SYS_adjtimex>},
    {"mount", [] { return long{::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr)}; }},
    {"umount", [] { return long{::umount2("/tmp", MNT_DETACH)}; }},
    {"pivot_root", raw<SYS_pivot_root>},
    {"chroot", [] { return long{::chroot("/tmp")}; }},
    {"open_tree", raw<SYS_open_tree>},
    {"move_mount", raw<SYS_move_mount>},
    {"fsopen", raw<SYS_fsopen>},
    {"mount_setattr", raw<SYS_mount_setattr>},
    {"open_by_handle_at", raw<SYS_open_by_handle_at>},
    {"setns", raw<SYS_setns>},
    {"unshare", [] { return long{::unshare(CLONE_NEWUSER)}; }},
    {"unshare_mounts", [] { return long{::unshare(CLONE_NEWNS)}; }},
    {"clone_newuser", [] { return ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }},
    {"clone3", raw<SYS_clone3>},
    {"newer_call", raw<463>},
    {"add_key", raw<SYS_add_key>},
    {"request_key", raw<SYS_request_key>},
    {"keyctl", [] { return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0); }},
    {"io_uring_setup", raw<SYS_io_uring_setup>},
    {"io_uring_enter", raw<SYS_io_uring_enter>},
    {"io_uring_register", raw<SYS_io_uring_register>},
    {"personality", [] { return long{::personality(ADDR_NO_RANDOMIZE)}; }},
    {"socket_inet", make_socket<AF_INET>},
    {"socket_netlink", make_socket<AF_NETLINK>},
    {"socket_packet", make_socket<AF_PACKET>},
    {"setuid_root", [] { return long{::getuid() == 0 ? ::setuid(1) : ::setuid(0)}; }},
    {"own_by_fcntl", [] { return long{::fcntl(0, F_SETOWN, ::getpid())}; }},
    {"own_by_fcntl_ex",
     [] {
       f_owner_ex owner{F_OWNER_PID, ::getpid()};
       return long{::fcntl(0, F_SETOWN_EX, &owner)};
     }},
    {"choose_signal", [] { return long{::fcntl(0, F_SETSIG, SIGKILL)}; }},
    {"lease", [] { return long{::fcntl(0, F_SETLEASE, F_RDLCK)}; }},
    {"notify", [] { return long{::fcntl(0, F_NOTIFY, DN_MODIFY)}; }},
    {"own_by_ioctl", control<FIOSETOWN>},
    {"own_group_by_ioctl", control<SIOCSPGRP>},
    {"type_for_terminal", control<TIOCSTI>},
    {"paste_for_terminal", control<TIOCLINUX>},
    {"outlive_parent", [] { return long{::prctl(PR_SET_PDEATHSIG, 0)}; }},
    {"give_up_orphans", [] { return long{::prctl(PR_SET_CHILD_SUBREAPER, 0)}; }},
    // Calls that drivers and their compilers need.
    {"file_flags", [] { return long{::fcntl(0, F_SETFL, 0)}; }},
    {"waiting_bytes", [] { return long{::ioctl(make_pipe(), FIONREAD, &waiting)}; }},
    {"name_itself", [] { return long{::prctl(PR_SET_NAME, "probe")}; }},
    {"socket_unix", make_socket<AF_UNIX>},
    {"ask_personality", [] { return long{::personality(0xFFFF'FFFF)}; }},
    {"signal_itself", [] { return long{::kill(::getpid(), 0)}; }},
    {"thread", [] { return std::thread([] {}).join(), 0L; }},
    {"name_thread", name_thread},
    {"program", run_program},
    {"move_file", move_file},
};

const char* word(bool succeeded) {
  return succeeded ? "allowed" : ::strerrorname_np(errno);
}

/// The result of opening the path: "closed", "read" or "write".
std::string try_path(const std::string& path) {
  struct Descriptor {
    explicit Descriptor(int opened) : fd(opened) {}
    ~Descriptor() {
      if (fd >= 0) ::close(fd);
    }
    const int fd;
  };
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
  const std::string file = folder.fd < 0 ? path : path + "/probe";
  if (const Descriptor written(::open(file.c_str(), O_RDWR | (folder.fd < 0 ? 0 : O_CREAT), 0600));
      written.fd >= 0) {
    return "write";
  }
  if (folder.fd >= 0) return "read";
  const Descriptor read(::open(path.c_str(), O_RDONLY));
  return read.fd >= 0 ? "read" : "closed";
}

void tell_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* const entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && name != std::to_string(::dirfd(folder))) {
      std::printf("fd %s\n", name.c_str());
    }
  }
  ::closedir(folder);
}

void tell_status() {
  std::ifstream status("/proc/self/status");
  for (std::string key, value; status >> key; std::getline(status, value)) {
    if (!key.starts_with("Cap") && key != "NoNewPrivs:" && key != "Seccomp:") continue;
    status >> value;
    std::printf("%s %s\n", key.c_str(), value.c_str());
  }
}

void tell_limits() {
  for (const auto& [name, resource] :
       {std::pair("limit_core", RLIMIT_CORE), {"limit_files", RLIMIT_NOFILE}, {"limit_data", RLIMIT_DATA}}) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    std::printf("%s %lld\n", name, static_cast<long long>(limit.rlim_max));
  }
}

}  // namespace

int main(int argc, char** argv) {
  tell_descriptors();
  tell_status();
  tell_limits();
  char folder[4096];
  std::printf("folder %s\n", ::getcwd(folder, sizeof(folder)));
  for (const Attempt& attempt : kAttempts) {
    errno = 0;
    std::printf("%s %s\n", attempt.name, word(attempt.call() != -1));
  }
  for (int i = 1; i < argc; ++i) std::printf("%s %s\n", argv[i], try_path(argv[i]).c_str());
  std::fflush(stdout);
  ::_exit(0);  // no leak checks, which trace their process
}
