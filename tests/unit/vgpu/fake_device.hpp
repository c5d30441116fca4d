// A device that only keeps the order in which commands were handed to it: completions come when a test says
// so.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/session/turn.hpp"
#include "runtime/vgpu/graph/device_command.hpp"

namespace fairgv::vgpu {

/// Runs commands in the order in which they were issued, from whatever queue. The device may be driven from a
/// thread of its own.
class FakeDevice {
 public:
  explicit FakeDevice(const session::DeviceTurn& turn) : turn_(turn) {}

  std::size_t in_flight() const {
    const std::lock_guard lock(mutex_);
    return running_.size();
  }
  /// Names of commands in the order in which they were issued.
  std::vector<int> issued() const {
    const std::lock_guard lock(mutex_);
    return issued_;
  }

  /// Ends the oldest command; false if there is none, and no command came within `patience`.
  bool complete_one(std::int32_t status = kComplete,
                    std::chrono::milliseconds patience = std::chrono::milliseconds(0)) {
    std::shared_ptr<Running> oldest;
    CompletionSink* sink = nullptr;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, patience, [this] { return !running_.empty(); })) return false;
      oldest = running_.front();
      running_.pop_front();
      oldest->ended = true;
      oldest->status = status;
      sink = oldest->sink;
    }
    if (sink != nullptr) sink->completed(*oldest->command, status);
    return true;
  }
  void complete_all() {
    while (complete_one()) {
    }
  }

 private:
  friend class FakeCommand;

  struct Running {
    DeviceCommand* command;
    CompletionSink* sink = nullptr;  // if watched
    bool ended = false;
    std::int32_t status = kComplete;
  };

  std::shared_ptr<Running> start(DeviceCommand& command, int name) {
    const auto state = static_cast<session::TurnState>(turn_.state.load());
    EXPECT_TRUE(state == session::TurnState::busy || state == session::TurnState::busy_asked)
        << "command " << name << " was issued without the turn";
    const std::lock_guard lock(mutex_);
    running_.push_back(std::make_shared<Running>(Running{&command}));
    issued_.push_back(name);
    changed_.notify_one();
    return running_.back();
  }

  void watch(Running& running, CompletionSink& sink) {
    {
      const std::lock_guard lock(mutex_);
      running.sink = &sink;
      if (!running.ended) return;
    }
    // As drivers do: the end of a command that has already ended is reported at once, on this thread.
    sink.completed(*running.command, running.status);
  }

  const session::DeviceTurn& turn_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Running>> running_;
  std::vector<int> issued_;
};

class FakeCommand : public DeviceCommand {
 public:
  FakeCommand(FakeDevice& device, std::shared_ptr<Lane> lane, int name, std::int32_t refuse_with = 0)
      : DeviceCommand(std::move(lane), 0), device_(device), name_(name), refuse_with_(refuse_with) {}

  ~FakeCommand() override {
    if (when_gone) when_gone();
  }

  std::int32_t issue() override {
    if (refuse_with_ == 0) running_ = device_.start(*this, name_);
    return refuse_with_;
  }
  void watch(CompletionSink& sink) override { device_.watch(*running_, sink); }
  void flush() override {}
  const CommandTimes* times() const override {
    if (before_end_shows) before_end_shows();
    return lane()->clock() == Clock::device ? &times_ : nullptr;
  }
  bool is_launch() const override { return true; }
  sched::CommandKind kind() const override { return 1; }
  std::string_view name() const override { return "fake"; }

  /// Called by the destructor, as a buffer tells the executor that it is gone.
  std::function<void()> when_gone;
  /// Called with the executor's lock held, when it is about to show the front end that this command has
  /// ended.
  std::function<void()> before_end_shows;

 private:
  FakeDevice& device_;
  const int name_;
  const std::int32_t refuse_with_;
  std::shared_ptr<FakeDevice::Running> running_;
  CommandTimes times_{10, 20, 30, 40, 50};
};

/// A launch whose code the driver still has to make.
class FakeLateCommand final : public FakeCommand {
 public:
  using FakeCommand::FakeCommand;

  bool compiles_late(bool) const override { return !given; }
  std::int32_t compile(CompletionSink& sink) override {
    given = true;
    if (refuse_to_compile_with != 0) return refuse_to_compile_with;
    compiling_for = &sink;
    return 0;
  }
  /// Comes to the gate as the driver's thread does: later commands wait for issue().
  void come_to_the_gate() { std::exchange(compiling_for, nullptr)->compiled(*this); }

  bool given = false;  // to the driver, to be compiled
  std::int32_t refuse_to_compile_with = 0;
  CompletionSink* compiling_for = nullptr;
};

/// A launch that can be cut, and remembers its parts.
class FakeLaunch final : public FakeCommand, public SliceableLaunch {
 public:
  FakeLaunch(FakeDevice& device, std::shared_ptr<Lane> lane, int name, const slicing::Launch& grid)
      : FakeCommand(device, std::move(lane), name), grid_(grid) {}

  SliceableLaunch* sliceable() override { return this; }
  const slicing::Launch& grid() const override { return grid_; }
  Readiness readiness() const override { return readiness_now; }
  bool compiles_late(bool in_parts) const override { return in_parts && parts_compile_late; }
  std::int32_t compile(CompletionSink& sink) override {
    parts_compile_late = false;
    EXPECT_TRUE(part_) << "it is a part that is compiled";
    if (refuse_to_compile_with == 0) compiling_for = &sink;
    return refuse_to_compile_with;
  }
  void prepare() override {
    ++prepared;
    readiness_now = Readiness::in_preparation;
  }
  void take(const slicing::Box& part) override { part_ = part; }
  void give_up() override {
    part_.reset();
    readiness_now = Readiness::impossible;
  }
  std::string_view why_whole() const override { return "it is a fake"; }

  std::int32_t issue() override {
    if (part_ && parts.size() == refuse_part) return refuse_part_with;
    if (part_) {
      parts.push_back(*part_);
    } else {
      ++wholes;
    }
    return FakeCommand::issue();
  }

  Readiness readiness_now = Readiness::ready;
  bool parts_compile_late = false;
  std::int32_t refuse_to_compile_with = 0;
  CompletionSink* compiling_for = nullptr;
  int prepared = 0;
  std::vector<slicing::Box> parts;  // issued
  int wholes = 0;                   // issued
  std::size_t refuse_part = SIZE_MAX;
  std::int32_t refuse_part_with = 0;

 private:
  const slicing::Launch grid_;
  std::optional<slicing::Box> part_;
};

}  // namespace fairgv::vgpu
