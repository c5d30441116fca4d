// fairgv-vgpu as a process: its start and its end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/base/memory_file.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/client/client.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/session/worker_options.hpp"

namespace fairgv::vgpu {
namespace {

class WorkerProcess : public ::testing::Test {
 protected:
  void start(const std::vector<std::string>& arguments) {
    std::vector<char*> argv{const_cast<char*>(FAIRGV_VGPU)};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid = ::fork();
    if (pid != 0) return;
    for (const int fd : {segment_fd.get(), turns.fd(), workers_end.fd(), knock_write.get(), options.get()}) {
      ::fcntl(fd, F_SETFD, 0);
    }
    ::execv(FAIRGV_VGPU, argv.data());
    ::_exit(127);
  }
  void start_with(const session::WorkerOptions& told) {
    options = std::move(session::write_worker_options(told)).value();
    start({"--session", "1", "--options-fd", std::to_string(options.get())});
  }
  void start_as_the_daemon_does() {
    session::WorkerOptions told;
    told.session = 1;
    told.descriptors = {segment_fd.get(), turns.fd(), workers_end.fd(), -1, knock_write.get()};
    start_with(told);
    workers_end.close();
  }
  /// The worker's first message.
  std::string first_message() {
    auto packet = daemons_end.receive();
    return packet ? packet->text : packet.error().message;
  }
  int exit_status() {
    int status = -1;
    ::waitpid(pid, &status, 0);
    pid = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  void SetUp() override {
    auto ends = std::move(Socket::pair()).value();
    daemons_end = std::move(ends.first);
    workers_end = std::move(ends.second);
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC | O_NONBLOCK), 0);
    knock_read.reset(pipe[0]);
    knock_write.reset(pipe[1]);
  }
  void TearDown() override {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    exit_status();
  }

  ring::Segment segment = std::move(ring::Segment::create()).value();
  UniqueFd segment_fd{::fcntl(segment.fd(), F_DUPFD_CLOEXEC, 0)};
  session::TurnMemory turns = std::move(session::TurnMemory::create()).value();
  Socket daemons_end, workers_end;
  UniqueFd knock_read, knock_write, options;
  pid_t pid = -1;
};

TEST_F(WorkerProcess, SaysThatItIsReadyAndServesUntilTheDaemonIsGone) {
  start_as_the_daemon_does();
  const auto message = session::parse_worker_message(first_message());
  ASSERT_TRUE(message) << message.error().message;
  const auto* ready = std::get_if<session::WorkerReady>(&message.value());
  ASSERT_NE(ready, nullptr);
  EXPECT_FALSE(ready->devices.empty());
  {
    session::ClientSession client(std::move(ring::Segment::attach(UniqueFd(::dup(segment.fd())))).value(),
                                  {});
    const auto topology = client.call(wire::GetTopology{});
    ASSERT_TRUE(topology);
    EXPECT_EQ(topology->devices.size(), ready->devices.size());
    daemons_end.close();
    EXPECT_EQ(exit_status(), 0);
  }
}

TEST_F(WorkerProcess, KnocksWhenItWantsATurn) {
  start_as_the_daemon_does();
  first_message();
  session::ClientSession client(std::move(ring::Segment::attach(UniqueFd(::dup(segment.fd())))).value(), {});
  const auto context = client.new_object();
  const auto queue = client.new_object();
  const auto buffer = client.new_object();
  const auto end = client.events().acquire();
  const wire::DeviceIndex devices[] = {0};
  const std::uint32_t pattern = 0;
  client.send(wire::CreateContext{context, devices});
  client.send(wire::CreateQueue{queue, context, 0, 0});
  client.send(wire::CreateBuffer{buffer, context, 1, 4096, {}});
  client.send(
      wire::EnqueueFillBuffer{{queue, end, {}}, buffer, 0, 4096, std::as_bytes(std::span(&pattern, 1))});

  pollfd readable{knock_read.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
  std::uint64_t knocks = 0;
  ASSERT_EQ(::read(knock_read.get(), &knocks, sizeof(knocks)), static_cast<ssize_t>(sizeof(knocks)));
  EXPECT_EQ(knocks, 1U);
  session::DeviceTurn& turn = turns.page().devices[0];
  EXPECT_EQ(turn.state, static_cast<std::uint32_t>(session::TurnState::wanting));
  turn.state = static_cast<std::uint32_t>(session::TurnState::held);
  ring::ring(segment.header().worker_bell);
  EXPECT_EQ(client.wait(end), session::kComplete);
  // The client hears of the completion first; the worker closes its books when the turn is no longer in use.
  while (turn.state == static_cast<std::uint32_t>(session::TurnState::busy)) std::this_thread::yield();
  EXPECT_EQ(turn.commands, 1U);
}

TEST_F(WorkerProcess, EndsWithStatus3WhenTheFrontEndBreaksTheProtocol) {
  start_as_the_daemon_does();
  first_message();
  session::ClientSession client(std::move(ring::Segment::attach(UniqueFd(::dup(segment.fd())))).value(), {});
  client.send(wire::FlushQueue{wire::ObjectId::make(5, 5)});
  EXPECT_EQ(exit_status(), 3);
  EXPECT_TRUE(client.lost());
}

TEST_F(WorkerProcess, EndsWithStatus3WhenTheRequestRingIsCorrupt) {
  start_as_the_daemon_does();
  first_message();
  segment.requests().header->produced.store(std::uint64_t{1} << 40);
  ring::ring(segment.header().worker_bell);
  EXPECT_EQ(exit_status(), 3);
  EXPECT_TRUE(segment.closed());
}

TEST_F(WorkerProcess, EndsWhenTheSessionIsClosed) {
  start_as_the_daemon_does();
  first_message();
  segment.close();
  EXPECT_EQ(exit_status(), 0);
}

TEST_F(WorkerProcess, RefusesASegmentThatIsNoneAndSaysWhy) {
  segment_fd.reset(::memfd_create("no segment", MFD_CLOEXEC));
  start_as_the_daemon_does();
  const auto message = session::parse_worker_message(first_message());
  ASSERT_TRUE(message) << message.error().message;
  const auto* failed = std::get_if<session::WorkerFailed>(&message.value());
  ASSERT_NE(failed, nullptr);
  EXPECT_NE(failed->reason.find("segment"), std::string::npos);
  EXPECT_EQ(exit_status(), 1);
}

TEST_F(WorkerProcess, RefusesBadArgumentsWithStatus2) {
  start({"--session", "1"});
  EXPECT_EQ(exit_status(), 2);
  start({"--session", "x", "--options-fd", "3"});
  EXPECT_EQ(exit_status(), 2);
  options = std::move(memory_file("{}", "no options")).value();
  start({"--session", "1", "--options-fd", std::to_string(options.get())});
  EXPECT_EQ(exit_status(), 2);
}

}  // namespace
}  // namespace fairgv::vgpu
