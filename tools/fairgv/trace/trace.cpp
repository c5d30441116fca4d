// fairgv trace: records the devices' work for some seconds.
#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>

#include "runtime/session/identity.hpp"
#include "runtime/session/turn.hpp"
#include "tools/fairgv/command.hpp"
#include "tools/fairgv/control.hpp"
#include "tools/fairgv/trace/trace_spool.hpp"
#include "tools/fairgv/trace/trace_writer.hpp"

namespace fairgv::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct TraceOptions {
  std::string output;
  double seconds = 5;
  std::string tenant;
  std::optional<std::uint32_t> device;
  std::string socket;
};

/// How often the records are fetched: the rings hold some tenths of a second of the shortest commands.
constexpr std::chrono::milliseconds kFetchEvery{50};

/// The signals that ask for the end. Blocked from the beginning, so that the file is complete whenever they
/// come.
sigset_t end_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

/// Waits for the time of one fetch; false when the user wants no more.
bool wait_unless_interrupted() {
  const sigset_t set = end_signals();
  const timespec time{0, std::chrono::nanoseconds(kFetchEvery).count()};
  return ::sigtimedwait(&set, nullptr, &time) < 0;
}

/// The first request begins the trace, and the end of the connection ends it.
Result<void> record(Control control, const TraceOptions& options, TraceSpool& spool) {
  control::ControlRequest request;
  request.command = control::ControlRequest::Command::trace;
  request.tenant = options.tenant;
  request.device = options.device;
  const auto until = Clock::now() + std::chrono::duration<double>(options.seconds);
  bool more = true;
  for (bool first = true, last = false; !last; first = false) {
    last = !more;  // everything until now
    FAIRGV_TRY(answer, control.ask(request));
    if (first) {
      FAIRGV_CHECK(control::unpack_trace_report(answer.value()));
      fmt::print("recording for {} s (an interrupt ends it earlier)\n", options.seconds);
      std::fflush(stdout);
    }
    // Refused after it has begun: the trace has ended, and the records until then are kept.
    if (answer->find('\0') == std::string::npos) {
      FAIRGV_CHECK(control::unpack_trace_report(answer.value()));
    }
    FAIRGV_CHECK(spool.put(answer.value()));
    more = more && Clock::now() < until && wait_unless_interrupted();
  }
  return {};
}

Result<void> write(TraceSpool& spool, TraceWriter& writer) {
  auto written = spool.read([&](const std::string& answer) -> Result<void> {
    FAIRGV_TRY(report, control::unpack_trace_report(answer));
    writer.add(report.value());
    return {};
  });
  writer.finish();
  return written;
}

int tell(const TraceOptions& options, const TraceWriter::Totals& totals) {
  if (totals.sessions == 0) {
    return fail("trace", options.tenant.empty()
                             ? "nothing was recorded: no program runs that you may trace (see 'fairgv ps')"
                             : "nothing was recorded: no program of tenant '" + options.tenant +
                                   "' runs that you may trace (see 'fairgv ps')");
  }
  fmt::print("{}: {} sessions, {} turns, {} commands, {} calls\n", options.output, totals.sessions,
             totals.turns, totals.commands, totals.calls);
  if (totals.lost_commands + totals.lost_turns != 0) {
    fmt::print(
        stderr,
        "fairgv trace: {} commands or calls and {} turns are missing: they came too fast to be recorded\n",
        totals.lost_commands, totals.lost_turns);
  }
  return 0;
}

int trace(const TraceOptions& options) {
  if (!options.tenant.empty() && !session::is_tenant_name(options.tenant)) {
    return fail("trace", session::tenant_name_error(options.tenant, "--tenant").message, kMisused);
  }
  const sigset_t set = end_signals();
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return fail("trace", "cannot block signals");
  auto control = Control::connect(options.socket);
  if (!control) return fail("trace", control.error().message);
  auto spool = TraceSpool::create();
  if (!spool) return fail("trace", spool.error().message);
  std::ofstream file(options.output, std::ios::trunc);
  if (!file) return fail("trace", system_error("cannot write " + options.output).message);
  const auto recorded = record(std::move(control).value(), options, spool.value());
  TraceWriter writer(file);
  const auto written = write(spool.value(), writer);
  file.close();
  if (!recorded) return fail("trace", recorded.error().message);
  if (!written) return fail("trace", written.error().message);
  if (!file) return fail("trace", system_error("cannot write " + options.output).message);
  return tell(options, writer.totals());
}

}  // namespace

void add_trace(CLI::App& app, Action& action) {
  static TraceOptions options;
  CLI::App* command = app.add_subcommand(
      "trace", "Record turns, commands, calls and memory for Perfetto or chrome://tracing");
  command->add_option("-o,--output", options.output, "The file to write")->required();
  command->add_option("--seconds", options.seconds, "How long (5); an interrupt ends it earlier")
      ->check(CLI::Range(0.1, 3600.0));
  command->add_option("--tenant", options.tenant, "Only this tenant");
  command->add_option("--device", options.device, "Only this device, numbered as by fairgv ps")
      ->check(CLI::Range(0U, session::kMaxDevices - 1));
  add_socket_option(*command, options.socket);
  command->callback([&action] { action = [] { return trace(options); }; });
}

}  // namespace fairgv::tools
