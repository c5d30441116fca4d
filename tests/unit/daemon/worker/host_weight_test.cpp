// cpu.weight of a program's control group, read below a folder of the test's.
#include "runtime/daemon/worker/host_weight.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

struct HostWeight : testing::Test {
  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((folder / file).parent_path());
    std::ofstream(folder / file) << text;
  }
  /// Mounts of both versions, as on a system that uses version 1 for processors.
  std::string mounts() const {
    return "30 23 0:26 / " + (folder / "v2").string() + " rw,nosuid shared:4 - cgroup2 cgroup2 rw\n" +
           "32 31 0:29 / " + (folder / "v1").string() + " rw - cgroup cgroup rw,cpu,cpuacct\n" +
           "33 31 0:30 / " + (folder / "memory").string() + " rw - cgroup cgroup rw,memory\n";
  }
  harness::TemporaryFolder folder;
};

TEST_F(HostWeight, IsThatOfTheProgramsGroup) {
  put("v2/jobs/a/cpu.weight", "300\n");
  put("v2/jobs/b/cpu.weight", "7\n");
  EXPECT_EQ(host_weight(mounts(), "0::/jobs/a\n"), 300U);
  EXPECT_EQ(host_weight(mounts(), "0::/jobs/b\n"), 7U);
}

TEST_F(HostWeight, IsThatOfTheNearestGroupAboveWhereNoneIsSet) {
  put("v2/jobs/cpu.weight", "250\n");
  fs::create_directories(folder / "v2/jobs/a/deep");
  EXPECT_EQ(host_weight(mounts(), "0::/jobs/a/deep\n"), 250U);
  EXPECT_EQ(host_weight(mounts(), "0::/jobs/gone\n"), 250U) << "the group was removed meanwhile";
}

TEST_F(HostWeight, IsTheUsualOneWhereNobodySaysAnything) {
  fs::create_directories(folder / "v2/jobs");
  put("cpu.weight", "9000\n");  // above the mount point: another file system's
  EXPECT_EQ(host_weight(mounts(), "0::/jobs\n"), kUsualHostWeight);
  EXPECT_EQ(host_weight(mounts(), "0::/\n"), kUsualHostWeight);
  EXPECT_EQ(host_weight(mounts(), "0::/../elsewhere\n"), kUsualHostWeight);
  EXPECT_EQ(host_weight("", "0::/jobs\n"), kUsualHostWeight);
  EXPECT_EQ(host_weight(mounts(), ""), kUsualHostWeight);
}

TEST_F(HostWeight, IsTranslatedFromTheSharesOfVersion1) {
  put("v1/jobs/a/cpu.shares", "3072\n");
  put("v1/jobs/cpu.shares", "512\n");
  EXPECT_EQ(host_weight(mounts(), "4:memory:/other\n3:cpu,cpuacct:/jobs/a\n0::/\n"), 300U);
  EXPECT_EQ(host_weight(mounts(), "3:cpu,cpuacct:/jobs/b\n0::/\n"), 50U);
  EXPECT_EQ(host_weight(mounts(), "3:cpuacct:/jobs/a\n0::/\n"), kUsualHostWeight) << "not of this controller";
}

TEST_F(HostWeight, OfVersion2GoesBeforeThatOfVersion1) {
  put("v1/a/cpu.shares", "3072\n");
  put("v2/a/cpu.weight", "20\n");
  EXPECT_EQ(host_weight(mounts(), "3:cpu,cpuacct:/a\n0::/a\n"), 20U);
}

TEST_F(HostWeight, StaysWithinItsBoundsWhateverTheFileHas) {
  put("v2/idle/cpu.weight", "0\n");  // cpu.idle
  put("v2/none/cpu.weight", "many\n");
  put("v1/most/cpu.shares", "18446744073709551615\n");
  put("v1/least/cpu.shares", "2\n");
  EXPECT_EQ(host_weight(mounts(), "0::/idle\n"), 1U);
  EXPECT_EQ(host_weight(mounts(), "0::/none\n"), kUsualHostWeight);
  EXPECT_EQ(host_weight(mounts(), "1:cpu:/most\n"), kMostHostWeight);
  EXPECT_EQ(host_weight(mounts(), "1:cpu:/least\n"), 1U);
}

TEST_F(HostWeight, OfAContainerIsFoundInWhatItIsShown) {
  put("part/a/cpu.weight", "42\n");
  const std::string part =
      "41 31 0:38 /docker/1 " + (folder / "part").string() + " ro - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(host_weight(part, "0::/docker/1/a\n"), 42U);
  EXPECT_EQ(host_weight(part, "0::/docker/12/a\n"), kUsualHostWeight);
}

TEST_F(HostWeight, OfARealProcessIsWithinTheBounds) {
  const std::uint32_t weight = host_weight(::getpid());
  EXPECT_GE(weight, 1U);
  EXPECT_LE(weight, kMostHostWeight);
  EXPECT_EQ(host_weight(-1), kUsualHostWeight) << "there is no such process";
}

}  // namespace
}  // namespace fairgv::daemon
