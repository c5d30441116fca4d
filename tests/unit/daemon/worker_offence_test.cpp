// Messages that no honest worker sends: each ends the session with a reason.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/session/ledger_protocol.hpp"
#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

using session::LongCommand;

TEST_F(SessionTableTest, ALongCommandBeforeTheWorkerIsReadyEndsTheSession) {
  start({to_text(reduce(1))});
  run_until([&] { return table.empty(); });
  const auto answer = client.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, to_text(session::Refused{"its worker spoke out of turn"}));
  EXPECT_EQ(counts().violations, 1u);
  EXPECT_EQ(counts().crashes, 0u);
}

struct Offence {
  const char* name;
  std::string packet;
  const char* reason;
};

struct WorkerMessage : SessionTableTest, ::testing::WithParamInterface<Offence> {};

TEST_P(WorkerMessage, ThatBreaksTheProtocolEndsTheSession) {
  start({kReady, GetParam().packet});
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count(std::string("ends: ") + GetParam().reason), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Each, WorkerMessage,
    ::testing::Values(
        Offence{"ReadyAgain", kReady, "its worker spoke out of turn"},
        Offence{"FailedAfterAll",
                to_text(session::WorkerFailed{"its program broke the protocol: Ping: \n\x1b[2J"}),
                "its program broke the protocol: Ping: ??[2J"},
        Offence{"NoSuchDevice", to_text(LongCommand{1, "reduce", "it uses pipes", 1, 1, 1}),
                "its worker told of device 1 of 1"},
        Offence{"FailureOfNoDevice", to_text(session::DeviceFailed{1, "gone"}),
                "its worker calls device 1 of 1 failed, where nothing of its program lies"},
        Offence{"TrialThatIsNone", to_text(session::TrialEnded{session::TrialEnded::Verdict::failed, "gone"}),
                "its worker spoke out of turn"},
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

struct WorkerMemoryMessage : SessionTableTest, ::testing::WithParamInterface<Offence> {};

TEST_P(WorkerMemoryMessage, ThatBreaksTheProtocolEndsTheSession) {
  start({kReady}, "while [ ! -e " + (folder / "go").string() + " ]; do sleep 0.01; done\n" +
                      about_memory(GetParam().packet));
  run_until([&] { return table.all().begin()->second->stage == Session::Stage::running; });
  folder.write("go", "");
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count(std::string("ends: ") + GetParam().reason), 1u);
  EXPECT_EQ(house.tenancies.memory().ledger().charged(0), 0);
}

using Kind = session::LedgerRequest::Kind;

INSTANTIATE_TEST_SUITE_P(
    Each, WorkerMemoryMessage,
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

TEST_F(SessionTableTest, AWorkerThatAsksForMemoryBeforeItIsReadyEndsItsSession) {
  start({}, about_memory(to_packet(session::LedgerRequest{Kind::charge, 1, 1, 1})));
  run_until([&] { return table.empty(); });
  EXPECT_EQ(log.count("ends: its worker spoke out of turn"), 1u);
}

TEST_F(SessionTableTest, AWorkerThatNeverReadsItsAnswersEndsItsSession) {
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
