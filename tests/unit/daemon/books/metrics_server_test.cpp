// HTTP as scrapers and other clients speak it, to the real server on real sockets.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <deque>

#include "runtime/daemon/reports/metrics_server.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Metrics : ::testing::Test {
  Metrics() : events(EventLoop::create().value()) {
    server.emplace(*events, MetricsServer::Pages{[this] { return page; }, [this] { return reason; }});
  }

  UniqueFd connect() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = ::htons(server->port());
    name.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const void* const address = &name;
    EXPECT_EQ(::connect(fd.get(), static_cast<const sockaddr*>(address), sizeof(name)), 0);
    return fd;
  }
  static void say(const UniqueFd& fd, const std::string& text) {
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  /// Runs the server until the peer has hung up. Returns the server's text.
  std::string hear(const UniqueFd& fd, std::size_t piece = 65'536) {
    std::string text;
    std::string part(piece, '\0');
    const auto give_up = Clock::now() + 30s;
    while (Clock::now() < give_up) {
      events->wait(Clock::now());
      server->expire(Clock::now());
      const ssize_t length = ::recv(fd.get(), part.data(), part.size(), MSG_DONTWAIT);
      if (length == 0) return text;
      if (length < 0 && errno != EAGAIN) return text + "(reset)";
      if (length > 0) text.append(part.data(), static_cast<std::size_t>(length));
      pollfd wait{fd.get(), POLLIN, 0};
      if (length < 0) ::poll(&wait, 1, 1);
    }
    return text + "(nothing more came)";
  }
  std::string ask(const std::string& request) {
    const auto fd = connect();
    say(fd, request);
    return hear(fd);
  }

  std::unique_ptr<EventLoop> events;
  std::string page = "up 1\n";
  std::optional<std::string> reason;
  std::optional<MetricsServer> server;
};

TEST_F(Metrics, AreToldWithLengthAndType) {
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  const std::string answer = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_NE(answer.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), std::string::npos);
  EXPECT_NE(answer.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\nup 1\n")) << answer;
  EXPECT_TRUE(ask("HEAD /metrics HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n"));
  EXPECT_TRUE(ask("GET /metrics?x=y HTTP/1.1\r\n\r\n").ends_with("up 1\n"));
}

TEST_F(Metrics, HealthAndReadinessAreStatusCodes) {
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  EXPECT_TRUE(ask("GET /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(ask("GET /readyz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
  reason = "the daemon restarts";
  const std::string answer = ask("GET /readyz HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_TRUE(answer.ends_with("the daemon restarts\n")) << answer;
}

TEST_F(Metrics, RequestsThatAreNoHttpOrForUnknownPagesAreRefused) {
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  EXPECT_TRUE(ask("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(ask("hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(ask("\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(ask("GET /metrics\r\n\r\n").starts_with("HTTP/1.1 400 "));
  const std::string answer = ask("GET /" + std::string(MetricsServer::kLongestRequest, 'a'));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 431 ")) << answer;
}

TEST_F(Metrics, APageThatIsLongerThanAnyBufferArrivesWhole) {
  page = std::string(std::size_t{32} << 20, 'x') + "\n";
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  const auto fd = connect();
  say(fd, "GET /metrics HTTP/1.1\r\n\r\n");
  const std::string answer = hear(fd, std::size_t{1} << 20);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 "));
  ASSERT_GT(answer.size(), page.size());
  EXPECT_TRUE(answer.ends_with(page));
}

TEST_F(Metrics, ASlowReaderIsDropped) {
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  EXPECT_FALSE(server->deadline());
  const auto silent = connect();
  while (!server->deadline()) events->wait(Clock::now() + 10s);
  server->expire(Clock::now() + MetricsServer::kPatience);
  EXPECT_FALSE(server->deadline());
  EXPECT_EQ(hear(silent), "");
}

TEST_F(Metrics, ClientsThatStayKeepNobodyOut) {
  page = std::string(std::size_t{8} << 20, 'x') + "\nup 1\n";  // more than a socket holds
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  for (const char* const said : {"", "GET /metrics HTTP/1.1\r\n", "GET /metrics HTTP/1.1\r\n\r\n"}) {
    std::deque<UniqueFd> crowd;
    for (std::size_t i = 0; i < 3 * MetricsServer::kMostClients; ++i) {
      crowd.push_back(connect());
      if (*said != 0) (void)::send(crowd.back().get(), said, std::string_view(said).size(), MSG_NOSIGNAL);
      events->wait(Clock::now());
    }
    EXPECT_TRUE(ask("GET /healthz HTTP/1.1\r\n\r\n").ends_with("ok\n"))
        << "beside clients that send: " << said;
  }
}

TEST_F(Metrics, RequestsThatComeAtOnceShareOnePage) {
  int made = 0;
  server.emplace(*events, MetricsServer::Pages{[&] {
                                                 ++made;
                                                 const auto until = Clock::now() + 20ms;
                                                 while (Clock::now() < until) {
                                                 }
                                                 return page;
                                               },
                                               [this] { return reason; }});
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  std::deque<UniqueFd> crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.push_back(connect());
    say(crowd.back(), "GET /metrics HTTP/1.1\r\n\r\n");
  }
  for (const auto& each : crowd) EXPECT_TRUE(hear(each).ends_with("up 1\n"));
  EXPECT_LT(made, 10) << "most wait while the first page is made, and get the next";
}

TEST_F(Metrics, AReaderThatLeavesInTheMiddleDoesNoHarm) {
  page = std::string(std::size_t{32} << 20, 'x');
  ASSERT_TRUE(server->listen("127.0.0.1:0", 0600));
  for (const char* const begun : {"", "GET /met", "GET /metrics HTTP/1.1\r\n\r\n"}) {
    const auto fd = connect();
    say(fd, begun);
    for (int i = 0; i < 3; ++i) events->wait(Clock::now());
  }
  page = "up 1\n";
  EXPECT_TRUE(ask("GET /metrics HTTP/1.1\r\n\r\n").ends_with("up 1\n"));
}

TEST_F(Metrics, AUnixSocketHasThePermissionsAndGoesAtTheEnd) {
  const harness::TemporaryFolder folder;
  const std::string path = folder / "m.sock";
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(server->listen("unix:" + path, 0660));
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0660));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    const void* const address = &name;
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(fd.get(), static_cast<const sockaddr*>(address), sizeof(name)), 0);
    say(fd, "GET /metrics HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(hear(fd).ends_with("up 1\n"));
    ASSERT_TRUE(server->listen("", 0));
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  folder.write("file", "precious");
  const auto refused = server->listen("unix:" + std::string(folder / "file"), 0600);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not a socket"), std::string::npos);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  const auto open = server->listen("unix:" + path, 0600);
  ASSERT_FALSE(open) << "somebody else can put another there";
  EXPECT_NE(open.error().message.find("may be written to by others"), std::string::npos);
}

TEST(MetricsAddress, IsOfTheLoopbackOrASocket) {
  EXPECT_EQ(parse_metrics_address("127.0.0.1:9477")->port, 9'477);
  EXPECT_EQ(parse_metrics_address("127.9.8.7:1")->host, "127.9.8.7");
  EXPECT_TRUE(parse_metrics_address("[::1]:9477")->ipv6);
  EXPECT_EQ(parse_metrics_address("unix:/run/m")->path, "/run/m");
  for (const char* const text : {"0.0.0.0:9477", "192.168.1.2:9477", "[::]:9477", "[2001:db8::1]:9477"}) {
    const auto refused = parse_metrics_address(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_NE(refused.error().message.find("loopback only"), std::string::npos) << refused.error().message;
  }
  for (const char* const text : {"", "9477", ":9477", "localhost:9477", "127.0.0.1", "127.0.0.1:", "::1:9477",
                                 "127.0.0.1:99999", "127.0.0.1:1x", "unix:", "unix:m", "[]:1", "127.1:1"}) {
    const auto refused = parse_metrics_address(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_NE(refused.error().message.find("127.0.0.1:9477"), std::string::npos) << refused.error().message;
  }
  EXPECT_FALSE(parse_metrics_address("unix:/" + std::string(200, 'x')));
}

}  // namespace
}  // namespace fairgv::daemon
