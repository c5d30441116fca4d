// Paths that only trusted users can have made. The owners are real: root makes files and gives them away.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "runtime/session/trust/trusted_path.hpp"
#include "runtime/session/trust/trusted_users.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/session/users.hpp"

namespace fairgv::session {
namespace {

namespace fs = std::filesystem;

/// A machine in a folder: its root, /run and /tmp are root's.
struct TrustedPath : ::testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    fs::permissions(machine.path(), fs::perms(0755));
    folder("/run");
    folder("/tmp", 0, 01777);
  }

  std::string at(const std::string& path) const { return machine.path().string() + path; }
  void folder(const std::string& path, uid_t owner = 0, mode_t mode = 0755) {
    fs::create_directory(at(path));
    own(path, owner, mode);
  }
  void file(const std::string& path, uid_t owner, const std::string& text = "", mode_t mode = 0644) {
    std::ofstream(at(path)) << text;
    own(path, owner, mode);
  }
  void own(const std::string& path, uid_t owner, mode_t mode) {
    ASSERT_EQ(::chown(at(path).c_str(), owner, owner), 0);
    ASSERT_EQ(::chmod(at(path).c_str(), mode), 0);
  }
  void link(const std::string& path, const std::string& target, uid_t owner) {
    fs::create_symlink(target, at(path));
    ASSERT_EQ(::lchown(at(path).c_str(), owner, owner), 0);
  }

  std::variant<TrustedPlace, PathDoubt> look(const std::string& path) {
    const TrustedUsers users(kSelf, machine.path());
    auto found = users.look_along(path);
    mistake = users.mistake();
    return found;
  }
  bool trusted(const std::string& path) { return std::holds_alternative<TrustedPlace>(look(path)); }
  /// Kind and place of the doubt, "" if there is none.
  std::string doubt(const std::string& path) {
    const auto found = look(path);
    if (std::holds_alternative<TrustedPlace>(found)) return "";
    const PathDoubt& doubt = std::get<PathDoubt>(found);
    constexpr const char* kKinds[] = {"unreachable ", "foreign ", "outsider ", "writable "};
    return kKinds[static_cast<int>(doubt.kind)] + doubt.where.string();
  }

  harness::TemporaryFolder machine;
  std::string mistake;
};

TEST_F(TrustedPath, IsOneOfFoldersThatRootOrOneselfHasMade) {
  folder("/run/fairgv");
  file("/run/fairgv/s", 0);
  folder("/tmp/fairgv-4001", kSelf, 0700);
  file("/tmp/fairgv-4001/s", kSelf);
  EXPECT_EQ(doubt("/run/fairgv/s"), "");
  EXPECT_EQ(doubt("/tmp/fairgv-4001/s"), "");
  EXPECT_EQ(doubt("/run/../run/./fairgv//s"), "");
  EXPECT_TRUE(std::get<TrustedPlace>(look("/run/fairgv/s")).is_exclusive);
  file("/tmp/s", kSelf);
  EXPECT_FALSE(std::get<TrustedPlace>(look("/tmp/s")).is_exclusive);
}

TEST_F(TrustedPath, HasNoStepOfSomebodyElses) {
  folder("/tmp/fairgv-4001", kStranger, 0755);
  file("/tmp/fairgv-4001/s", kSelf);
  EXPECT_EQ(doubt("/tmp/fairgv-4001/s"), "foreign /tmp/fairgv-4001");
  folder("/tmp/fairgv-4001/deep", kSelf, 0755);
  EXPECT_EQ(doubt("/tmp/fairgv-4001/deep/s"), "foreign /tmp/fairgv-4001");
  file("/tmp/s", kStranger);
  EXPECT_EQ(doubt("/tmp/s"), "foreign /tmp/s");
  own("", kStranger, 0755);
  EXPECT_EQ(doubt("/run"), "foreign /");
}

TEST_F(TrustedPath, HasNoStepThatOthersMayWriteToUnlessItIsSticky) {
  for (const mode_t mode : {0777U, 0775U, 0757U}) {
    folder("/run/open", kSelf, mode);
    file("/run/open/s", kSelf);
    EXPECT_EQ(doubt("/run/open/s"), "writable /run/open");
  }
  own("/run/open", kSelf, 01777);
  EXPECT_EQ(doubt("/run/open/s"), "");
}

TEST_F(TrustedPath, FollowsLinksOfTrustedUsersOnly) {
  folder("/run/fairgv");
  file("/run/fairgv/s", 0);
  folder("/var");
  link("/var/run", "../run", 0);
  EXPECT_EQ(doubt("/var/run/fairgv/s"), "");
  link("/tmp/mine", "/var/run/fairgv", kSelf);
  EXPECT_EQ(doubt("/tmp/mine/s"), "");
  link("/tmp/theirs", "/run/fairgv", kStranger);
  EXPECT_EQ(doubt("/tmp/theirs/s"), "foreign /tmp/theirs");
  folder("/tmp/den", kStranger);
  link("/tmp/mine-into-theirs", "den/s", kSelf);
  EXPECT_EQ(doubt("/tmp/mine-into-theirs"), "foreign /tmp/den");
  link("/tmp/round", "round", kSelf);
  EXPECT_EQ(doubt("/tmp/round"), "unreachable /tmp/round");
  link("/run/s", "fairgv/s", 0);
  EXPECT_EQ(doubt("/run/s"), "");
  EXPECT_EQ(doubt("/run/s/further"), "unreachable /run/fairgv/s");
}

TEST_F(TrustedPath, ThatLeadsNowhereSaysWhy) {
  const auto missing = look("/run/fairgv/s");
  ASSERT_TRUE(std::holds_alternative<PathDoubt>(missing));
  EXPECT_EQ(std::get<PathDoubt>(missing).code, ENOENT);
  file("/run/file", 0);
  const auto blocked = look("/run/file/s");
  ASSERT_TRUE(std::holds_alternative<PathDoubt>(blocked));
  EXPECT_EQ(std::get<PathDoubt>(blocked).code, ENOTDIR);
}

TEST_F(TrustedPath, MayBelongToAUserWhomTheAdministratorNames) {
  folder("/run/fairgv", kNamed);
  file("/run/fairgv/s", kNamed);
  EXPECT_EQ(doubt("/run/fairgv/s"), "foreign /run/fairgv");
  folder("/etc");
  folder("/etc/fairgv");
  file(kDaemonUsersFile, 0, "nobody-has-this-name\n4002 # the service\n");
  EXPECT_EQ(doubt("/run/fairgv/s"), "");
}

TEST_F(TrustedPath, TakesNamesFromNobodyButTheAdministrator) {
  folder("/run/fairgv", kNamed);
  folder("/etc");
  folder("/etc/fairgv");
  const auto refused = [&](const std::string& why) {
    EXPECT_EQ(doubt("/run/fairgv"), "foreign /run/fairgv");
    EXPECT_NE(mistake.find(why), std::string::npos) << mistake;
  };
  file(kDaemonUsersFile, kStranger, "4002\n");
  refused("belongs to user 4003");
  file(kDaemonUsersFile, 0, "4002\n", 0664);
  refused("written to by others");
  file(kDaemonUsersFile, 0, "4002\nsome body\n");
  refused(":2: 'some body' is no user");
  file(kDaemonUsersFile, 0, "4002\n");
  own("/etc/fairgv", kStranger, 0755);
  refused("/etc/fairgv belongs to user 4003");
  own("/etc/fairgv", 0, 0755);
  fs::remove(at(kDaemonUsersFile));
  folder(kDaemonUsersFile);
  refused("is no file");
}

/// As in a container, where all users outside of it appear as one user.
struct TrustedPathInAContainer : TrustedPath {
  void SetUp() override {
    TrustedPath::SetUp();
    if (IsSkipped()) return;
    folder("/proc");
    folder("/proc/self");
    file("/proc/self/uid_map", 0, "0 1000 1\n");
    folder("/run/fairgv", kOverflowUser);
    file("/run/fairgv/s", kOverflowUser);
  }
};

TEST_F(TrustedPathInAContainer, MayBelongToSomebodyOutsideWhereOnlyItsRootCanHaveMountedIt) {
  EXPECT_EQ(doubt("/run/fairgv/s"), "");
  folder("/tmp/fairgv", kOverflowUser);
  file("/tmp/fairgv/s", kOverflowUser);
  EXPECT_EQ(doubt("/tmp/fairgv/s"), "outsider /tmp/fairgv");
  own("/run/fairgv", kOverflowUser, 01777);
  EXPECT_EQ(doubt("/run/fairgv/s"), "outsider /run/fairgv/s");
  own("/run/fairgv", kStranger, 0755);
  EXPECT_EQ(doubt("/run/fairgv/s"), "foreign /run/fairgv");
}

TEST_F(TrustedPathInAContainer, MayBelongToSomebodyOutsideAnywhereIfTheAdministratorSaysSo) {
  folder("/etc");
  folder("/etc/fairgv");
  file(kDaemonUsersFile, 0, "65534\n");
  folder("/tmp/fairgv", kOverflowUser);
  EXPECT_EQ(doubt("/tmp/fairgv"), "");
}

TEST_F(TrustedPathInAContainer, IsNotOneselfsWhereOneIsSeenAsEverybodyOutside) {
  folder("/tmp/fairgv-65534", kOverflowUser);
  const TrustedUsers users(kOverflowUser, machine.path());
  EXPECT_TRUE(std::holds_alternative<PathDoubt>(users.look_along("/tmp/fairgv-65534")));
  EXPECT_TRUE(std::holds_alternative<TrustedPlace>(users.look_along("/run/fairgv/s")));
}

TEST_F(TrustedPathInAContainer, KnowsThatNobodyIsAnOrdinaryUserWhereAllHaveNumbers) {
  file("/proc/self/uid_map", 0, "0 0 4294967295\n");
  EXPECT_EQ(doubt("/run/fairgv/s"), "foreign /run/fairgv");
  fs::remove(at("/proc/self/uid_map"));
  EXPECT_EQ(doubt("/run/fairgv/s"), "foreign /run/fairgv");
}

}  // namespace
}  // namespace fairgv::session
