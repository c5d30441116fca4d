// Clients connect to a daemon of trusted users only: the kernel names the user who listens.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>

#include "runtime/session/trust/trusted_daemon.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/session/users.hpp"

namespace fairgv::session {
namespace {

/// Listens at `path` as another user until it is killed.
class StrangersDaemon {
 public:
  explicit StrangersDaemon(const std::string& path) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) return;
    child_ = ::fork();
    if (child_ == 0) serve(path, ready[1]);
    ::close(ready[1]);
    char word = 0;
    EXPECT_EQ(::read(ready[0], &word, 1), 1) << "nobody listens";
    ::close(ready[0]);
  }
  ~StrangersDaemon() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  [[noreturn]] static void serve(const std::string& path, int ready) {
    if (::setuid(kStranger) != 0) ::_exit(1);
    const auto listener = Listener::bind(path, 0666);
    if (!listener || ::write(ready, "r", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  pid_t child_ = -1;
};

TEST(TrustedDaemon, IsOurOwn) {
  const harness::TemporaryFolder folder;
  const auto listener = Listener::bind(folder / "s", 0600);
  int code = -1;
  const auto socket = connect_to_daemon(folder / "s", &code);
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_TRUE(static_cast<bool>(socket.value()));
}

TEST(TrustedDaemon, ThatIsNotThereIsSaidAsEver) {
  const harness::TemporaryFolder folder;
  int code = 0;
  const auto nobody = connect_to_daemon(folder / "none", &code);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(code, ENOENT);
  EXPECT_NE(nobody.error().message.find("no FairGV daemon answers"), std::string::npos);
  EXPECT_FALSE(connect_to_daemon("/" + std::string(200, 'x'), &code));
  EXPECT_EQ(code, ENAMETOOLONG);
}

TEST(TrustedDaemon, IsNotOneInAFolderThatOthersMayWriteTo) {
  const harness::TemporaryFolder folder;
  const auto listener = Listener::bind(folder / "s", 0600);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  int code = 0;
  const auto refused = connect_to_daemon(folder / "s", &code);
  ASSERT_FALSE(refused);
  EXPECT_EQ(code, EPERM);
  EXPECT_NE(refused.error().message.find(folder.path().string() + " may be written to by others"),
            std::string::npos);
  EXPECT_FALSE(listener->accept().value()) << "not even a connection was made";
}

TEST(TrustedDaemon, IsNotAStrangersProcessWhosesoeverItsSocketIs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become other users";
  const harness::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(01777));
  const std::string path = folder / "s";
  const StrangersDaemon daemon(path);
  int code = 0;
  const auto refused = connect_to_daemon(path, &code);
  ASSERT_FALSE(refused);
  EXPECT_EQ(code, EPERM);
  EXPECT_NE(refused.error().message.find(path + " belongs to user 4003"), std::string::npos);
  // Now only the kernel knows.
  ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const auto peer = connect_to_daemon(path, &code);
  ASSERT_FALSE(peer);
  EXPECT_EQ(code, EPERM);
  EXPECT_NE(peer.error().message.find("served by a process of user 4003"), std::string::npos)
      << peer.error().message;
}

}  // namespace
}  // namespace fairgv::session
