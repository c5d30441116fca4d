// Files and folders of a daemon's own, in places that another user may have prepared.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/session/own_files.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/session/users.hpp"

namespace fairgv::session {
namespace {

namespace fs = std::filesystem;

TEST(OwnFile, IsMadeForItsUserAlone) {
  const harness::TemporaryFolder folder;
  ASSERT_TRUE(open_own_file(folder / "f", O_RDWR));
  struct stat made {};
  ASSERT_EQ(::stat((folder / "f").c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0600u);
  const auto again = open_own_file(folder / "f", O_RDWR);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(::fcntl(again->get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(OwnFile, IsNoLinkNoPipeAndNotSomebodyElses) {
  const harness::TemporaryFolder folder;
  folder.write("precious", "text");
  fs::create_symlink(folder / "precious", folder / "link");
  EXPECT_FALSE(open_own_file(folder / "link", O_WRONLY | O_APPEND));
  fs::create_hard_link(folder / "precious", folder / "second-name");
  EXPECT_FALSE(open_own_file(folder / "second-name", O_WRONLY | O_APPEND));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(open_own_file(folder / "pipe", O_RDWR));
  folder.write("open", "");
  fs::permissions(folder / "open", fs::perms(0666));
  const auto refused = open_own_file(folder / "open", O_RDWR);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find((folder / "open").string()), std::string::npos);
  if (::geteuid() != 0) return;
  folder.write("theirs", "");
  ASSERT_EQ(::chown((folder / "theirs").c_str(), kStranger, kStranger), 0);
  EXPECT_FALSE(open_own_file(folder / "theirs", O_RDWR));
}

TEST(OwnFolder, IsNoLinkAndNotSomebodyElses) {
  const harness::TemporaryFolder folder;
  EXPECT_TRUE(ensure_own_directory(folder / "new", 0755, "remove it"));
  EXPECT_TRUE(ensure_own_directory(folder / "new", 0755, "remove it"));
  fs::create_directory_symlink(folder / "new", folder / "link");
  const auto refused = ensure_own_directory(folder / "link", 0755, "remove it");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("remove it"), std::string::npos);
  fs::permissions(folder / "new", fs::perms(0775));
  EXPECT_FALSE(ensure_own_directory(folder / "new", 0755, "remove it"));
  if (::geteuid() != 0) return;
  fs::create_directory(folder / "theirs");
  ASSERT_EQ(::chown((folder / "theirs").c_str(), kStranger, kStranger), 0);
  EXPECT_FALSE(ensure_own_directory(folder / "theirs", 0755, "remove it"));
}

TEST(OwnFolder, MayBeStickyOnlyWhereNeighboursDoNoHarm) {
  const harness::TemporaryFolder folder;
  EXPECT_TRUE(check_folder(folder.path(), Neighbours::none));
  fs::permissions(folder.path(), fs::perms(01777));
  EXPECT_TRUE(check_folder(folder.path(), Neighbours::may_be));
  EXPECT_FALSE(check_folder(folder.path(), Neighbours::none));
  fs::permissions(folder.path(), fs::perms(0777));
  EXPECT_FALSE(check_folder(folder.path(), Neighbours::may_be));
  fs::permissions(folder.path(), fs::perms(0700));
  folder.write("file", "");
  EXPECT_FALSE(check_folder(folder / "file", Neighbours::may_be));
  EXPECT_FALSE(check_folder(folder / "missing", Neighbours::may_be));
}

}  // namespace
}  // namespace fairgv::session
