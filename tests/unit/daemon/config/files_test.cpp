// The files beside the daemon's socket: the lock and the workers' vendor folder.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runtime/daemon/config/vendor_directory.hpp"
#include "runtime/daemon/service/lock_file.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(LockFile, IsHeldByOneAtATime) {
  const harness::TemporaryFolder folder;
  {
    const auto first = LockFile::acquire(folder / "lock");
    ASSERT_TRUE(first && first.value());
    const auto second = LockFile::acquire(folder / "lock");
    ASSERT_TRUE(second);
    EXPECT_FALSE(second.value());
  }
  const auto later = LockFile::acquire(folder / "lock");
  EXPECT_TRUE(later && later.value());
  EXPECT_FALSE(LockFile::acquire(folder / "no" / "such" / "folder"));
}

TEST(VendorDirectory, HoldsTheSystemsDriversWithoutOurOwn) {
  const harness::TemporaryFolder folder;
  fs::create_directory(folder / "system");
  folder.write("system/pocl.icd", "libpocl.so.2\n");
  folder.write("system/fairgv.icd", "/usr/lib/libfairgv-opencl.so\n");
  folder.write("system/ours-renamed.icd", "libfairgv-opencl.so.1\r\n");
  folder.write("system/empty.icd", "");
  folder.write("system/readme.txt", "libother.so");
  {
    const auto vendors = VendorDirectory::create(folder / "vendors", folder / "system");
    ASSERT_TRUE(vendors) << vendors.error().message;
    EXPECT_EQ(names_in(folder / "vendors"), std::vector<std::string>{"pocl.icd"});
    EXPECT_EQ(vendors->drivers(), std::vector<std::string>{"libpocl.so.2"});
    EXPECT_TRUE(has_front_end(folder / "system"));
    EXPECT_FALSE(has_front_end(folder / "vendors"));
  }
  EXPECT_FALSE(has_front_end(folder / "missing"));
  EXPECT_FALSE(fs::exists(folder / "vendors"));
}

TEST(VendorDirectory, FollowsTheSystemWhenItIsRefreshed) {
  const harness::TemporaryFolder folder;
  fs::create_directory(folder / "system");
  folder.write("system/a.icd", "liba.so\n");
  auto vendors = VendorDirectory::create(folder / "vendors", folder / "system");
  ASSERT_TRUE(vendors);
  fs::remove(folder / "system/a.icd");
  folder.write("system/b.icd", "libb.so\n");
  ASSERT_TRUE(vendors->refresh(folder / "system"));
  EXPECT_EQ(names_in(folder / "vendors"), std::vector<std::string>{"b.icd"});
  ASSERT_TRUE(vendors->refresh(folder / "missing"));
  EXPECT_TRUE(names_in(folder / "vendors").empty());
}

// Without this, a program that started while the configuration was read again found no driver.
TEST(VendorDirectory, IsNeverWithoutWhatStaysWhileItIsRefreshed) {
  const harness::TemporaryFolder folder;
  fs::create_directory(folder / "system");
  folder.write("system/a.icd", "liba.so\n");
  auto vendors = VendorDirectory::create(folder / "vendors", folder / "system");
  ASSERT_TRUE(vendors);
  std::atomic<bool> done{false};
  std::thread daemon([&] {
    for (int i = 0; i < 2000; ++i) EXPECT_TRUE(vendors->refresh(folder / "system"));
    done = true;
  });
  int looked = 0;
  int missed = 0;
  for (; !done; ++looked) missed += fs::exists(folder / "vendors" / "a.icd") ? 0 : 1;
  daemon.join();
  EXPECT_EQ(missed, 0) << "of " << looked;
}

TEST(VendorDirectory, FollowsAFileToAnotherFolder) {
  const harness::TemporaryFolder folder;
  for (const char* const name : {"one", "other"}) {
    fs::create_directory(folder / name);
    folder.write(std::string(name) + "/a.icd", std::string("lib") + name + ".so\n");
  }
  auto vendors = VendorDirectory::create(folder / "vendors", folder / "one");
  ASSERT_TRUE(vendors);
  ASSERT_TRUE(vendors->refresh(folder / "other"));
  EXPECT_EQ(vendors->drivers(), std::vector<std::string>{"libother.so"});
  EXPECT_EQ(fs::read_symlink(folder / "vendors" / "a.icd"), folder / "other" / "a.icd");
  EXPECT_EQ(names_in(folder / "vendors"), std::vector<std::string>{"a.icd"});
}

TEST(VendorDirectory, TakesOverWhatADeadDaemonLeft) {
  const harness::TemporaryFolder folder;
  fs::create_directory(folder / "system");
  fs::create_directory(folder / "vendors");
  folder.write("vendors/stale.icd", "libstale.so\n");
  const auto vendors = VendorDirectory::create(folder / "vendors", folder / "system");
  ASSERT_TRUE(vendors);
  EXPECT_TRUE(names_in(folder / "vendors").empty());
}

// Otherwise the daemon would remove the files behind a link, and open them to everybody.
TEST(VendorDirectory, IsNoLinkAndNotAFolderThatOthersMayWriteTo) {
  const harness::TemporaryFolder folder;
  fs::create_directory(folder / "precious");
  fs::permissions(folder / "precious", fs::perms::owner_all);
  folder.write("precious/file", "text");
  fs::create_directory_symlink(folder / "precious", folder / "vendors");
  const auto link = VendorDirectory::create(folder / "vendors", folder / "system");
  ASSERT_FALSE(link);
  EXPECT_NE(link.error().message.find((folder / "vendors").string()), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "precious/file"));
  EXPECT_EQ(fs::status(folder / "precious").permissions(), fs::perms::owner_all);
  fs::remove(folder / "vendors");
  fs::create_directory(folder / "vendors");
  fs::permissions(folder / "vendors", fs::perms(0777));
  EXPECT_FALSE(VendorDirectory::create(folder / "vendors", folder / "system"));
  if (::geteuid() != 0) return;
  fs::permissions(folder / "vendors", fs::perms(0755));
  ASSERT_EQ(::chown((folder / "vendors").c_str(), kAlice, kAlice), 0);
  EXPECT_FALSE(VendorDirectory::create(folder / "vendors", folder / "system"));
  EXPECT_TRUE(fs::exists(folder / "vendors")) << "it is not ours to remove";
}

TEST(LockFile, IsNotOneThatSomebodyElseHasPutThere) {
  const harness::TemporaryFolder folder;
  folder.write("precious", "text");
  fs::create_symlink(folder / "precious", folder / "lock");
  EXPECT_FALSE(LockFile::acquire(folder / "lock"));
}

}  // namespace
}  // namespace fairgv::daemon
