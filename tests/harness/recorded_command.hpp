// A command that no driver knows, for tests of the worker's tracer. A command named "copy" is a transfer.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/vgpu/graph/device_command.hpp"

namespace fairgv::harness {

struct RecordedCommand final : vgpu::DeviceCommand {
  RecordedCommand(std::shared_ptr<vgpu::Lane> lane, std::string_view its_name, vgpu::TimePoint issued)
      : vgpu::DeviceCommand(std::move(lane), 0), name_(its_name) {
    issued_at = issued;
  }
  std::int32_t issue() override { return 0; }
  void watch(vgpu::CompletionSink&) override {}
  void flush() override {}
  const vgpu::CommandTimes* times() const override { return nullptr; }
  bool is_launch() const override { return name_ != "copy"; }
  std::uint64_t bytes() const override { return is_launch() ? 0 : 4096; }
  slicing::Extent groups() const override {
    return is_launch() ? slicing::Extent{8, 4, 1} : slicing::Extent{};
  }
  std::string_view name() const override { return name_; }
  sched::CommandKind kind() const override { return {}; }

 private:
  std::string_view name_;
};

}  // namespace fairgv::harness
