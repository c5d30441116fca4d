// Sessions whose worker is a script: what it says on its channel, and what becomes of the session.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>

#include "runtime/daemon/interventions.hpp"
#include "runtime/daemon/reports/report.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "tests/harness/temporary_folder.hpp"
#include "tests/unit/daemon/log.hpp"

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
    auto ends = std::move(Socket::pair()).value();
    client = std::move(ends.first);
    session::Hello hello;
    hello.tenant = joins;
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
  Socket client;
  std::string joins = "bob";  // the tenant of sessions that start
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

TEST_F(SessionTableTest, AProgramGetsWhatItsDriverSaysWhenItAsksAndMayNotAskForEver) {
  start({}, "echo 'a warning' >&2; printf %s '" + kReady + "' >&$channel; exec sleep 1000");
  run_until(
      [&] { return !table.all().empty() && table.all().begin()->second->stage == Session::Stage::running; });
  const auto welcome = client.receive();
  ASSERT_TRUE(welcome);
  EXPECT_NE(std::get<session::Welcome>(session::parse_hello_answer(welcome->text).value()).features &
                session::kDriverMessages,
            0u);
  ASSERT_TRUE(client.send(to_text(session::Hear{7})));
  std::vector<std::string> said;
  std::uint64_t answered = 0;
  run_until([&] {
    if (answered != 0) return true;
    pollfd there{client.fd(), POLLIN, 0};
    if (::poll(&there, 1, 0) != 1) return false;
    const auto message = session::parse_driver_says(client.receive()->text);
    said.insert(said.end(), message->lines.begin(), message->lines.end());
    answered = message->answers;
    return answered != 0;
  });
  EXPECT_EQ(said, std::vector<std::string>{"a warning"});
  EXPECT_EQ(answered, 7u);
  for (std::uint64_t number = 1; number < 60; ++number) {
    if (!client.offer(to_text(session::Hear{number}))) break;
  }
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("session 1 of tenant bob ends: its program ended"), 1u);
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
    auto ends = std::move(Socket::pair()).value();
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

TEST_F(SessionTableTest, ASessionAfterKillsMayNotRunAtOnceAndThenMay) {
  const std::string nonsense = "{\"worker\": \"nonsense\"}";
  for (int kill = 0; kill < 2; ++kill) {
    start({kReady, nonsense});
    run_until([&] { return table.empty(); });
  }
  EXPECT_EQ(counts().violations, 2u);
  start({kReady});
  run_until([&] { return table.settled() && !table.empty(); });
  const Session& session = *table.all().begin()->second;
  EXPECT_TRUE(table.is_suspended(session));
  EXPECT_EQ(log.count("session 3 of tenant bob may run in"), 1u);
  ASSERT_TRUE(session.held_back_until);
  ASSERT_TRUE(table.deadline());
  EXPECT_LE(*table.deadline(), *session.held_back_until) << "somebody wakes it";
  table.expire(*session.held_back_until - std::chrono::milliseconds(1));
  EXPECT_TRUE(table.is_suspended(session));
  table.expire(*session.held_back_until);
  EXPECT_FALSE(table.is_suspended(session));
}

TEST_F(SessionTableTest, AKillHoldsNoSessionBackThatRunsAlready) {
  start({kReady});
  run_until([&] { return table.settled(); });
  Socket running = std::move(client);
  for (int kill = 0; kill < 3; ++kill) {
    start({kReady, "{}"});
    run_until([&] { return table.all().size() == 1; });
  }
  EXPECT_FALSE(table.is_suspended(*table.all().begin()->second));
}

struct DeviceViews : SessionTableTest {
  /// A session beside the others, whose worker sees these and says these packets.
  void join(const std::vector<session::DeviceDescription>& devices, std::vector<std::string> packets = {}) {
    const std::size_t sessions = table.all().size();
    packets.insert(packets.begin(), to_text(WorkerReady{devices}));
    start(packets);
    clients.push_back(std::move(client));
    run_until([&] { return table.all().size() == sessions + 1 && table.settled(); });
  }
  std::vector<std::string> known() const {
    std::vector<std::string> names;
    for (const auto& device : host.devices) names.push_back(device.name);
    return names;
  }
  std::vector<std::uint32_t> seen_by_last() const { return table.all().rbegin()->second->devices.all(); }

  using Names = std::vector<std::string>;
  using Numbers = std::vector<std::uint32_t>;
  const session::DeviceDescription cpu{"Portable Computing Language", "cpu", 2, 1'000, ""};
  const session::DeviceDescription gpu{"Vendor", "gpu", 4, 2'000, "pci 1"};
  const session::DeviceDescription other_gpu{"Vendor", "gpu", 4, 3'000, "pci 2"};
  std::vector<Socket> clients;
};

TEST_F(DeviceViews, AWorkerThatSeesOtherDevicesBeginsBesideTheOthers) {
  join({cpu});
  join({gpu, cpu});
  EXPECT_EQ(known(), Names({"cpu", "gpu"}));
  EXPECT_EQ(seen_by_last(), Numbers({1, 0}));
  join({other_gpu});
  EXPECT_EQ(seen_by_last(), Numbers({2}));
  join({gpu});
  EXPECT_EQ(seen_by_last(), Numbers({1}));
  EXPECT_EQ(table.all().size(), 4U);
  EXPECT_EQ(host.dispatch.looks().devices().size(), 3U);
}

TEST_F(DeviceViews, WhatAWorkerSaysOfItsDevicesIsOfTheHosts) {
  join({cpu});
  join({gpu, cpu}, {to_text(reduce(1))});
  run_until([&] { return !reported().empty(); });
  EXPECT_EQ(reported().at(0).device, 1U) << "its first device is the host's second";
  const auto welcome = session::parse_hello_answer(clients.back().receive()->text);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(std::get<session::Welcome>(welcome.value()).memory_limits,
            (std::vector<std::uint64_t>{2'000, 1'000}));
}

TEST_F(DeviceViews, AWorkerThatTellsOfADeviceThatItDoesNotSeeEndsItsSession) {
  join({cpu, gpu});
  LongCommand command = reduce(1);
  command.device = 1;
  start({to_text(WorkerReady{{cpu}}), to_text(command)});
  run_until([&] { return table.all().size() == 1 && table.settled(); });
  EXPECT_EQ(log.count("its worker told of device 1 of 1"), 1U);
}

TEST_F(DeviceViews, NobodysDebtIsForgottenBecauseAnotherSeesOtherDevices) {
  const auto wants_the_device = [&](const Session& session) {
    session::DeviceTurn& turn = const_cast<Session&>(session).turns.page().devices[0];
    turn.state.store(static_cast<std::uint32_t>(session::TurnState::wanting), std::memory_order_release);
    EXPECT_TRUE(session::knock(session.knock.get()));
    run_until([&] {
      events->wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
      return dispatch->looks().devices().at(0).holder == session.id;
    });
  };
  join({cpu});
  joins = "carol";
  join({cpu});
  const Session& bobs = *table.all().begin()->second;
  const Session& carols = *table.all().rbegin()->second;
  wants_the_device(bobs);
  wants_the_device(carols);
  // Bob is charged for processors that he uses without a turn, and leaves; carol, who has used none, after
  // him.
  dispatch->account_processors({{bobs.id, std::chrono::seconds(100)}});
  const TenantId debtor = bobs.tenant;
  for (Socket& each : clients) {
    const std::size_t left = table.all().size() - 1;
    each.close();
    run_until([&] { return table.all().size() == left; });
  }
  EXPECT_FALSE(dispatch->looks().may_forget(debtor));
  join({gpu});
  EXPECT_EQ(known(), Names({"cpu", "gpu"})) << "the table has been extended, not begun anew";
  EXPECT_FALSE(dispatch->looks().may_forget(debtor));
}

TEST_F(DeviceViews, OnceNobodyRunsOrOwesAnythingTheTableBeginsAnew) {
  join({cpu, gpu});
  clients.clear();
  run_until([&] { return table.empty(); });
  join({cpu});
  EXPECT_EQ(known(), Names({"cpu", "gpu"})) << "it sees nothing new";
  clients.clear();
  run_until([&] { return table.empty(); });
  join({{"Portable Computing Language", "cpu, newer driver", 2, 1'000, ""}});
  EXPECT_EQ(known(), Names({"cpu, newer driver"}));
}

TEST_F(SessionTableTest, AWorkerThatCannotBeCagedIsRefusedInOneLine) {
  host.config.worker.cache = "/proc/no-place-for-caches";
  auto ends = std::move(Socket::pair()).value();
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

// ---- what people do by hand (interventions.hpp)

constexpr uid_t kOwner = 12'345;
constexpr uid_t kOther = 12'346;

struct Interventions : SessionTableTest {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root serves other users";
    start({kReady});  // bob's, by root
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(folder / "worker", std::filesystem::perms(0755));
    // Two of the owner's, with the same worker.
    for (Socket* const mine : {&first, &second}) {
      auto ends = std::move(Socket::pair()).value();
      *mine = std::move(ends.first);
      session::Hello hello;
      hello.tenant = "owner";
      ASSERT_TRUE(table.start(hello, {::getpid(), kOwner, kOwner}, ends.second));
    }
    run_until([&] {
      return std::all_of(table.all().begin(), table.all().end(),
                         [](const auto& entry) { return entry.second->stage == Session::Stage::running; });
    });
  }

  using Command = control::ControlRequest::Command;
  std::string on(std::uint32_t session, Command command, uid_t by, bool administrator = false) {
    control::ControlRequest request;
    request.command = command;
    request.session = session;
    const auto done = intervene(host, table, request, {by, administrator});
    return done ? "" : done.error().message;
  }
  std::string on(const std::string& tenant, Command command, uid_t by, bool administrator = false) {
    control::ControlRequest request;
    request.command = command;
    request.tenant = tenant;
    const auto done = intervene(host, table, request, {by, administrator});
    return done ? "" : done.error().message;
  }
  bool suspended(std::uint32_t session) { return table.is_suspended(*table.all().at(SessionId{session})); }
  std::optional<control::Pause> pause_of(const std::string& tenant) {
    for (const auto& each : make_report(host, table, "socket", {}).tenants) {
      if (each.tenant == tenant) return each.paused;
    }
    return std::nullopt;
  }

  Socket first, second;
};

TEST_F(Interventions, EndASessionWithTheReasonInTheLog) {
  EXPECT_EQ(on(2, Command::kill, kOwner), "");
  EXPECT_EQ(log.count("session 2 of tenant owner ends: ended by user 12345"), 1u);
  run_until([&] { return table.all().size() == 2; });
  EXPECT_EQ(on(2, Command::kill, kOwner).find("there is no session 2: see 'fairgv ps'"), 0u);
  EXPECT_EQ(counts().crashes, 0u);
}

TEST_F(Interventions, EndAllSessionsOfATenant) {
  EXPECT_EQ(on("owner", Command::kill, kOwner), "");
  run_until([&] { return table.all().size() == 1; });
  EXPECT_EQ(on("owner", Command::kill, 0, true),
            "there is no tenant 'owner' with a running program: see 'fairgv ps'");
  EXPECT_EQ(on("nobody", Command::kill, 0, true), "there is no tenant 'nobody': see 'fairgv ps'");
}

TEST_F(Interventions, ArePermittedToTheOwnerAndToAdministrators) {
  for (const Command command : {Command::kill, Command::pause, Command::resume}) {
    EXPECT_NE(on(2, command, kOther)
                  .find("session 2 belongs to user 12345: only that user or the administrator may"),
              std::string::npos);
    EXPECT_NE(on("owner", command, kOther).find("tenant 'owner' belongs to user 12345"), std::string::npos);
    EXPECT_NE(on("bob", command, kOwner).find("belongs to user 0"), std::string::npos);
  }
  EXPECT_FALSE(suspended(2));
  EXPECT_EQ(on(2, Command::pause, 0, true), "");
  EXPECT_EQ(on("owner", Command::pause, 0, true), "");
}

TEST_F(Interventions, PauseOneSessionAndLetItGoOn) {
  EXPECT_EQ(on(2, Command::pause, kOwner), "");
  EXPECT_EQ(on(2, Command::pause, kOwner), "") << "again is no error";
  EXPECT_TRUE(suspended(2));
  EXPECT_FALSE(suspended(3));
  EXPECT_EQ(on(2, Command::resume, kOwner), "");
  EXPECT_EQ(on(2, Command::resume, kOwner), "");
  EXPECT_FALSE(suspended(2));
}

TEST_F(Interventions, PauseATenantWithSessionsThatStartLater) {
  EXPECT_EQ(on("owner", Command::pause, kOwner), "");
  EXPECT_EQ(pause_of("owner"), (control::Pause{kOwner, false}));
  EXPECT_TRUE(suspended(2) && suspended(3));
  EXPECT_FALSE(suspended(1));
  auto ends = std::move(Socket::pair()).value();
  session::Hello hello;
  hello.tenant = "owner";
  ASSERT_TRUE(table.start(hello, {::getpid(), kOwner, kOwner}, ends.second));
  EXPECT_TRUE(suspended(4));
  EXPECT_NE(on(2, Command::resume, kOwner).find("session 2 is paused with its tenant 'owner': resume that"),
            std::string::npos);
  EXPECT_EQ(on("owner", Command::resume, kOwner), "");
  EXPECT_FALSE(suspended(2) || suspended(3) || suspended(4));
}

TEST_F(Interventions, ASessionThatIsPausedByItselfStaysSoWhenItsTenantGoesOn) {
  EXPECT_EQ(on(2, Command::pause, kOwner), "");
  EXPECT_EQ(on("owner", Command::pause, kOwner), "");
  EXPECT_EQ(on("owner", Command::resume, kOwner), "");
  EXPECT_TRUE(suspended(2));
  EXPECT_FALSE(suspended(3));
}

TEST_F(Interventions, OfAnAdministratorCannotBeUndoneByTheUser) {
  for (const bool user_first : {false, true}) {
    if (user_first) {
      EXPECT_EQ(on("owner", Command::pause, kOwner), "");
    }
    EXPECT_EQ(on("owner", Command::pause, 0, true), "");
    EXPECT_EQ(on(2, Command::pause, 7, true), "");
    EXPECT_EQ(on("owner", Command::pause, kOwner), "") << "which changes nothing";
    EXPECT_EQ(on(2, Command::pause, kOwner), "");
    EXPECT_EQ(pause_of("owner"), (control::Pause{0, true}));
    EXPECT_EQ(on("owner", Command::resume, kOwner),
              "tenant 'owner' was paused by an administrator (user 0): only an administrator may resume it");
    EXPECT_EQ(on(2, Command::resume, kOwner),
              "session 2 was paused by an administrator (user 7): only an administrator may resume it");
    EXPECT_TRUE(suspended(2) && suspended(3));
    EXPECT_EQ(on("owner", Command::resume, 0, true), "");
    EXPECT_EQ(on(2, Command::resume, 0, true), "");
    EXPECT_FALSE(suspended(2) || suspended(3));
  }
}

TEST_F(Interventions, APauseOutlivesTheTenantsSessionsAndNotItsUser) {
  EXPECT_EQ(on("owner", Command::pause, kOwner), "");
  EXPECT_EQ(on("owner", Command::kill, kOwner), "");
  run_until([&] { return table.all().size() == 1; });
  EXPECT_EQ(pause_of("owner"), (control::Pause{kOwner, false})) << "ps shows it";
  const auto again = [&](uid_t uid) {
    auto ends = std::move(Socket::pair()).value();
    session::Hello hello;
    hello.tenant = "owner";
    ASSERT_TRUE(table.start(hello, {::getpid(), uid, static_cast<gid_t>(uid)}, ends.second));
  };
  again(kOwner);
  EXPECT_TRUE(suspended(4));
  EXPECT_EQ(on("owner", Command::kill, kOwner), "");
  run_until([&] { return table.all().size() == 1; });
  again(kOther);
  EXPECT_FALSE(suspended(5)) << "the name is another user's now";
}

}  // namespace
}  // namespace fairgv::daemon
