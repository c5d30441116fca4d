// The executor records the waits of the program's threads, if the front end gives their begin.
#include <algorithm>
#include <cstring>

#include "runtime/wire/call_names.hpp"
#include "runtime/wire/cuda_calls.hpp"
#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TracedCall;

struct WithTracer {
  session::TurnMemory memory = std::move(session::TurnMemory::create()).value();
  std::span<session::DeviceTurn> traced{memory.page().devices, 1};
  Tracer tracer{*memory.trace(), traced};
};

class WaitsTest : protected WithTracer, public ExecutorTest {
 protected:
  struct Call {
    std::string name;
    TracedCall traced;
  };
  WaitsTest() : ExecutorTest({}, &tracer) { traced[0].tracing = 1; }

  std::vector<Call> calls() {
    std::vector<Call> read;
    ring::RecordHeader header;
    std::span<const std::byte> payload;
    while (ring_.peek(header, payload) == ring::RingConsumer::Next::record) {
      const std::string text(reinterpret_cast<const char*>(payload.data()), payload.size());
      if (header.opcode == session::kNameRecord) names_.push_back(text);
      if (header.opcode == session::kCallRecord) {
        Call& call = read.emplace_back(Call{names_.at(header.tag - 1), {}});
        std::memcpy(&call.traced, text.data(), std::min(text.size(), sizeof(call.traced)));
      }
      ring_.pop();
    }
    return read;
  }
  /// The record that the front end writes before it waits.
  void wait_for(wire::EventId of, std::uint64_t from, std::uint32_t as = wire::kOwnCall) {
    ring::CompletionSlot& slot = segment.slots()[of.index()];
    slot.awaited_from = from;
    slot.awaited_as = as;
  }
  static std::uint64_t ns(TimePoint time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  }

  ring::RingConsumer ring_{memory.trace()->ring};
  std::vector<std::string> names_;
};

TEST_F(WaitsTest, AWaitLastsUntilTheCommandEndsAndHasTheNameOfTheCallThatWaits) {
  loop.reading({0, wire::EnqueueMarker::opcode, 0});
  enqueue(1);
  for (const std::uint32_t index : {1U, 2U, 3U}) finish(event(index));
  loop.reading({0, wire::EnqueueReadBuffer::opcode, 0});
  enqueue(2, event(4));
  enqueue(3, event(5));
  const std::uint64_t from = ns(now);
  wait_for(event(1), from, wire::kFinish);
  wait_for(event(2), from, wire::kWaitForEvents);
  wait_for(event(3), from);
  wait_for(event(4), from);
  grant_now();
  now += 3ms;
  device.complete_all();
  std::vector<std::string> names;
  for (const Call& call : calls()) {
    names.push_back(call.name);
    EXPECT_EQ(call.traced.began_ns, from);
    EXPECT_EQ(call.traced.ended_ns, from + 3'000'000);
    EXPECT_EQ(call.traced.kind, TracedCall::kWaited);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"EnqueueReadBuffer", "Finish", "Synchronize", "WaitForEvents"}))
      << "nobody says that he waits for event 5";
}

TEST_F(WaitsTest, ABlockingTransferOfTheProgramsOwnLastsUntilTheProgramSaysSo) {
  constexpr std::uint32_t kReadBuffer = 0x11F3;  // CL_COMMAND_READ_BUFFER
  const std::uint64_t from = ns(now);
  wait_for(event(1), from, kReadBuffer);
  now += 1ms;
  access(event(1));
  EXPECT_TRUE(calls().empty()) << "granted, not ended";
  wait_for(event(1), 1);  // the slot is another event's by now
  const std::uint64_t ended = ns(now + 2ms);
  now += 5ms;
  loop.reading({0, wire::EndAccess::opcode, ended});
  ASSERT_TRUE(executor.end_access(event(1)));
  const auto recorded = calls();
  ASSERT_EQ(recorded.size(), 1u);
  EXPECT_EQ(recorded[0].name, "EnqueueReadBuffer");
  EXPECT_EQ(recorded[0].traced.began_ns, from);
  EXPECT_EQ(recorded[0].traced.ended_ns, ended);
}

TEST_F(WaitsTest, ATimeThatTheProgramCannotHaveSeenIsNotBelieved) {
  std::uint32_t own = 0;
  for (const std::uint64_t told : {std::uint64_t{0}, std::uint64_t{5}, ns(now + 1h)}) {
    ++own;
    wait_for(event(own), ns(now));
    access(event(own));
    now += 1ms;
    loop.reading({0, wire::EndAccess::opcode, told});
    ASSERT_TRUE(executor.end_access(event(own)));
    const auto recorded = calls();
    ASSERT_EQ(recorded.size(), 1u) << told;
    EXPECT_EQ(recorded[0].traced.ended_ns, ns(now)) << told;
  }
  wait_for(event(9), ns(now + 1h));  // a wait that begins in the future does not count
  finish(event(9));
  EXPECT_TRUE(calls().empty());
}

TEST_F(WaitsTest, ACallWithAReplyIsRecordedWhenTheReplyIsThere) {
  const std::uint64_t from = ns(now);
  now += 1ms;
  executor.answering(wire::GetProgramInfo::opcode, from);
  executor.answering(wire::cuda::AllocateMemory::opcode, from);
  executor.answering(0x7001, from);
  const auto recorded = calls();
  ASSERT_EQ(recorded.size(), 3u);
  EXPECT_EQ(recorded[0].name, "GetProgramInfo");
  EXPECT_EQ(recorded[0].traced.ended_ns, from + 1'000'000);
  EXPECT_EQ(recorded[0].traced.kind, TracedCall::kAnswered);
  EXPECT_EQ(recorded[1].name, "CudaAllocateMemory");
  EXPECT_EQ(recorded[2].name, "(unknown call)");
}

TEST_F(WaitsTest, NothingIsRecordedWhileNobodyTraces) {
  traced[0].tracing = 0;
  wait_for(event(1), ns(now), wire::kFinish);
  finish(event(1));
  executor.answering(wire::GetProgramInfo::opcode, ns(now));
  EXPECT_TRUE(calls().empty());
  EXPECT_EQ(status(event(1)), kComplete);
}

}  // namespace
}  // namespace fairgv::vgpu
