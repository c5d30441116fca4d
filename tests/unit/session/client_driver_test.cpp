// Messages of the driver that the daemon hands to the client's session.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "tests/unit/session/client_fixture.hpp"

namespace fairgv::session {
namespace {

/// A client's session on a socket whose other end this test has, as the daemon does.
struct ClientSessionWithDaemon : ::testing::Test {
  ClientSessionWithDaemon() {
    auto ends = std::move(Socket::pair()).value();
    daemon = std::move(ends.first);
    session.emplace(ring::Segment::create(small_sizes()).value(), ends.second.release(), UniqueFd(), true);
  }
  Socket daemon;
  std::optional<ClientSession> session;
};

TEST_F(ClientSessionWithDaemon, MessagesOfTheDriverGoToStandardError) {
  ::testing::internal::CaptureStderr();
  std::thread answers([&] {
    const auto question = daemon.receive();
    ASSERT_TRUE(question);
    EXPECT_TRUE(daemon.send(to_text(DriverSays{{"a warning", "another"}, 0})));
    EXPECT_TRUE(daemon.send(to_text(DriverSays{{}, parse_hear(question->text)->number})));
  });
  session->hear_driver(std::chrono::seconds(60));
  answers.join();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "a warning\nanother\n");
  EXPECT_FALSE(session->lost());
}

TEST_F(ClientSessionWithDaemon, HearingTheDriverEndsIfTheDaemonDoesNotAnswer) {
  session->hear_driver(std::chrono::milliseconds(1));
  daemon.close();
  session->hear_driver(std::chrono::seconds(60));  // over at once: the session is lost
}

TEST_F(ClientSessionWithDaemon, AnyOtherMessageOfTheDaemonEndsTheSession) {
  EXPECT_TRUE(daemon.send("{}"));
  while (!session->lost()) std::this_thread::yield();
}

}  // namespace
}  // namespace fairgv::session
