// The cage keeps code in a worker's place from harming the machine: calls, capabilities, descriptors, limits.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "runtime/base/socket.hpp"
#include "runtime/session/protocol.hpp"
#include "tests/unit/daemon/cage/cage_fixture.hpp"

namespace fairgv::daemon::caged {
namespace {

struct Call {
  const char* name;
  const char* end;
};

TEST_F(Cage, RefusesExactlyTheCallsOfTheTable) {
  plan();
  const Report report = probe();
  constexpr Call kExpected[] = {
      {"ptrace", "EPERM"},
      {"process_vm_readv", "EPERM"},
      {"process_vm_writev", "EPERM"},
      {"pidfd_getfd", "EPERM"},
      {"pidfd_send_signal", "EPERM"},
      {"signal_daemon", "EPERM"},
      {"signal_all", "EPERM"},
      {"limit_daemon", "EPERM"},
      {"setsid", "EPERM"},
      {"setpgid", "EPERM"},
      {"kexec_load", "EPERM"},
      {"init_module", "EPERM"},
      {"finit_module", "EPERM"},
      {"delete_module", "EPERM"},
      {"bpf", "EPERM"},
      {"perf_event_open", "EPERM"},
      {"userfaultfd", "EPERM"},
      {"reboot", "EPERM"},
      {"swapon", "EPERM"},
      {"acct", "EPERM"},
      {"settimeofday", "EPERM"},
      {"adjtimex", "EPERM"},
      {"mount", "EPERM"},
      {"umount", "EPERM"},
      {"pivot_root", "EPERM"},
      {"chroot", "EPERM"},
      {"open_tree", "EPERM"},
      {"move_mount", "EPERM"},
      {"fsopen", "EPERM"},
      {"mount_setattr", "EPERM"},
      {"open_by_handle_at", "EPERM"},
      {"setns", "EPERM"},
      {"unshare", "EPERM"},
      {"unshare_mounts", "EPERM"},
      {"clone_newuser", "EPERM"},
      {"clone3", "ENOSYS"},
      {"newer_call", "ENOSYS"},
      {"add_key", "EPERM"},
      {"request_key", "EPERM"},
      {"keyctl", "EPERM"},
      {"io_uring_setup", "EPERM"},
      {"io_uring_enter", "EPERM"},
      {"io_uring_register", "EPERM"},
      {"personality", "EPERM"},
      {"socket_inet", "EAFNOSUPPORT"},
      {"socket_netlink", "EAFNOSUPPORT"},
      {"socket_packet", "EAFNOSUPPORT"},
      {"setuid_root", "EPERM"},
      {"own_by_fcntl", "EPERM"},
      {"own_by_fcntl_ex", "EPERM"},
      {"choose_signal", "EPERM"},
      {"lease", "EPERM"},
      {"notify", "EPERM"},
      {"own_by_ioctl", "EPERM"},
      {"own_group_by_ioctl", "EPERM"},
      {"type_for_terminal", "EPERM"},
      {"paste_for_terminal", "EPERM"},
      {"outlive_parent", "EPERM"},
      {"give_up_orphans", "EPERM"},
      {"file_flags", "allowed"},
      {"waiting_bytes", "allowed"},
      {"name_itself", "allowed"},
      {"socket_unix", "allowed"},
      {"ask_personality", "allowed"},
      {"signal_itself", "allowed"},
      {"thread", "allowed"},
      {"name_thread", "allowed"},
      {"program", "allowed"},
      {"move_file", "allowed"},
  };
  for (const Call& call : kExpected) EXPECT_EQ(only(report, call.name), call.end) << call.name;
}

TEST_F(Cage, WithoutTheFilterStillHasNoCapabilities) {
  rule.syscall_filter = false;
  plan();
  const Report report = probe();
  EXPECT_EQ(only(report, "Seccomp:"), "0");
  for (const char* call : {"mount", "chroot", "reboot", "swapon"}) {
    EXPECT_EQ(only(report, call), "EPERM") << call;
  }
}

TEST_F(Cage, LeavesNoCapabilityAndNoWayToGainOne) {
  plan();
  const Report report = probe();
  const std::string none(16, '0');
  for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"})
    EXPECT_EQ(only(report, set), none) << set;
  if (::geteuid() == 0) {
    EXPECT_EQ(only(report, "CapBnd:"), none);
  }
  EXPECT_EQ(only(report, "NoNewPrivs:"), "1");
  EXPECT_EQ(only(report, "Seccomp:"), "2");
}

TEST_F(Cage, LetsInOnlyTheDescriptorsThatAreNamed) {
  plan();
  const UniqueFd leaked(::fcntl(STDERR_FILENO, F_DUPFD, 50));
  const UniqueFd kept(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 60));
  command.inherited = {kept.get()};
  const Report report = probe();
  std::set<std::string> open;
  for (auto [at, last] = report.equal_range("fd"); at != last; ++at) open.insert(at->second);
  EXPECT_EQ(open, (std::set<std::string>{"0", "1", "2", std::to_string(kept.get())}));
}

TEST_F(Cage, SetsTheLimitsOfItsRule) {
  rule.memory = std::uint64_t{1} << 50;  // a sanitizer's shadow takes terabytes, and the test runs under each
  plan();
  const Report report = probe();
  EXPECT_EQ(only(report, "limit_core"), "0");
  EXPECT_LE(std::stoll(only(report, "limit_files")), 4'096);
  EXPECT_EQ(only(report, "limit_data"), std::to_string(std::uint64_t{1} << 50));
  EXPECT_EQ(only(report, "folder"), "/");
}

TEST_F(Cage, LeavesOtherLimitsAsTheyWere) {
  rule.core_dumps = true;
  plan();
  const Report report = probe();
  rlimit core{};
  rlimit data{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &core) | ::getrlimit(RLIMIT_DATA, &data), 0);
  EXPECT_EQ(only(report, "limit_core"), std::to_string(static_cast<long long>(core.rlim_max)));
  EXPECT_EQ(only(report, "limit_data"), std::to_string(static_cast<long long>(data.rlim_max)));
}

TEST_F(Cage, ThatCannotBeMadeEndsTheWorkerWithOneLineOfReason) {
  auto ends = std::move(Socket::pair()).value();
  command.channel = ends.second.fd();
  command.inherited = {ends.second.fd()};
  plan();
  command.cage.means = view_means();
  command.cage.view.push_back({Place::Kind::read_only, "/no/\"such\"/folder", {}, true});
  auto worker = WorkerProcess::spawn(command);
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->reap(), "ended with status 127");
  const auto said = session::parse_worker_message(ends.first.receive()->text);
  ASSERT_TRUE(said) << said.error().message;
  const auto* const failed = std::get_if<session::WorkerFailed>(&said.value());
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->reason, "a worker cannot be shown /no/?such?/folder: No such file or directory");
}

}  // namespace
}  // namespace fairgv::daemon::caged
