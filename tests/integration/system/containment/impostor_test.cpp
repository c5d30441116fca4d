// Another user's process in the place of a user's daemon. Programs and tools say why they do not talk to it,
// and it receives not one byte.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/session/paths.hpp"
#include "tests/harness/child.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kVictim = 23'456;
constexpr uid_t kImpostor = 23'457;
constexpr const char* kFarewell = "this is the test";

/// Listens as the impostor. It takes the first packet of each connection, and hangs up; it counts packets
/// that the test has not sent.
class Impostor {
 public:
  struct Heard {
    int connections = 0;
    int bytes = 0;
  };

  explicit Impostor(const std::string& path) : path_(path) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return;
    child_ = ::fork();
    if (child_ == 0) serve(path, ends[1]);
    ::close(ends[1]);
    report_ = UniqueFd(ends[0]);
    char word = 0;
    EXPECT_EQ(::read(report_.get(), &word, 1), 1) << "the impostor does not listen";
  }
  ~Impostor() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  /// The packets heard until now: the impostor takes connections in their order, so the test's own is the
  /// last.
  Heard heard() const {
    const auto last = Socket::connect(path_);
    EXPECT_TRUE(last && last->send(kFarewell));
    // The bound only prevents a failing test from hanging: a real daemon may have taken the place.
    pollfd report{report_.get(), POLLIN, 0};
    Heard all;
    if (::poll(&report, 1, 30'000) != 1) {
      ADD_FAILURE() << "the impostor is not there any more";
      return all;
    }
    EXPECT_EQ(::read(report_.get(), &all, sizeof(all)), static_cast<ssize_t>(sizeof(all)));
    return all;
  }

 private:
  [[noreturn]] static void serve(const std::string& path, int report) {
    if (::setgid(kImpostor) != 0 || ::setuid(kImpostor) != 0) ::_exit(1);
    const auto listener = Listener::bind(path, 0666);
    if (!listener || ::fcntl(listener->fd(), F_SETFL, 0) != 0 || ::write(report, "r", 1) != 1) ::_exit(1);
    for (Heard all;; ++all.connections) {
      const int peer = ::accept(listener->fd(), nullptr, nullptr);
      std::array<char, 4096> bytes{};
      const ssize_t length = ::recv(peer, bytes.data(), bytes.size(), 0);
      if (length > 0 && std::string_view(bytes.data(), static_cast<std::size_t>(length)) == kFarewell) {
        ::_exit(::write(report, &all, sizeof(all)) > 0 ? 0 : 1);
      }
      if (length > 0) all.bytes += static_cast<int>(length);
      ::close(peer);
    }
  }

  std::string path_;
  UniqueFd report_;
  pid_t child_ = -1;
};

struct AnImpostor : ::testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become other users";
    if (::access(session::kSystemSocket, F_OK) == 0) GTEST_SKIP() << "this machine has a daemon";
    fs::remove_all(kFolder);
  }
  void TearDown() override {
    if (::geteuid() == 0) fs::remove_all(kFolder);
  }

  static void make_folder(const std::string& path, uid_t owner, mode_t mode) {
    ASSERT_EQ(::mkdir(path.c_str(), mode), 0);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_EQ(::chown(path.c_str(), owner, owner), 0);
  }

  /// A command that the victim runs, with the lines of both its outputs.
  static harness::Finished as_victim(const std::string& command) {
    const std::string number = std::to_string(kVictim);
    auto finished =
        harness::run({{"setpriv", "--reuid", number, "--regid", number, "--clear-groups", "/bin/sh", "-c",
                       command + " 2>&1"},
                      {{"FAIRGV_SOCKET", std::nullopt},
                       {"XDG_RUNTIME_DIR", std::nullopt},
                       {"OCL_ICD_VENDORS", fs::path(harness::beside("../lib/fairgv/vendors")).string()}}});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }

  /// Every program that would talk to a daemon fails with one line of FairGV's, which contains `why`.
  static void expect_refusals(const std::string& why) {
    const std::string fairgv = harness::beside("fairgv");
    const std::string program = harness::beside("workloads/matrixMul") + " --repetitions 1";
    for (const std::string& command :
         {program, fairgv + " ps", fairgv + " top --once", fairgv + " run -- " + program}) {
      const harness::Finished finished = as_victim(command);
      EXPECT_NE(finished.status, 0) << command;
      std::vector<std::string> ours;
      for (const std::string& line : finished.lines) {
        if (line.starts_with("fairgv")) ours.push_back(line);
      }
      ASSERT_EQ(ours.size(), 1u) << command << (ours.empty() ? "" : ours.back());
      EXPECT_NE(ours[0].find(why), std::string::npos) << command << ": " << ours[0];
      EXPECT_NE(ours[0].find("choose another socket"), std::string::npos) << ours[0];
    }
  }

  static inline const std::string kFolder = "/tmp/fairgv-" + std::to_string(kVictim);
  static inline const std::string kSocket = kFolder + "/fairgvd.sock";
};

TEST_F(AnImpostor, ThatHasMadeTheUsersFolderHearsNothing) {
  make_folder(kFolder, kImpostor, 0755);
  const Impostor impostor(kSocket);
  expect_refusals(kFolder + " belongs to user 23457");
  const auto heard = impostor.heard();
  EXPECT_EQ(heard.bytes, 0);
  EXPECT_EQ(heard.connections, 0);
}

TEST_F(AnImpostor, BehindALinkHearsNothing) {
  const std::string den = kFolder + "-den";
  fs::remove_all(den);
  make_folder(den, kImpostor, 0755);
  fs::create_directory_symlink(den, kFolder);
  ASSERT_EQ(::lchown(kFolder.c_str(), kImpostor, kImpostor), 0);
  {
    const Impostor impostor(kSocket);
    expect_refusals(kFolder + " belongs to user 23457");
    EXPECT_EQ(impostor.heard().connections, 0);
  }
  fs::remove_all(den);
}

TEST_F(AnImpostor, InAFolderThatTheUserHasLeftOpenHearsNothing) {
  make_folder(kFolder, kVictim, 0777);
  const Impostor impostor(kSocket);
  expect_refusals(kFolder + " may be written to by others");
  EXPECT_EQ(impostor.heard().connections, 0);
}

TEST_F(AnImpostor, ThatOnlyTheKernelCanTellHearsNothing) {
  make_folder(kFolder, kImpostor, 0755);
  const Impostor impostor(kSocket);
  // As if the user's own daemon had made the folder and the socket.
  ASSERT_EQ(::chown(kFolder.c_str(), kVictim, kVictim), 0);
  ASSERT_EQ(::chown(kSocket.c_str(), kVictim, kVictim), 0);
  expect_refusals("served by a process of user 23457");
  EXPECT_EQ(impostor.heard().bytes, 0);
}

TEST_F(AnImpostor, IsNoneWhereTheUserHasMadeTheFolder) {
  make_folder(kFolder, kVictim, 0700);
  const auto finished = as_victim(harness::beside("fairgv") + " run -- true");
  EXPECT_EQ(finished.status, 0) << (finished.lines.empty() ? "" : finished.lines[0]);
  EXPECT_EQ(as_victim(harness::beside("fairgv") + " stop").status, 0);
}

}  // namespace
}  // namespace fairgv::integration
