// Nobody keeps an administrator, or other users, from the daemon: not by many connections, not by silence,
// not by requests without end. Users are real: children of the test that have become these users. Their
// connections stay as long as the test holds them.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <fstream>

#include "runtime/daemon/limits/places.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/unit/daemon/access.hpp"

namespace fairgv::daemon {
namespace {

constexpr uid_t kFirst = 700'000;
constexpr gid_t kAdmins = 54'322;
constexpr const char* kTrace = R"({"command":"trace"})";

struct ReceptionTest : Access {
  /// So many users, who connect as often as the daemon lets them, and send this text.
  void flood(uid_t users, std::size_t each, const std::string& hello = "") {
    for (uid_t user = kFirst; user < kFirst + users; ++user) {
      for (Socket& made : connections_of(user, each, hello)) crowd.push_back(std::move(made));
    }
  }
  bool works_for_root() const { return ask(kLook).find("\"daemon\"") != std::string::npos; }
  /// A control connection of this user's that was let in.
  Socket let_in(uid_t user) {
    auto made = connections_of(user, 1, hello_of_control());
    EXPECT_NE(heard(made.at(0)).find("welcome"), std::string::npos) << user;
    return std::move(made[0]);
  }
  static std::string answer_of(const Socket& connection, const std::string& request) {
    EXPECT_TRUE(connection.send(request)) << "it was hung up on";
    const auto answer = control::receive_answer(connection);
    return answer ? answer.value() : "";
  }
  /// Waits for the daemon's message and its end of the connection. Returns the message.
  static std::string last_words(const Socket& connection) {
    std::string words, last;
    while (!(words = heard(connection)).empty()) last = words;
    return last;
  }
  std::vector<std::string> log_lines() const {
    std::ifstream file(folder / "log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  /// Makes the daemon write its log into a file.
  std::function<bool()> with_log() {
    log_level = "info";
    return [this] {
      const int file = ::open((folder / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
      return file >= 0 && ::dup2(file, STDOUT_FILENO) >= 0;
    };
  }
  /// Limits the open descriptors of the daemon's process.
  static std::function<bool()> with_descriptors(rlim_t most) {
    return [most] {
      const rlimit limit{most, most};
      return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
    };
  }

  std::vector<Socket> crowd;
};

TEST_F(ReceptionTest, ManyUsersWhoHoldAllTheirConnectionsKeepNobodyElseOut) {
  serve({});
  flood(20, 64);  // more than all places
  EXPECT_TRUE(works_for_root());
  EXPECT_TRUE(as(kFirst + 1'000, {}, [&] { return ask(kLook) != "refused"; }))
      << "a user with few connections keeps them";
}

TEST_F(ReceptionTest, UsersWhoseConnectionsHaveSaidHelloKeepNobodyElseOut) {
  Config config;
  config.admin_group = kAdmins;
  serve(config);
  flood(20, 64, hello_of_control());
  EXPECT_TRUE(works_for_root());
  EXPECT_TRUE(as(kFirst + 1'000, {kAdmins}, [&] { return ask(kChangePolicy) == control::success_text(); }));
  EXPECT_NE(last_words(crowd.at(0)).find("others needed the place"), std::string::npos)
      << "a user who must give way is told why";
}

TEST_F(ReceptionTest, ACrowdOfOneUsersProgramsIsLetInAtOnce) {
  use_sleeping_workers();
  serve({});
  flood(1, Config().user_session_limit, hello_of_tenant("crowd"));
  EXPECT_TRUE(works_for_root());
  for (const auto& program : crowd) {
    pollfd refusal{program.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&refusal, 1, 0), 0) << heard(program);
  }
}

TEST_F(ReceptionTest, PlacesAreKeptForAdministratorsWhereNobodyHasMoreThanOthers) {
  constexpr std::size_t kAll = 32;
  Config config;
  config.hello_timeout = std::chrono::hours(1);
  serve(config, with_descriptors(8 * kAll));
  flood(kAll, 1);
  const auto refused = connections_of(kFirst + 5'000, 1);
  EXPECT_NE(heard(refused.at(0)).find("all 32 places"), std::string::npos);
  std::vector<Socket> held;
  for (std::size_t i = 0; i < kept_for_administrators(kAll); ++i) held.push_back(let_in(0));
  EXPECT_TRUE(works_for_root()) << "a user's place is there even then";
}

TEST_F(ReceptionTest, ConnectionsThatSayNothingAreHungUpOn) {
  Config config;
  config.hello_timeout = std::chrono::milliseconds(200);
  serve(config);
  flood(1, 3);
  for (const auto& silent : crowd) {
    EXPECT_NE(last_words(silent).find("nothing was said in 0.2 s (hello_timeout_s)"), std::string::npos);
  }
}

TEST_F(ReceptionTest, ConnectionsThatAskForNothingAreHungUpOnAndHearWhy) {
  Config config;
  config.idle_timeout = std::chrono::milliseconds(300);
  serve(config);
  flood(1, 3, hello_of_control());
  for (const auto& idle : crowd) {
    EXPECT_NE(last_words(idle).find("nothing was asked for in 0.3 s (idle_timeout_s)"), std::string::npos);
  }
  EXPECT_TRUE(works_for_root());
}

TEST_F(ReceptionTest, ConnectionsThatAskNowAndThenStay) {
  Config config;
  config.idle_timeout = std::chrono::seconds(1);
  serve(config);
  auto busy = let_in(kFirst);
  auto idle = let_in(kFirst);
  // Until the idle connection is gone, the busy one asks again and again.
  pollfd end{idle.fd(), POLLIN, 0};
  auto asked = std::chrono::steady_clock::now();
  while (::poll(&end, 1, 50) == 0) {
    const auto now = std::chrono::steady_clock::now();
    if (!busy.send(kLook) || heard(busy).empty()) {
      const auto silent = std::chrono::steady_clock::now() - asked;
      ASSERT_GE(silent, config.idle_timeout) << "it was hung up on before its time";
      busy = let_in(kFirst);  // the test itself was held up
    }
    asked = now;
  }
}

TEST_F(ReceptionTest, ConnectionsStayForEverWhereTheConfigurationSaysSo) {
  Config config;
  config.hello_timeout = std::chrono::seconds(2);
  config.idle_timeout = std::chrono::seconds(0);
  serve(config);
  const auto idle = let_in(kFirst);
  flood(1, 1);  // silent, and gone later than the idle connection would be
  EXPECT_FALSE(last_words(crowd.at(0)).empty());
  EXPECT_FALSE(answer_of(idle, kLook).empty());
}

TEST_F(ReceptionTest, ConnectionsThatKeepADaemonMayBeSilent) {
  // As `fairgv run` does: without this connection the daemon would end.
  Config config;
  config.hello_timeout = std::chrono::seconds(1);
  config.idle_timeout = std::chrono::milliseconds(100);
  config.exit_idle = std::chrono::hours(1);
  serve(config);
  const auto idle = let_in(kFirst);
  flood(1, 1);  // silent, and gone later than the idle connection would be
  EXPECT_FALSE(last_words(crowd.at(0)).empty());
  EXPECT_FALSE(answer_of(idle, kLook).empty());
}

TEST_F(ReceptionTest, ConnectionsOfAdministratorsMayBeSilent) {
  Config config;
  config.hello_timeout = std::chrono::seconds(1);
  config.idle_timeout = std::chrono::milliseconds(100);
  serve(config);
  const auto idle = let_in(0);
  flood(1, 1);
  EXPECT_FALSE(last_words(crowd.at(0)).empty());
  EXPECT_FALSE(answer_of(idle, kLook).empty());
}

TEST_F(ReceptionTest, RequestsWithoutEndAreAnsweredBetweenAnAdministratorsAndNotBefore) {
  serve({});
  // Each connection has a hundred requests in its socket, and reads no answer.
  flood(10, 64, hello_of_control());
  for (const auto& connection : crowd) {
    for (int i = 0; i < 100 && connection.offer(kLook); ++i) {
    }
  }
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(works_for_root());
}

TEST_F(ReceptionTest, AConnectionThatReadsNoAnswersIsClosed) {
  serve({});
  const auto connection = let_in(kFirst);
  // Until the daemon hangs up.
  while (connection.send(kLook)) {
  }
  EXPECT_TRUE(works_for_root());
}

TEST_F(ReceptionTest, ThousandsOfChangesAreFewLinesOfTheLog) {
  use_sleeping_workers();
  serve({}, with_log());
  const auto program = connections_of(kFirst, 1, hello_of_tenant("noisy"));
  ASSERT_TRUE(works_for_root());
  const auto connection = let_in(kFirst);
  // All of them before the time for the worker's start is over.
  for (int i = 0; i < harness::rounds(10'000); ++i) {
    const std::string weight = std::to_string(1 + i % 7);
    ASSERT_EQ(answer_of(connection, R"({"command":"set","tenant":"noisy","weight":)" + weight + "}"),
              control::success_text());
  }
  ASSERT_EQ(ask(R"({"command":"set","tenant":"noisy","weight":9})"), control::success_text());
  const auto lines = log_lines();
  EXPECT_LT(lines.size(), 1'000U) << "so many at once, and some more for each second that it took";
  EXPECT_NE(lines.back().find("weight 9, set by user 0"), std::string::npos) << "root's is not left out";
}

TEST_F(ReceptionTest, RefusalsWithoutEndAreFewLinesOfTheLogToo) {
  serve({}, with_log());
  for (int i = 0; i < 50; ++i) flood(1, 20, "not a hello " + std::to_string(i));
  EXPECT_TRUE(works_for_root());
  EXPECT_LT(log_lines().size(), 500U);
}

TEST_F(ReceptionTest, AUsersTraceIsNobodysForEver) {
  serve({});
  const auto alice = let_in(kFirst);
  const auto bob = let_in(kFirst + 1);
  EXPECT_NE(answer_of(alice, kTrace).find("\"ok\":true"), std::string::npos);
  EXPECT_NE(answer_of(bob, kTrace).find("somebody else traces"), std::string::npos);
  EXPECT_NE(ask(kTrace).find("\"ok\":true"), std::string::npos) << "an administrator need not wait";
  EXPECT_NE(answer_of(alice, kTrace).find("an administrator traces now"), std::string::npos)
      << "a user who must give way is told why";
  EXPECT_NE(answer_of(bob, kTrace).find("\"ok\":true"), std::string::npos)
      << "root's ended with its connection";
}

/// Connected to a socket of streams.
UniqueFd stream_to(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  const void* const address = &name;
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool connected = ::connect(fd.get(), static_cast<const sockaddr*>(address), sizeof(name)) == 0;
  return connected ? std::move(fd) : UniqueFd();
}

TEST_F(ReceptionTest, MetricsClientsThatStayKeepNoScraperOut) {
  Config config;
  const std::string place = folder / "metrics.sock";
  config.metrics.listen = "unix:" + place;
  serve(config);
  ASSERT_TRUE(works_for_root()) << "it serves metrics when this is answered";
  std::vector<UniqueFd> held;
  for (uid_t user = kFirst; user < kFirst + 5; ++user) {
    for (auto& each : harness::descriptors_of(user, 100, [&] { return stream_to(place); })) {
      held.push_back(std::move(each));
    }
  }
  ASSERT_EQ(held.size(), 500U);
  const auto scraper = stream_to(place);
  const std::string request = "GET /metrics HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(scraper.get(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::array<char, 4'096> answer{};
  EXPECT_GT(::recv(scraper.get(), answer.data(), answer.size() - 1, 0), 0);
  EXPECT_NE(std::string(answer.data()).find("200 OK"), std::string::npos);
}

TEST_F(ReceptionTest, AnAdministratorFindsADescriptorWhereThereAreFew) {
  use_sleeping_workers();
  serve({}, with_descriptors(256));
  flood(3, 64);
  std::vector<Socket> programs;
  for (uid_t user = kFirst + 100; user < kFirst + 110; ++user) {
    for (auto& each : connections_of(user, 10, hello_of_tenant(std::nullopt)))
      programs.push_back(std::move(each));
  }
  EXPECT_TRUE(works_for_root());
  EXPECT_NE(last_words(programs.back()).find("as it has descriptors for"), std::string::npos);
  const auto roots = connections_of(0, 1, hello_of_tenant("root"));
  EXPECT_TRUE(works_for_root());
  pollfd refusal{roots.at(0).fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&refusal, 1, 0), 0) << "there is a place for a program of root's";
}

}  // namespace
}  // namespace fairgv::daemon
