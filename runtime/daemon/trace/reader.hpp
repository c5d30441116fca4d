// Reads what one worker has recorded (session/trace.hpp), and believes nothing of it: a record is copied,
// checked, and left out if it cannot be; a ring whose format is broken is not read any more. One thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "runtime/control/trace_report.hpp"
#include "runtime/daemon/devices/view.hpp"
#include "runtime/daemon/tenants/ids.hpp"

namespace fairgv::daemon {

class TraceReader {
 public:
  /// Records that lie in the ring already are an earlier trace's, and dropped. In reports the devices have
  /// the host's numbers; commands of devices that are not in `devices` are left out. Calls that claim to have
  /// begun before `began_ns` are left out: the client was not asked to record them.
  TraceReader(SessionId session, const session::TraceMemory& memory, DeviceView devices,
              std::uint64_t began_ns = 0);

  /// Adds commands, calls and names to the report. Records that claim to have ended after `now_ns` are left
  /// out.
  void drain(control::TraceReport& report, std::uint64_t now_ns);

  /// Records that found no room since this object was made, as the worker says.
  std::uint64_t lost() const { return lost_; }

 private:
  void take_name(const ring::RecordHeader& header, std::span<const std::byte> payload,
                 control::TraceReport& report);
  void take_command(const ring::RecordHeader& header, std::span<const std::byte> payload,
                    control::TraceReport& report, std::uint64_t now_ns) const;

  void take_call(const ring::RecordHeader& header, std::span<const std::byte> payload,
                 control::TraceReport& report, std::uint64_t now_ns) const;
  std::uint32_t known_name(std::uint64_t number) const {
    return number <= names_ ? static_cast<std::uint32_t>(number) : 0;
  }

  SessionId session_;
  DeviceView devices_;
  std::uint64_t began_ns_;
  ring::RingConsumer ring_;
  std::atomic<std::uint64_t>* lost_count_;
  std::uint64_t lost_before_;
  std::uint64_t lost_ = 0;
  std::uint32_t names_ = 0;  // so many are known
  bool broken_ = false;
};

}  // namespace fairgv::daemon
