// The daemon reads a worker's records, which may contain anything.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "runtime/daemon/trace/reader.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::daemon {
namespace {

using control::TraceReport;
using session::TracedCall;
using session::TracedCommand;

struct TraceReading : ::testing::Test {
  void write(std::uint16_t opcode, std::uint64_t tag, const void* bytes, std::size_t count) {
    std::byte* const to = producer.reserve(count);
    ASSERT_NE(to, nullptr);
    std::memcpy(to, bytes, count);
    producer.publish(opcode, tag, count);
  }
  void write_command(std::uint64_t name, const TracedCommand& command) {
    write(session::kCommandRecord, name, &command, sizeof(command));
  }
  void write_call(std::uint64_t name, const TracedCall& call) {
    write(session::kCallRecord, name, &call, sizeof(call));
  }
  void write_name(std::uint64_t number, const std::string& name) {
    write(session::kNameRecord, number, name.data(), name.size());
  }
  TraceReport read(TraceReader& reader, std::uint64_t now_ns = 1'000) {
    TraceReport report;
    reader.drain(report, now_ns);
    return report;
  }

  session::TurnMemory memory = std::move(session::TurnMemory::create()).value();
  session::TraceMemory place = *memory.trace();
  ring::RingProducer producer{place.ring};
};

constexpr TracedCommand kGood{100, 200, 64, 0, 0, {8, 8, 1}, 1, 0, TracedCommand::kLaunch, 0};

TEST_F(TraceReading, BringsCommandsWithTheirNames) {
  TraceReader reader(SessionId{7}, place, DeviceView::first(session::kMaxDevices));
  write_name(1, "reduce\x1b[2J");
  write_command(1, kGood);
  const TraceReport report = read(reader);
  ASSERT_EQ(report.names.size(), 1u);
  EXPECT_EQ(report.names[0].name, "reduce?[2J");
  ASSERT_EQ(report.commands.size(), 1u);
  EXPECT_EQ(report.commands[0].session, 7u);
  EXPECT_EQ(report.commands[0].name, 1u);
  EXPECT_EQ(report.commands[0].command.amount, 64u);
}

TEST_F(TraceReading, ForgetsWhatAnEarlierTraceHasLeft) {
  write_name(1, "old");
  write_command(1, kGood);
  place.lost->store(99);
  TraceReader reader(SessionId{7}, place, DeviceView::first(session::kMaxDevices));
  write_name(1, "new");
  place.lost->store(101);
  const TraceReport report = read(reader);
  ASSERT_EQ(report.names.size(), 1u);
  EXPECT_EQ(report.names[0].name, "new");
  EXPECT_TRUE(report.commands.empty());
  EXPECT_EQ(reader.lost(), 2u);
}

TEST_F(TraceReading, LeavesOutWhatCannotBe) {
  TraceReader reader(SessionId{7}, place, DeviceView::first(session::kMaxDevices));
  write_name(5, "the fifth before the first");
  write_name(1, std::string(session::kLongestCommandText + 1, 'x'));
  TracedCommand command = kGood;
  command.kind = 9;
  write_command(0, command);
  command = kGood;
  command.device = session::kMaxDevices;
  write_command(0, command);
  command = kGood;
  command.ended_ns = command.began_ns - 1;
  write_command(0, command);
  command = kGood;
  command.ended_ns = 1'001;  // in the future
  write_command(0, command);
  write(session::kCommandRecord, 0, &kGood, sizeof(kGood) - 1);
  write(77, 0, &kGood, sizeof(kGood));
  const TraceReport report = read(reader);
  EXPECT_TRUE(report.names.empty());
  EXPECT_TRUE(report.commands.empty());
  write_command(3, kGood);  // a name that was never told
  const TraceReport later = read(reader);
  ASSERT_EQ(later.commands.size(), 1u);
  EXPECT_EQ(later.commands[0].name, 0u);
}

TEST_F(TraceReading, BringsCallsOfThisTraceThatCanHaveBeen) {
  TraceReader reader(SessionId{7}, place, DeviceView::first(session::kMaxDevices), 100);
  write_name(1, "Finish");
  write_call(1, {100, 200, TracedCall::kWaited, 0});
  write_call(2, {150, 150, TracedCall::kAnswered, 0});  // of a name that was never told
  write_call(1, {99, 200, TracedCall::kWaited, 0});     // began before any trace
  write_call(1, {200, 199, TracedCall::kWaited, 0});
  write_call(1, {200, 1'001, TracedCall::kWaited, 0});  // in the future
  write_call(1, {100, 200, 0, 0});
  write_call(1, {100, 200, 3, 0});
  constexpr TracedCall kGoodCall{100, 200, TracedCall::kWaited, 0};
  write(session::kCallRecord, 1, &kGoodCall, sizeof(kGoodCall) - 1);
  const TraceReport report = read(reader);
  ASSERT_EQ(report.calls.size(), 2u);
  EXPECT_EQ(report.calls[0].session, 7u);
  EXPECT_EQ(report.calls[0].name, 1u);
  EXPECT_EQ(report.calls[0].call.ended_ns, 200u);
  EXPECT_EQ(report.calls[1].name, 0u);
  EXPECT_EQ(report.calls[1].call.kind, TracedCall::kAnswered);
}

TEST_F(TraceReading, SurvivesARingOfRandomBytes) {
  std::mt19937_64 random(harness::printed_seed());
  for (int round = 0; round < 200; ++round) {
    session::TurnMemory scribbled = std::move(session::TurnMemory::create()).value();
    const session::TraceMemory its = *scribbled.trace();
    TraceReader reader(SessionId{7}, its, DeviceView::first(session::kMaxDevices));
    for (std::uint64_t i = 0; i < 512; ++i) {
      std::uint64_t word = random() % 4 == 0 ? random() : random() % 256;
      std::memcpy(its.ring.slots + i * sizeof(word), &word, sizeof(word));
    }
    its.ring.header->produced.store(random() % 3 == 0 ? random() : random() % 64);
    its.lost->store(random());
    TraceReport report;
    reader.drain(report, 1'000);
    for (const auto& each : report.commands) {
      EXPECT_LE(each.command.began_ns, each.command.ended_ns);
      EXPECT_LT(each.command.device, session::kMaxDevices);
    }
    for (const auto& each : report.calls) EXPECT_LE(each.call.began_ns, each.call.ended_ns);
  }
}

}  // namespace
}  // namespace fairgv::daemon
