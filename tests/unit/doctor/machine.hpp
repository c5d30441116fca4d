// A machine in a folder, on which every check of `fairgv doctor` succeeds; each test spoils one thing of it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/harness/temporary_folder.hpp"
#include "tools/fairgv/doctor/checks/checks.hpp"

namespace fairgv::tools::doctor {

inline constexpr const char* kFrontEndFile = "/etc/OpenCL/vendors/fairgv.icd";
inline constexpr const char* kDriverFile = "/etc/drivers/gpu.icd";
inline constexpr const char* kFrontEnd = "/usr/lib/libfairgv-opencl.so";

struct PreparedMachine : ::testing::Test {
  PreparedMachine() {
    examination.machine.root = folder.path();
    examination.machine.user = ::geteuid();
    examination.machine.programs = "/usr/bin";
    examination.machine.open_library = [](const std::string& name) {
      if (name.find("broken") != std::string::npos) return OpenedLibrary{{}, false, "undefined symbol"};
      return OpenedLibrary{name, name.find("tool") == std::string::npos, {}};
    };
    examination.settings.vendors = "/etc/drivers";
    examination.socket = "/run/own/fairgvd.sock";
    examination.daemon = {0, 0, ::geteuid(), FAIRGV_VERSION, {}};
    write(kFrontEndFile, std::string(kFrontEnd) + "\n");
    write("/usr/lib/fairgv/vendors/fairgv.icd", std::string(kFrontEnd) + "\n");
    write(kDriverFile, "libgpu.so\n");
    write("/etc/passwd",
          "root:x:0:0::/root:/bin/sh\nalice:x:4001:4001::/:/bin/sh\nbob:x:4002:4005::/:/bin/sh\n");
    write("/etc/group", "root:x:0:\nrender:x:4005:carol,root,alice\n");
    write("/run/own/fairgvd.lock", "");
    write("/dev/shm/x", "");
    write("/proc/self/limits", limits("unlimited", "unlimited", "20000", "0"));
    write("/proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3\n");
    write("/proc/self/cgroup", "0::/user/shell\n");
    write("/proc/self/schedstat", "1 2 3\n");
    write("/proc/sys/vm/overcommit_memory", "0\n");
    write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    write("/proc/sys/kernel/seccomp/actions_avail", "errno allow\n");
    write("/proc/sys/user/max_user_namespaces", "1000\n");
    write("/sys/kernel/mm/transparent_hugepage/shmem_enabled",
          "always within_size advise [never] deny force\n");
  }

  static std::string limits(const std::string& memlock, const std::string& space, const std::string& files,
                            const std::string& core) {
    const auto line = [](const std::string& name, const std::string& value) {
      return name + "     " + value + "     " + value + "     units\n";
    };
    return "Limit   Soft Limit   Hard Limit   Units\n" + line("Max core file size", core) +
           line("Max open files", files) + line("Max locked memory", memlock) +
           line("Max address space", space);
  }

  std::filesystem::path at(const std::string& path) const { return examination.machine.at(path); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(at(path).parent_path());
    std::ofstream(at(path)) << text;
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(at(path)); }
  void set(const std::string& variable, const std::string& value) {
    examination.machine.environment[variable] = value;
  }

  /// The only finding of a check. It must be of this level, say what to do unless the level is ok, and
  /// mention `text`.
  void expect(Check check, Level level, const std::string& text) const {
    const Findings findings = check(examination);
    ASSERT_EQ(findings.size(), 1u);
    const Finding& finding = findings.front();
    const std::string all = finding.subject + ": " + finding.text + ". " + finding.remedy;
    EXPECT_EQ(finding.level, level) << all;
    EXPECT_EQ(finding.remedy.empty(), level == Level::ok) << all;
    EXPECT_NE(all.find(text), std::string::npos) << all << "\nlacks " << text;
  }

  harness::TemporaryFolder folder;
  Examination examination;
};

}  // namespace fairgv::tools::doctor
