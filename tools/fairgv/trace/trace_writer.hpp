// A trace as Chrome's trace event format, which Perfetto and chrome://tracing open (docs/TRACING.md).
//
// Events are written as they come, so that a long trace needs no memory; only the parts of a launch that has
// not ended, and turns that are not over, wait for later records. Pure but for the stream; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/control/trace_report.hpp"

namespace fairgv::tools {

class TraceWriter {
 public:
  /// `out` outlives it; whether writing succeeded is the stream's to say.
  explicit TraceWriter(std::ostream& out);

  /// Adds the daemon's answers, in their order.
  void add(const control::TraceReport& report);
  /// Writes the waiting events, and the end. Nothing may be added afterwards.
  void finish();

  struct Totals {
    std::uint64_t sessions = 0;
    std::uint64_t turns = 0;
    std::uint64_t commands = 0;  // parts are not counted beside their launch
    std::uint64_t calls = 0;
    std::uint64_t lost_commands = 0;
    std::uint64_t lost_turns = 0;
  };
  const Totals& totals() const { return totals_; }

 private:
  using Report = control::TraceReport;
  enum class Track { turns, commands, calls };
  struct Place {
    std::uint64_t process;
    std::uint64_t thread;
  };

  void write(const nlohmann::json& event);
  /// `name` is quoted already; `arguments` are what stands between the braces.
  void write_span(const Place& place, std::string_view name, std::string_view category,
                  std::uint64_t began_ns, std::uint64_t ended_ns, std::string_view arguments);
  void name_process(std::uint64_t process, const std::string& name);
  std::uint64_t tenant_process(const std::string& tenant);
  /// `which`: the device's number, or, of calls, the number of the track.
  Place place_of(std::uint32_t session, std::uint32_t which, Track track);
  static std::string track_name(const Report::Session& session, std::uint32_t which, Track track);
  std::uint32_t free_track(const Report::Call& call);
  Place device_place(std::uint32_t device);
  void write_turn(const Report::Turn& turn);
  void add_command(const Report::Command& command);
  void write_command(const Report::Command& command, std::uint32_t parts);
  void write_call(const Report::Call& call);
  std::string_view name_of(std::uint32_t session, std::uint32_t number) const;

  std::ostream& out_;
  bool first_ = true;
  Totals totals_;
  std::vector<std::string> devices_;
  std::map<std::uint32_t, Report::Session> sessions_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names_;  // by session and number; quoted
  std::map<std::string, std::uint64_t> processes_;                        // of tenants
  std::map<std::uint32_t, bool> device_named_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, Track>, Place> places_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Report::Command>>
      parts_;  // by session, device
  std::vector<Report::Turn> open_turns_;
  std::map<std::uint32_t, std::vector<std::uint64_t>>
      calls_ended_ns_;  // by session; the last one of each track
};

}  // namespace fairgv::tools
