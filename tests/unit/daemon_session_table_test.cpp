// Sessions whose worker is a script: what it says on its channel, and what becomes of the session.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/daemon/report.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/daemon_log.hpp"

namespace fairgv::daemon {
namespace {

using session::LongCommand;
using session::WorkerReady;

const std::string kReady = to_text(WorkerReady{{{"Portable Computing Language", "cpu", 2}}});

LongCommand reduce(std::uint64_t count) {
  return {0, "reduce", "it uses pipes", count, 4'210'000'000, 4'210'000'000 * count};
}

struct SessionTableTest : ::testing::Test {
  /// Begins bob's session with a worker that says these packets, and then does this.
  void start(const std::vector<std::string>& packets, const std::string& then = "exec sleep 1000") {
    std::string script = "#!/bin/bash\nwhile [ \"$1\" != --daemon-fd ]; do shift; done\nchannel=$2\n";
    for (const std::string& packet : packets) script += "printf %s '" + packet + "' >&$channel\n";
    script += "while [ \"$1\" != --ledger-fd ]; do shift; done\nledger=$2\n" + then;
    folder.write("worker", script + "\n");
    std::filesystem::permissions(folder / "worker", std::filesystem::perms::owner_all);
    auto ends = std::move(session::Socket::pair()).value();
    client = std::move(ends.first);
    session::Hello hello;
    hello.tenant = "bob";
    const auto started = table.start(hello, client.peer().value(), ends.second);
    ASSERT_TRUE(started) << started.error().message;
  }

  void run_until(const std::function<bool()>& so) {
    // The bound only keeps a broken daemon from hanging the test.
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!so() && std::chrono::steady_clock::now() < give_up) {
      events->wait(std::min(give_up, table.deadline().value_or(give_up)));
      table.expire(std::chrono::steady_clock::now());
    }
    ASSERT_TRUE(so());
  }

  std::vector<LongCommand> reported() {
    std::vector<LongCommand> commands;
    for (const auto& tenant : make_report(host, table, "socket", {}).tenants) {
      for (const auto& each : tenant.sessions) commands = each.long_commands;
    }
    return commands;
  }

  TenantCounts counts() { return host.tenants.all().at(0).counts; }

  void TearDown() override {
    table.end_all("the test ends");
    run_until([&] { return table.empty(); });
  }

  Log log;
  harness::TemporaryFolder folder;
  std::unique_ptr<EventLoop> events = std::move(EventLoop::create()).value();
  std::unique_ptr<DispatchLoop> dispatch = std::move(DispatchLoop::start({})).value();
  Host host{{}, *events, *dispatch, TenantRegistry({}), folder / "worker", folder.path(), {}};
  SessionTable table{host};
  session::Socket client;
};

TEST_F(SessionTableTest, ALongCommandIsReportedWithItsSessionAndLoggedOnce) {
  start({kReady, to_text(reduce(1)), to_text(reduce(2)), to_text(reduce(3))});
  run_until([&] { return reported() == std::vector{reduce(3)}; });
  EXPECT_EQ(log.count("session 1 of tenant bob: kernel reduce held device 0 for 4210.0 ms and cannot be "
                      "sliced: it uses pipes"),
            1u);
  EXPECT_EQ(log.count("ends"), 0u);
  EXPECT_EQ(counts().sessions, 1u);
  EXPECT_EQ(counts().violations, 0u);
}

TEST_F(SessionTableTest, TheLastWordsOfAWorkerAreLoggedBeforeItsEnd) {
  start({kReady}, "echo 'the driver has lost its device' >&2; kill -9 $$; exit 3");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("session 1 of tenant bob: its worker says: the driver has lost its device\n"), 1u);
  EXPECT_EQ(
      log.count("its worker says: the driver has lost its device\nsession 1 of tenant bob ends: its worker "),
      1u);
}

TEST_F(SessionTableTest, ASessionIsThereUntilNothingOfItsWorkerIsLeft) {
  start({kReady}, "(sleep 1000 &); exit 3");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("session 1 of tenant bob ends: its worker ended with status 3"), 1u);
}

TEST_F(SessionTableTest, AWorkerThatIsNotReadyHasNoLongCommands) {
  start({to_text(reduce(1))});
  run_until([&] { return table.empty(); });
  const auto answer = client.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, to_text(session::Refused{"its worker spoke out of turn"}));
  EXPECT_EQ(counts().violations, 1u);
  EXPECT_EQ(counts().crashes, 0u);
}

TEST_F(SessionTableTest, AUserHasOnlySoManySessionsAndOthersHaveTheirs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root serves other users";
  start({kReady});
  host.config.user_session_limit = 2;
  const auto join = [&](uid_t uid) {
    auto ends = std::move(session::Socket::pair()).value();
    return table.start({}, {::getpid(), uid, static_cast<gid_t>(uid)}, ends.second);
  };
  EXPECT_TRUE(join(12'345) && join(12'345));
  const auto third = join(12'345);
  ASSERT_FALSE(third);
  EXPECT_NE(third.error().message.find("user 12345 already has 2 sessions"), std::string::npos)
      << third.error().message;
  EXPECT_TRUE(join(12'346));
  EXPECT_TRUE(join(0) && join(0) && join(0));
}

TEST_F(SessionTableTest, AWorkerThatCannotBeCagedIsRefusedInOneLine) {
  host.config.worker.cache = "/proc/no-place-for-caches";
  auto ends = std::move(session::Socket::pair()).value();
  const auto started = table.start({}, ends.first.peer().value(), ends.second);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message.find("cannot make the folder /proc/no-place-for-caches"), 0u)
      << started.error().message;
  EXPECT_TRUE(table.empty());
}

TEST_F(SessionTableTest, AReasonIsHeardAlsoFromAWorkerThatIsGone) {
  start({kReady, to_text(session::WorkerFailed{"its program broke the protocol: ?"})}, "exit 3");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("ends: its program broke the protocol: ?"), 1u);
  EXPECT_EQ(log.count("ends: "), 1u);
}

struct Offence {
  const char* name;
  std::string packet;
  const char* reason;
};

struct SessionTableOffence : SessionTableTest, ::testing::WithParamInterface<Offence> {};

TEST_P(SessionTableOffence, OfARunningWorkerEndsItsSession) {
  start({kReady, GetParam().packet});
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count(std::string("ends: ") + GetParam().reason), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Each, SessionTableOffence,
    ::testing::Values(Offence{"ReadyAgain", kReady, "its worker spoke out of turn"},
                      Offence{
                          "FailedAfterAll",
                          to_text(session::WorkerFailed{"its program broke the protocol: Ping: \n\x1b[2J"}),
                          "its program broke the protocol: Ping: ??[2J"},
                      Offence{"NoSuchDevice", to_text(LongCommand{1, "reduce", "it uses pipes", 1, 1, 1}),
                              "its worker told of device 1 of 1"},
                      Offence{"Untruth", to_text(LongCommand{0, "reduce", "it uses pipes", 1, 2, 1}),
                              "the worker's message has"},
                      Offence{"Nonsense", "{", "the worker's message is not JSON"}),
    [](const auto& test) { return std::string(test.param.name); });

/// Shell words that send a packet to the ledger, once the session runs and `folder`/go says so.
std::string about_memory(const std::string& packet) {
  std::string escaped;
  for (const char byte : packet) escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return "printf '" + escaped + "' >&$ledger\n";
}

struct MemoryOffence : SessionTableTest, ::testing::WithParamInterface<Offence> {};

TEST_P(MemoryOffence, OfARunningWorkerEndsItsSession) {
  start({kReady}, "while [ ! -e " + (folder / "go").string() + " ]; do sleep 0.01; done\n" +
                      about_memory(GetParam().packet));
  run_until([&] { return table.all().begin()->second->stage == Session::Stage::running; });
  folder.write("go", "");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count(std::string("ends: ") + GetParam().reason), 1u);
  EXPECT_EQ(host.memory.ledger().charged(0), 0);
}

using Kind = session::LedgerRequest::Kind;

INSTANTIATE_TEST_SUITE_P(
    Each, MemoryOffence,
    ::testing::Values(Offence{"Nonsense", "{", "its worker sent 1 bytes about memory"},
                      Offence{"NoSuchDevice", to_packet(session::LedgerRequest{Kind::charge, 0b11, 1, 1}),
                              "its worker asked about"},
                      Offence{"NoDevice", to_packet(session::LedgerRequest{Kind::charge, 0, 1, 1}),
                              "its worker asked about"},
                      Offence{"NoSuchKind", to_packet(session::LedgerRequest{Kind{9}, 1, 1, 1}),
                              "its worker asked for memory in a way"},
                      Offence{"LessThanNeeded", to_packet(session::LedgerRequest{Kind::charge, 1, 2, 1}),
                              "its worker asked for memory in a way"},
                      Offence{"NothingBack", to_packet(session::LedgerRequest{Kind::give_back, 1, 0, 0}),
                              "its worker asked for memory in a way"},
                      Offence{"MoreBackThanGranted",
                              to_packet(session::LedgerRequest{Kind::give_back, 1, 1, 0}),
                              "its worker gave back more memory than it was granted"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(SessionTableTest, AWorkerThatAsksForMemoryBeforeItIsReadyIsEnded) {
  start({}, about_memory(to_packet(session::LedgerRequest{Kind::charge, 1, 1, 1})));
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("ends: its worker spoke out of turn"), 1u);
}

TEST_F(SessionTableTest, AWorkerThatNeverReadsItsAnswersIsEnded) {
  const std::string look = about_memory(to_packet(session::LedgerRequest{Kind::look, 1, 0, 0}));
  start({kReady}, "while [ ! -e " + (folder / "go").string() + " ]; do sleep 0.01; done\nwhile true; do\n" +
                      look + "done\n");
  run_until([&] { return table.all().begin()->second->stage == Session::Stage::running; });
  folder.write("go", "");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("ends: its worker does not listen"), 1u);
}

}  // namespace
}  // namespace fairgv::daemon
