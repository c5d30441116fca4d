// Facts about the process behind a socket belong to that process, also when it has ended.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include "runtime/daemon/tenants/peers/peer_process.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

/// A child that connects and stays until it is killed, and our end of the connection.
struct Peer {
  explicit Peer(const harness::TemporaryFolder& folder) {
    auto listener = Listener::bind(folder / "s", 0600);
    EXPECT_TRUE(listener);
    pid = ::fork();
    if (pid == 0) {
      const auto connected = Socket::connect(folder / "s");
      for (;;) ::pause();
    }
    for (;;) {
      auto accepted = listener->accept();
      if (!accepted) break;
      socket = std::move(accepted).value();
      if (socket) break;
      ::usleep(1'000);
    }
    if (socket) credentials = socket.peer().value();
  }
  ~Peer() { end(); }
  void end() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = 0;
  }

  pid_t pid = 0;
  Socket socket;
  PeerCredentials credentials;
};

TEST(PeerProcess, ItsControlGroupIsTheOneThatProcShows) {
  const harness::TemporaryFolder folder;
  const Peer peer(folder);
  ASSERT_TRUE(peer.socket);
  EXPECT_EQ(peer.credentials.pid, peer.pid);
  std::ostringstream text;
  text << std::ifstream("/proc/" + std::to_string(peer.pid) + "/cgroup").rdbuf();
  const auto expected = parse_control_group(text.str());
  const auto found = control_group_of(peer.socket.fd(), peer.credentials);
  ASSERT_EQ(static_cast<bool>(found), static_cast<bool>(expected));
  if (expected) {
    EXPECT_EQ(found.value(), expected.value());
  }
}

TEST(PeerProcess, OfOneThatHasEndedNothingIsSaid) {
  const harness::TemporaryFolder folder;
  Peer peer(folder);
  ASSERT_TRUE(peer.socket);
  peer.end();
  const auto found = control_group_of(peer.socket.fd(), peer.credentials);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("has ended"), std::string::npos) << found.error().message;
}

TEST(PeerProcess, OfOneThatHasEndedAndIsNotReapedNothingIsSaid) {
  const harness::TemporaryFolder folder;
  Peer peer(folder);
  ASSERT_TRUE(peer.socket);
  ::kill(peer.pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(peer.pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(control_group_of(peer.socket.fd(), peer.credentials));
}

TEST(PeerProcess, OutsideOfWhatTheDaemonSeesNothingIsSaid) {
  const harness::TemporaryFolder folder;
  const Peer peer(folder);
  EXPECT_FALSE(control_group_of(peer.socket.fd(), {0, 0, 0}));
}

TEST(PeerProcess, GroupsAndUserAreTheSockets) {
  const harness::TemporaryFolder folder;
  const Peer peer(folder);
  const Person person = person_behind(peer.socket.fd(), peer.credentials, peer.credentials.uid, false);
  EXPECT_EQ(person.uid, ::geteuid());
  EXPECT_NE(std::find(person.groups.begin(), person.groups.end(), ::getegid()), person.groups.end());
  EXPECT_FALSE(person.user_tenant.empty());
  EXPECT_FALSE(person.cgroup) << "it was not asked for";
}

}  // namespace
}  // namespace fairgv::daemon
