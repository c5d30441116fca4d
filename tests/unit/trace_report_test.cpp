// The daemon's answer to a trace request, as text and back.
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/session/trace_report.hpp"
#include "runtime/session/turn.hpp"

namespace fairgv::session {
namespace {

TraceReport sample() {
  TraceReport report;
  report.now_ns = 5'000;
  report.devices = {"Device"};
  report.sessions = {{3, "alice", 4711, "prog"}};
  report.names = {{3, 1, "kernel"}};
  report.turns = {{3, 0, 1'000, 2'000, 3'000, 900, 6'000'000, false}};
  report.commands = {{3, 1, {2'100, 2'900, 64, 7, 2, {8, 4, 2}, 5, 6, TracedCommand::kPart}}};
  report.calls = {{3, 1, {2'000, 2'950, TracedCall::kWaited, 0}}};
  report.memory = {{"alice", 0, 1 << 20}};
  report.lost_commands = 11;
  report.lost_turns = 12;
  return report;
}

TEST(TraceReport, IsTheSameAfterItsWayAsText) {
  const auto read = parse_trace_report(to_text(sample()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(read.value()), to_text(sample()));
  EXPECT_FALSE(read->turns[0].over);
  EXPECT_EQ(read->commands[0].command.grid[2], 2u);
  EXPECT_EQ(read->commands[0].command.device, 6);
  EXPECT_EQ(read->calls[0].call.kind, TracedCall::kWaited);
}

TEST(TraceReport, OfADaemonWithoutCallsIsReadAllTheSame) {
  std::string text = to_text(sample());
  const auto from = text.find("\"calls\":[[");
  ASSERT_NE(from, std::string::npos);
  text.erase(from, text.find("]],", from) + 3 - from);
  const auto read = parse_trace_report(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->calls.empty());
  EXPECT_EQ(read->commands.size(), 1u);
}

TEST(TraceReport, RefusesRowsThatAreNone) {
  for (const std::string rows : {"[[1,2]]", "[7]", "[[1,2,3,4,5,6,7,\"8\"]]", "[[1,2,3,4,5,6,7,-8]]"}) {
    std::string text = to_text(sample());
    const auto from = text.find("\"turns\":[[");
    const auto to = text.find("]]", from) + 2;
    text.replace(from, to - from, "\"turns\":" + rows);
    EXPECT_FALSE(parse_trace_report(text)) << rows;
  }
}

TEST(TurnMemory, HasARingForTracesThatBothSidesSee) {
  auto daemon = TurnMemory::create();
  ASSERT_TRUE(daemon);
  auto worker = TurnMemory::attach(ring::UniqueFd(::dup(daemon->fd())));
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
