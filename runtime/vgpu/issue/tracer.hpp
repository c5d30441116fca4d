// Records the commands that end on the devices, and the calls that had to wait, while somebody traces: the
// worker's half of session/trace.hpp.
//
// While nobody traces, ended() and part_ended() cost a relaxed load of the turn's line; call_ended() is
// called only for calls to which the front end has given a time, and then it gives none. Externally
// synchronised by the executor's lock; never waits: records that do not fit the ring are lost and counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/session/turn.hpp"
#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/issue/slicer.hpp"

namespace fairgv::vgpu {

class Tracer {
 public:
  /// Both outlive the tracer; one turn per device of the topology.
  Tracer(const session::TraceMemory& memory, std::span<session::DeviceTurn> turns);

  /// Until now another worker has recorded.
  void take_over();

  void part_ended(const DeviceCommand& command, const Slicer::PartUnderWay& part, TimePoint now) {
    if (wanted(command)) record_part(command, part, now);
  }
  /// The command's end was reported; write_ended() follows when all are known that were reported with it.
  void ended(const DeviceCommand& command, TimePoint now) {
    if (wanted(command)) record_end(command, now);
  }
  void write_ended(TimePoint now) {
    if (!ended_.empty()) write_batch(now);
  }
  /// A call that began at `began_ns`, as the front end says: left out if that is after its end.
  void call_ended(std::string_view name, session::TracedCall::Kind kind, std::uint64_t began_ns,
                  std::uint64_t ended_ns);

 private:
  struct Ended {
    session::TracedCommand command;
    std::uint64_t issued_ns;
    std::uint32_t name;
  };

  bool wanted(const DeviceCommand& command) const {
    return turns_[command.lane()->device()].tracing.load(std::memory_order_relaxed) != 0;
  }
  void begin_trace_if_new(std::uint32_t number);
  void begin_trace_if_new(const DeviceCommand& command);
  void record_part(const DeviceCommand& command, const Slicer::PartUnderWay& part, TimePoint now);
  void record_end(const DeviceCommand& command, TimePoint now);
  void write_batch(TimePoint now);
  std::uint32_t name_number(std::string_view name);
  bool write(std::uint16_t opcode, std::uint64_t tag, std::span<const std::byte> payload);
  template <class Traced>
  void write(std::uint16_t opcode, const Traced& traced, std::uint32_t name) {
    (void)write(opcode, name, std::as_bytes(std::span(&traced, 1)));
  }
  void write(const session::TracedCommand& command, std::uint32_t name) {
    write(session::kCommandRecord, command, name);
  }

  std::span<session::DeviceTurn> turns_;
  ring::RingProducer ring_;
  std::atomic<std::uint64_t>& lost_count_;
  std::uint64_t lost_ = 0;
  std::uint32_t trace_ = 0;  // the number of the trace that has the names
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::vector<Ended> ended_;                  // reported together, of one device
  std::vector<std::uint64_t> last_ended_ns_;  // by device
  std::vector<std::uint64_t> first_part_ns_;  // by device: of the launch whose parts end there
  std::vector<std::uint32_t> parts_;          // of it, so far
};

}  // namespace fairgv::vgpu
