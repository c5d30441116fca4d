// The daemon's answer to a trace request, as text and back.
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/control/protocol.hpp"
#include "runtime/control/trace_report.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::session {
namespace {

control::TraceReport sample() {
  control::TraceReport report;
  report.now_ns = 5'000;
  report.devices = {"Device"};
  report.sessions = {{3, "alice", 4711, "prog"}};
  report.names = {{3, 1, "kernel"}};
  report.turns = {{3, 0, 1'000, 2'000, 3'000, 900, 6'000'000, 0, 1, 2'500'000}};
  report.commands = {{3, 1, {2'100, 2'900, 64, 7, 2, {8, 4, 2}, 5, 6, TracedCommand::kPart, 3}}};
  report.calls = {{3, 1, {2'000, 2'950, TracedCall::kWaited, 0}}};
  report.memory = {{"alice", 0, 1 << 20}};
  report.lost_commands = 11;
  report.lost_turns = 12;
  return report;
}

TEST(TraceReport, IsTheSameAfterItsWay) {
  const auto read = control::unpack_trace_report(control::pack(sample()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(control::pack(read.value()), control::pack(sample()));
  EXPECT_EQ(read->sessions[0].tenant, "alice");
  EXPECT_EQ(read->names[0].name, "kernel");
  EXPECT_EQ(read->turns[0].slice_ns, 6'000'000u);
  EXPECT_EQ(read->turns[0].over, 0u);
  EXPECT_EQ(read->turns[0].promised, 1u);
  EXPECT_EQ(read->turns[0].in_flight_ns, 2'500'000u);
  EXPECT_EQ(read->commands[0].command.grid[2], 2u);
  EXPECT_EQ(read->commands[0].command.device, 6);
  EXPECT_EQ(read->commands[0].command.waited_for, 3);
  EXPECT_EQ(read->calls[0].call.kind, TracedCall::kWaited);
}

TEST(TraceReport, RefusesRowsOfAnyOtherLength) {
  const std::string whole = control::pack(sample());
  const std::size_t rows = whole.size() - whole.find('\0') - 1;
  ASSERT_GT(rows, 0u);
  for (std::size_t missing = 1; missing <= rows + 1; ++missing)
    EXPECT_FALSE(control::unpack_trace_report(whole.substr(0, whole.size() - missing))) << missing;
  EXPECT_FALSE(control::unpack_trace_report(whole + '\0'));
  EXPECT_FALSE(control::unpack_trace_report(""));
  EXPECT_FALSE(control::unpack_trace_report(std::string_view("\0", 1)));
}

TEST(TraceReport, RefusesCountsThatNoAnswerCanHold) {
  for (const char* key : {"turns", "commands", "calls"}) {
    std::string packed = control::pack(sample());
    const std::string one = '"' + std::string(key) + "\":1";
    const auto from = packed.find(one);
    ASSERT_NE(from, std::string::npos);
    packed.insert(from + one.size(), "8446744073709551615");
    EXPECT_FALSE(control::unpack_trace_report(packed)) << key;
  }
}

TEST(TraceReport, TellsWhatTheDaemonRefuses) {
  const auto read = control::unpack_trace_report(control::failure_text("somebody else traces"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "somebody else traces");
}

TEST(TurnMemory, HasARingForTracesThatBothSidesSee) {
  auto daemon = TurnMemory::create();
  ASSERT_TRUE(daemon);
  auto worker = TurnMemory::attach(UniqueFd(::dup(daemon->fd())));
  ASSERT_TRUE(worker);
  const auto theirs = worker->trace();
  const auto ours = daemon->trace();
  ASSERT_TRUE(theirs && ours);
  ring::RingProducer producer(theirs->ring);
  ring::RingConsumer consumer(ours->ring);
  std::uint64_t written = 0;
  while (producer.reserve(sizeof(TracedCommand)) != nullptr) {
    producer.publish(kCommandRecord, written++, sizeof(TracedCommand));
  }
  EXPECT_EQ(written, kTraceSlots);  // a command is a slot
  ring::RecordHeader header{};
  std::span<const std::byte> payload;
  for (std::uint64_t i = 0; i < written; ++i) {
    ASSERT_EQ(consumer.peek(header, payload), ring::RingConsumer::Next::record);
    ASSERT_EQ(header.tag, i);
    consumer.pop();
  }
  EXPECT_EQ(consumer.peek(header, payload), ring::RingConsumer::Next::empty);
}

}  // namespace
}  // namespace fairgv::session
