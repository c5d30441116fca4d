// `fairgv doctor` on the machine's memory and its kernel.
#include "tests/unit/doctor/machine.hpp"

namespace fairgv::tools::doctor {
namespace {

struct KernelChecks : PreparedMachine {};

TEST_F(KernelChecks, AreContentWithTheMachineAsItIsPrepared) {
  for (const Check check : {check_overcommit, check_memory_group, check_huge_pages, check_kernel_version,
                            check_seccomp, check_user_namespaces, check_schedstat}) {
    expect(check, Level::ok, "");
  }
}

TEST_F(KernelChecks, SharedMemoryMayBeLittleOrMissing) {
  EXPECT_EQ(shared_memory_finding(1 << 30, 64 << 20).level, Level::ok);
  EXPECT_EQ(shared_memory_finding(1 << 30, 1 << 20).level, Level::note);
  EXPECT_EQ(check_shared_memory(examination).size(), 1u);
  remove("/dev/shm");
  expect(check_shared_memory, Level::note, "mount -t tmpfs");
}

TEST_F(KernelChecks, StrictOvercommitIsAMatterOfNote) {
  write("/proc/sys/vm/overcommit_memory", "2\n");
  expect(check_overcommit, Level::note, "sysctl vm.overcommit_memory=0");
  remove("/proc/sys/vm/overcommit_memory");
  expect(check_overcommit, Level::note, "cannot be read");
}

TEST_F(KernelChecks, TheNarrowestControlGroupCounts) {
  write("/sys/fs/cgroup/user/shell/memory.max", "max\n");
  write("/sys/fs/cgroup/user/memory.max", "1073741824\n");
  expect(check_memory_group, Level::note, "has 1024 MiB");
  write("/sys/fs/cgroup/user/shell/memory.max", "536870912\n");
  expect(check_memory_group, Level::note, "has 512 MiB");
}

TEST_F(KernelChecks, ControlGroupsOfVersionOneCountToo) {
  write("/proc/self/cgroup", "4:memory:/job\n3:cpuset:/\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  expect(check_memory_group, Level::ok, "no control group");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "268435456\n");
  expect(check_memory_group, Level::note, "has 256 MiB");
}

TEST_F(KernelChecks, HugePagesForSharedMemoryCostArenas) {
  const char* const file = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
  write(file, "always within_size [advise] never deny force\n");
  expect(check_huge_pages, Level::ok, "advise");
  write(file, "[always] within_size advise never deny force\n");
  expect(check_huge_pages, Level::note, "echo advise > /sys");
  remove(file);
  expect(check_huge_pages, Level::ok, "makes none");
}

TEST_F(KernelChecks, TheKernelMustNotBeTooOld) {
  const auto release = [&](const char* text) { write("/proc/sys/kernel/osrelease", text); };
  release("5.11.0\n");
  expect(check_kernel_version, Level::ok, "5.11.0");
  release("5.10.0-28-amd64\n");
  expect(check_kernel_version, Level::wrong, "5.11 or newer");
  release("4.19\n");
  expect(check_kernel_version, Level::wrong, "too old");
  release("next\n");
  expect(check_kernel_version, Level::note, "'next'");
}

TEST_F(KernelChecks, SeccompMayBeMissing) {
  remove("/proc/sys/kernel/seccomp");
  expect(check_seccomp, Level::note, "CONFIG_SECCOMP_FILTER");
}

TEST_F(KernelChecks, UserNamespacesMayBeMissingOrForbidden) {
  write("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  expect(check_user_namespaces, Level::note, "sysctl kernel.apparmor_restrict_unprivileged_userns=0");
  write("/proc/sys/kernel/unprivileged_userns_clone", "0\n");
  expect(check_user_namespaces, Level::note, "sysctl kernel.unprivileged_userns_clone=1");
  write("/proc/sys/user/max_user_namespaces", "0\n");
  expect(check_user_namespaces, Level::note, "sysctl user.max_user_namespaces");
  remove("/proc/sys/user");
  expect(check_user_namespaces, Level::note, "CONFIG_USER_NS");
}

TEST_F(KernelChecks, WaitingTimeMayNotBeCounted) {
  write("/proc/self/schedstat", "0 0 0\n");
  expect(check_schedstat, Level::note, "sysctl kernel.task_delayacct=1");
  remove("/proc/self/schedstat");
  expect(check_schedstat, Level::note, "CONFIG_SCHEDSTATS");
}

}  // namespace
}  // namespace fairgv::tools::doctor
