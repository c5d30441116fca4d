// The worker records commands that end during a trace.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>

#include "runtime/session/turn.hpp"
#include "runtime/vgpu/issue/tracer.hpp"
#include "tests/harness/recorded_command.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using harness::RecordedCommand;
using session::TracedCall;
using session::TracedCommand;

struct Recorder : ::testing::Test {
  struct Record {
    std::uint16_t opcode;
    std::uint64_t tag;
    std::string payload;
    TracedCommand command() const {
      TracedCommand its{};
      std::memcpy(&its, payload.data(), std::min(payload.size(), sizeof(its)));
      return its;
    }
    TracedCall call() const {
      TracedCall its{};
      std::memcpy(&its, payload.data(), std::min(payload.size(), sizeof(its)));
      return its;
    }
  };
  std::vector<Record> read() {
    std::vector<Record> records;
    ring::RecordHeader header{};
    std::span<const std::byte> payload;
    while (consumer.peek(header, payload) == ring::RingConsumer::Next::record) {
      records.push_back({header.opcode, header.tag,
                         std::string(reinterpret_cast<const char*>(payload.data()), payload.size())});
      consumer.pop();
    }
    return records;
  }
  void end(std::string_view name, TimePoint issued, TimePoint now) {
    tracer.ended(RecordedCommand(lane, name, issued), now);
  }
  static std::uint64_t ns(TimePoint time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  }

  session::TurnMemory memory = std::move(session::TurnMemory::create()).value();
  std::span<session::DeviceTurn> turns{memory.page().devices, 2};
  Tracer tracer{*memory.trace(), turns};
  ring::RingConsumer consumer{memory.trace()->ring};
  std::shared_ptr<Lane> lane = std::make_shared<Lane>(true, wire::DeviceIndex{0});
  TimePoint start{std::chrono::hours(1)};
};

TEST_F(Recorder, WritesNothingWhileNobodyTraces) {
  end("a", start, start + 1ms);
  tracer.write_ended(start + 1ms);
  EXPECT_TRUE(read().empty());
}

TEST_F(Recorder, TellsANameOnceInATraceAndAnewInTheNext) {
  for (const std::uint32_t trace : {5U, 9U}) {
    turns[0].tracing = trace;
    for (int i = 0; i < 2; ++i) {
      end("a", start, start + 1ms);
      tracer.write_ended(start + 1ms);
    }
    const auto records = read();
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].opcode, session::kNameRecord);
    EXPECT_EQ(records[0].payload, "a");
    EXPECT_EQ(records[0].tag, 1u);
    EXPECT_EQ(records[1].opcode, session::kCommandRecord);
    EXPECT_EQ(records[2].tag, 1u);
  }
}

TEST_F(Recorder, DividesTheTimeBetweenEndsThatAreReportedTogether) {
  turns[0].tracing = 1;
  end("a", start, start + 4ms);
  end("copy", start + 1ms, start + 4ms);
  tracer.write_ended(start + 4ms);
  end("a", start + 2ms, start + 5ms);  // issued while the others were under way
  tracer.write_ended(start + 5ms);
  std::vector<TracedCommand> commands;
  for (const Record& record : read()) {
    if (record.opcode == session::kCommandRecord) commands.push_back(record.command());
  }
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].kind, TracedCommand::kLaunch);
  EXPECT_EQ(commands[0].amount, 32u);
  EXPECT_EQ(commands[0].began_ns, ns(start));
  EXPECT_EQ(commands[0].ended_ns, ns(start + 2ms));
  EXPECT_EQ(commands[0].together, 2u);
  EXPECT_EQ(commands[1].kind, TracedCommand::kTransfer);
  EXPECT_EQ(commands[1].amount, 4096u);
  EXPECT_EQ(commands[1].delay_us, 1'000u);
  EXPECT_EQ(commands[2].began_ns, ns(start + 4ms));
  EXPECT_EQ(commands[2].delay_us, 2'000u);
}

TEST_F(Recorder, WritesPartsAndThenTheLaunchThatTheyWere) {
  turns[0].tracing = 1;
  RecordedCommand command(lane, "a", start);
  command.cut = true;
  command.waited_for = session::TurnWait::slice;
  tracer.part_ended(command, {1, 20, start}, start + 1ms);
  tracer.part_ended(command, {2, 12, start + 3ms}, start + 4ms);
  tracer.ended(command, start + 4ms);
  const auto records = read();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[1].command().kind, TracedCommand::kPart);
  EXPECT_EQ(records[1].command().waited_for, static_cast<std::uint32_t>(session::TurnWait::slice));
  EXPECT_EQ(records[2].command().part, 2u);
  EXPECT_EQ(records[2].command().amount, 12u);
  EXPECT_EQ(records[3].command().kind, TracedCommand::kInParts);
  EXPECT_EQ(records[3].command().part, 2u);
  EXPECT_EQ(records[3].command().began_ns, ns(start));
}

TEST_F(Recorder, RecordsCallsWhicheverDeviceIsTraced) {
  tracer.call_ended("Finish", TracedCall::kWaited, ns(start), ns(start + 1ms));
  EXPECT_TRUE(read().empty());
  turns[1].tracing = 3;
  tracer.call_ended("Finish", TracedCall::kWaited, ns(start), ns(start + 1ms));
  tracer.call_ended("GetProgramInfo", TracedCall::kAnswered, ns(start + 2ms), ns(start + 2ms));
  tracer.call_ended("Finish", TracedCall::kWaited, ns(start + 2ms),
                    ns(start + 1ms));  // ends before it begins
  const auto records = read();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].payload, "Finish");
  EXPECT_EQ(records[1].opcode, session::kCallRecord);
  EXPECT_EQ(records[1].tag, 1u);
  EXPECT_EQ(records[1].call().began_ns, ns(start));
  EXPECT_EQ(records[1].call().ended_ns, ns(start + 1ms));
  EXPECT_EQ(records[1].call().kind, TracedCall::kWaited);
  EXPECT_EQ(records[3].call().kind, TracedCall::kAnswered);
}

TEST_F(Recorder, CountsWhatFindsNoRoom) {
  turns[0].tracing = 1;
  constexpr std::uint64_t kEnds = session::kTraceSlots + 50;
  for (std::uint64_t i = 0; i < kEnds; ++i) {
    end("a", start, start + 1ms);
    tracer.write_ended(start + 1ms);
  }
  EXPECT_EQ(read().size(), session::kTraceSlots);  // the name among them
  EXPECT_EQ(memory.trace()->lost->load(), 51u);
}

}  // namespace
}  // namespace fairgv::vgpu
