// Sockets that keep packets whole and hand over descriptors.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "runtime/base/socket.hpp"
#include "runtime/session/paths.hpp"
#include "runtime/session/turn.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::session {
namespace {

using harness::TemporaryFolder;

struct Pair : ::testing::Test {
  Pair() {
    auto pair = Socket::pair();
    EXPECT_TRUE(pair);
    near = std::move(pair->first);
    far = std::move(pair->second);
  }
  Socket near, far;
};

TEST_F(Pair, KeepsPacketsWholeAndInOrder) {
  ASSERT_TRUE(near.send("one"));
  ASSERT_TRUE(near.send("two"));
  EXPECT_EQ(far.receive()->text, "one");
  EXPECT_EQ(far.receive()->text, "two");
}

TEST_F(Pair, HandsOverADescriptorOfTheSameFile) {
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::write(file.get(), "hello", 5), 5);
  ASSERT_TRUE(near.send("here", {file.get()}));
  const auto packet = far.receive();
  ASSERT_TRUE(packet);
  ASSERT_EQ(packet->fds.size(), 1u);
  char text[6] = {};
  EXPECT_EQ(::pread(packet->fds[0].get(), text, 5, 0), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_NE(::fcntl(packet->fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(Pair, TakesNoDescriptorWhereItTakesTextOnly) {
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_TRUE(near.send("text"));
  EXPECT_EQ(far.receive_text()->text, "text");
  ASSERT_TRUE(near.send("here", {file.get()}));
  const UniqueFd before(::dup(file.get()));
  EXPECT_FALSE(far.receive_text());
  // The descriptor would have got the next number.
  EXPECT_EQ(::fcntl(before.get() + 1, F_GETFD), -1);
}

TEST_F(Pair, ThatRefusesDescriptorsIsSentNone) {
  far.refuse_descriptors();
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  if (near.send("here", {file.get()})) GTEST_SKIP() << "needs Linux 6.16";
  ASSERT_TRUE(near.send("text"));
  EXPECT_EQ(far.receive()->text, "text");
}

TEST_F(Pair, TellsWhoThePeerIs) {
  const auto peer = near.peer();
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_EQ(peer->uid, ::geteuid());
}

TEST_F(Pair, TellsThatThePeerHasHungUp) {
  far.close();
  EXPECT_EQ(near.receive()->kind, Packet::Kind::closed);
  EXPECT_FALSE(near.send("x"));  // and no SIGPIPE
}

TEST_F(Pair, NonBlockingFindsNothing) {
  ASSERT_TRUE(near.set_nonblocking());
  EXPECT_EQ(near.receive()->kind, Packet::Kind::nothing);
}

TEST_F(Pair, AnOfferNeverWaitsForRoom) {
  int taken = 0;
  while (near.offer(std::string(1000, 'x'))) ++taken;
  EXPECT_GT(taken, 0);
  EXPECT_FALSE(near.offer("no room"));
  for (int i = 0; i < taken; ++i) EXPECT_EQ(far.receive()->text.size(), 1000u);
  EXPECT_TRUE(near.offer("room again"));
  EXPECT_EQ(far.receive()->text, "room again");
  EXPECT_FALSE(near.offer(std::string(kMaxPacket + 1, 'x')));
  far.close();
  EXPECT_FALSE(near.offer("x"));  // and no SIGPIPE
}

TEST_F(Pair, RefusesWhatIsTooLong) {
  EXPECT_FALSE(near.send(std::string(kMaxPacket + 1, 'x')));
  const std::string long_packet(kMaxPacket + 1, 'x');
  ASSERT_EQ(::send(near.fd(), long_packet.data(), long_packet.size(), 0),
            static_cast<ssize_t>(long_packet.size()));
  EXPECT_FALSE(far.receive());
}

TEST_F(Pair, ClosesDescriptorsThatItDoesNotTake) {
  // Ten descriptors of a pipe's write end: too many. Once the receiver has refused them and the test has
  // closed its own, the read end sees the end.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  char byte = 'x';
  iovec part{&byte, 1};
  alignas(cmsghdr) unsigned char space[CMSG_SPACE(10 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  cmsghdr* const control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(10 * sizeof(int));
  for (std::size_t i = 0; i < 10; ++i)
    std::memcpy(CMSG_DATA(control) + i * sizeof(int), &ends[1], sizeof(int));
  ASSERT_EQ(::sendmsg(near.fd(), &message, 0), 1);
  EXPECT_FALSE(far.receive());
  ::close(ends[1]);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

TEST(Listener, TakesConnectionsAndRemovesItsPath) {
  const TemporaryFolder folder;
  const std::string path = folder / "s";
  {
    auto listener = Listener::bind(path, 0600);
    ASSERT_TRUE(listener) << listener.error().message;
    struct stat file {};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    EXPECT_FALSE(listener->accept().value());  // nobody there
    auto client = Socket::connect(path);
    ASSERT_TRUE(client) << client.error().message;
    const auto accepted = listener->accept();
    ASSERT_TRUE(accepted.value());
    ASSERT_TRUE(client->send("hi"));
    EXPECT_EQ(accepted->receive()->text, "hi");
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(Listener, ReplacesADeadSocketButNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder / "s";
  {
    auto dead = Listener::bind(path, 0600);
    ASSERT_TRUE(dead);
    // As if its process had been killed: the file stays.
    std::filesystem::rename(path, folder / "kept");
  }
  std::filesystem::rename(folder / "kept", path);
  int code = 0;
  EXPECT_FALSE(Socket::connect(path, &code));
  EXPECT_EQ(code, ECONNREFUSED);
  EXPECT_TRUE(Listener::bind(path, 0600));

  folder.write("precious", "text");
  EXPECT_FALSE(Listener::bind(folder / "precious", 0600));
  EXPECT_TRUE(std::filesystem::exists(folder / "precious"));
}

TEST(Socket, SaysWhyItCannotConnect) {
  const TemporaryFolder folder;
  int code = 0;
  const auto nobody = Socket::connect(folder / "none", &code);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(code, ENOENT);
  EXPECT_NE(nobody.error().message.find(folder / "none"), std::string::npos);
  const auto long_path = Socket::connect("/" + std::string(200, 'x'), &code);
  ASSERT_FALSE(long_path);
  EXPECT_EQ(code, ENAMETOOLONG);
}

TEST(Paths, APrivateFolderIsMadeAndMustBeOurs) {
  const TemporaryFolder folder;
  EXPECT_TRUE(ensure_private_directory(folder / "new"));
  EXPECT_TRUE(ensure_private_directory(folder / "new"));
  struct stat made {};
  ASSERT_EQ(::stat((folder / "new").c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);

  ::chmod((folder / "new").c_str(), 0777);
  EXPECT_FALSE(ensure_private_directory(folder / "new"));
  std::filesystem::create_directory_symlink("/tmp", folder / "link");
  EXPECT_FALSE(ensure_private_directory(folder / "link"));
}

TEST(Paths, TheSocketIsTheOneInTheEnvironment) {
  ::setenv("FAIRGV_SOCKET", "/some/where", 1);
  EXPECT_EQ(default_socket_path(), "/some/where");
  ::unsetenv("FAIRGV_SOCKET");
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  EXPECT_EQ(private_directory(), "/run/user/7/fairgv");
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(private_directory(), "/tmp/fairgv-" + std::to_string(::getuid()));
}

TEST(TurnMemory, IsOnePageForBothSides) {
  auto ours = TurnMemory::create();
  ASSERT_TRUE(ours) << ours.error().message;
  auto theirs = TurnMemory::attach(UniqueFd(::dup(ours->fd())));
  ASSERT_TRUE(theirs) << theirs.error().message;
  ours->page().devices[kMaxDevices - 1].slice_ns = 6;
  EXPECT_EQ(theirs->page().devices[kMaxDevices - 1].slice_ns, 6u);
  EXPECT_EQ(theirs->page().devices[0].state, 0u);
}

TEST(TurnMemory, RefusesAFileThatSomebodyCouldShrink) {
  UniqueFd file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(file.get(), sizeof(TurnPage)), 0);
  EXPECT_FALSE(TurnMemory::attach(std::move(file)));
  EXPECT_FALSE(TurnMemory::attach(UniqueFd()));
}

}  // namespace
}  // namespace fairgv::session
