// `fairgv doctor` on limits: of this process, or of the daemon when one answers.
#include "tests/unit/doctor/machine.hpp"

namespace fairgv::tools::doctor {
namespace {

struct LimitChecks : PreparedMachine {};

TEST_F(LimitChecks, AreContentWithTheMachineAsItIsPrepared) {
  for (const Check check :
       {check_descriptors, check_locked_memory, check_address_space, check_core_files, check_cores}) {
    expect(check, Level::ok, "");
  }
}

TEST_F(LimitChecks, DescriptorsMustSufficeForAllSessions) {
  write("/proc/self/limits", limits("0", "0", "3648", "0"));  // 256 * 10 + 1088
  expect(check_descriptors, Level::ok, "3648");
  write("/proc/self/limits", limits("0", "0", "3647", "0"));
  expect(check_descriptors, Level::wrong, "LimitNOFILE=3648");
  expect(check_descriptors, Level::wrong, "session_limit = 255");
  examination.settings.session_limit = 255;
  expect(check_descriptors, Level::ok, "255 sessions");
  write("/proc/self/limits", limits("0", "0", "1024", "0"));
  expect(check_descriptors, Level::wrong, "may open 1024");
}

TEST_F(LimitChecks, AreTheDaemonsWhenOneAnswers) {
  examination.daemon.pid = 4711;
  write("/proc/4711/limits", limits("0", "0", "2000", "0"));
  expect(check_descriptors, Level::wrong, "the daemon may open 2000");
  remove("/proc/4711");
  for (const Check check : {check_descriptors, check_locked_memory, check_address_space, check_core_files}) {
    expect(check, Level::note, "/proc/4711/limits");
  }
}

TEST_F(LimitChecks, LockedMemoryMattersToAccelerators) {
  write("/proc/self/limits", limits("8388608", "unlimited", "20000", "0"));
  expect(check_locked_memory, Level::ok, "may lock 8192 KiB");
  write("/dev/kfd", "");
  expect(check_locked_memory, Level::note, "LimitMEMLOCK=infinity");
}

TEST_F(LimitChecks, AddressSpaceMustHoldAnArena) {
  write("/proc/self/limits", limits("0", "68719476736", "20000", "0"));
  expect(check_address_space, Level::wrong, "ulimit -v unlimited");
  write("/proc/self/limits", limits("0", "1099511627776", "20000", "0"));
  expect(check_address_space, Level::ok, "");
}

TEST_F(LimitChecks, CoreFilesWouldHoldTenantsData) {
  write("/proc/self/limits", limits("0", "0", "20000", "unlimited"));
  expect(check_core_files, Level::note, "leaves one of any amount");
}

TEST_F(LimitChecks, OneCoreIsAMatterOfNote) {
  write("/proc/self/status", "Cpus_allowed_list:\t3\n");
  expect(check_cores, Level::note, "there is one");
  write("/proc/self/status", "Name:\tx\n");
  expect(check_cores, Level::note, "does not say");
}

TEST_F(LimitChecks, DeviceCoresMustLeaveSome) {
  const auto of = [&](const char* cores) {
    examination.settings.cores = cores;
    const Findings findings = check_cores(examination);
    EXPECT_EQ(findings.size(), 2u);
    return findings.back();
  };
  EXPECT_EQ(of("0-1").text, "0-1 for the device, 2,3 for everything else");
  EXPECT_EQ(of("0-1").level, Level::ok);
  for (const auto& [cores, text] : {std::pair("0-3", "'0-3' leaves none for programs"),
                                    {"3-5", "4,5 cannot be used here"},
                                    {"all", "'all' is no list of cores such as \"0\" or \"0-3,8\""}}) {
    EXPECT_EQ(of(cores).text, text);
    EXPECT_EQ(of(cores).level, Level::wrong);
    EXPECT_EQ(of(cores).remedy, "cores = \"LIST\" with some, but not all, of 0,1,2,3");
  }
}

}  // namespace
}  // namespace fairgv::tools::doctor
