// An executor over devices whose completions the test decides, with the test as the dispatcher.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ring/spsc_ring.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "tests/unit/vgpu/fake_device.hpp"

namespace fairgv::vgpu {

/// The front end has written this into every slot: its event of generation 1 is queued.
inline constexpr std::uint64_t kFresh = (std::uint64_t{1} << 32) | kQueued;

inline ring::Segment small_segment() {
  ring::SegmentSizes sizes;
  sizes.notice_bytes = 4096;
  sizes.completion_slots = 4096;
  sizes.arena_bytes = 4096;
  auto segment = std::move(ring::Segment::create(sizes)).value();
  for (ring::CompletionSlot& slot : segment.slots()) slot.state = kFresh;
  return segment;
}

inline wire::EventId event(std::uint32_t index) {
  return wire::EventId::make(index, 1);
}

/// For a test whose only thread is the loop thread: the helm stays free for a thread that stands in.
inline Executor::Loop& loop_of(Executor& executor) {
  auto held = executor.helm().try_take();
  Executor::Loop& loop = executor.at(held.value());
  executor.helm().let_go(std::move(*held));
  return loop;
}

class ExecutorTest : public ::testing::Test {
 protected:
  explicit ExecutorTest(const SlicingSettings& slicing = {}, Tracer* tracer = nullptr)
      : slicing_(slicing), tracer_(tracer) {}

  IssueSettings settings() {
    IssueSettings settings;
    settings.turn = {std::chrono::milliseconds(6), 5};
    settings.promises = promises;
    settings.slicing = slicing_;
    settings.held_long = [this](const DeviceCommand& command, std::string_view why, Duration, TimePoint) {
      held_long.push_back(std::string(command.name()) + ": " + std::string(why));
    };
    settings.failed = [this](const DeviceCommand&, std::int32_t error) {
      return failure_answer && failure_answer(error);
    };
    settings.compiler = [this](bool at_work) { compiler_told.push_back(at_work); };
    settings.tracer = tracer_;
    settings.promises = promises;
    settings.now = [this] {
      const TimePoint read = now;
      if (const auto happens = std::exchange(after_next_look_at_clock, {})) happens();
      return read;
    };
    settings.knock = [this](wire::DeviceIndex) {
      ++knocks;
      return knocking_works;
    };
    return settings;
  }

  session::TurnState state() const { return static_cast<session::TurnState>(turns[0].state.load()); }
  void grant(Duration slice = Duration(0)) {
    ASSERT_EQ(state(), session::TurnState::wanting);
    turns[0].slice_ns = static_cast<std::uint64_t>(slice.count());
    turns[0].state = static_cast<std::uint32_t>(session::TurnState::held);
    EXPECT_TRUE(loop.needs_pump());
    loop.pump();
  }
  void grant_now() {
    loop.pump();
    grant();
  }

  void enqueue(int name, wire::EventId completion = {}, std::vector<wire::EventId> waits = {},
               std::int32_t refuse_with = 0) {
    enqueue_on(lane, name, completion, std::move(waits), refuse_with);
  }
  void enqueue_on(const std::shared_ptr<Lane>& on, int name, wire::EventId completion = {},
                  std::vector<wire::EventId> waits = {}, std::int32_t refuse_with = 0) {
    ASSERT_TRUE(
        executor.enqueue(std::make_shared<FakeCommand>(device, on, name, refuse_with), completion, waits));
  }
  /// Two launches with a short pause between, so that the program is known to come back quickly; the second
  /// is under way.
  void come_back_quickly() {
    enqueue(1);
    grant_now();
    device.complete_one();
    now += std::chrono::microseconds(10);
    enqueue(2);
    loop.pump();
  }
  void finish(wire::EventId completion) {
    ASSERT_TRUE(executor.enqueue_marker(Work::marker, lane, 0, completion, {}));
  }
  void access(wire::EventId completion, std::vector<wire::EventId> waits = {}) {
    ASSERT_TRUE(executor.enqueue_marker(Work::access, lane, 0, completion, waits));
  }
  /// The status of an event that the front end sees; kQueued as long as the slot is not the event's.
  std::int32_t status(wire::EventId of) const {
    const std::uint64_t raw = segment.slots()[of.index()].state.load();
    return ring::SlotState::generation(raw) == of.generation() ? ring::SlotState::status(raw) : kQueued;
  }
  std::vector<wire::EventReached> notices() {
    std::vector<wire::EventReached> read;
    ring::RecordHeader header;
    std::span<const std::byte> payload;
    while (consumer.peek(header, payload) == ring::RingConsumer::Next::record) {
      EXPECT_EQ(header.opcode, wire::EventReached::opcode);
      EXPECT_TRUE(wire::decode(payload, read.emplace_back()));
      consumer.pop();
    }
    return read;
  }

  const SlicingSettings slicing_;
  Tracer* const tracer_;
  std::vector<std::string> held_long;
  std::vector<bool> compiler_told;
  std::function<bool(std::int32_t error)> failure_answer;  // none: no error is the device's
  ring::Segment segment = small_segment();
  ring::RingConsumer consumer{segment.notices()};
  std::array<session::DeviceTurn, 2> turns{};
  std::array<session::TurnPromise, 2> promises{};
  TimePoint now{std::chrono::hours(1)};
  std::function<void()> after_next_look_at_clock;
  int knocks = 0;
  bool knocking_works = true;
  FakeDevice device{turns[0]};
  FakeDevice other_device{turns[1]};
  std::shared_ptr<Lane> lane = std::make_shared<Lane>(true, 0);
  Executor executor{segment, turns, settings()};
  Executor::Loop& loop = loop_of(executor);
};

}  // namespace fairgv::vgpu
