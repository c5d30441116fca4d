// fairgv-vgpu: the worker process of one session. Started by fairgvd, never by a person.
//
// Exit status: 0 when the session is over, 1 when it could not begin, 2 for bad arguments, 3 when the front
// end broke the protocol.
#include <fmt/core.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "runtime/base/socket.hpp"
#include "runtime/base/time_slice.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/session/worker_options.hpp"
#include "runtime/vgpu/aborts.hpp"
#include "runtime/vgpu/backend/back_end.hpp"
#include "runtime/vgpu/backend/device_trial.hpp"
#include "runtime/vgpu/issue/failing_devices.hpp"
#include "runtime/vgpu/issue/long_commands.hpp"
#include "runtime/vgpu/issue/tracer.hpp"
#include "runtime/vgpu/move/take_over.hpp"
#include "runtime/vgpu/opencl/driver/unusable_drivers.hpp"
#include "runtime/vgpu/orders.hpp"
#include "runtime/vgpu/placement.hpp"
#include "runtime/vgpu/process.hpp"
#include "runtime/vgpu/residency/residencies.hpp"
#include "runtime/vgpu/worker.hpp"

namespace fairgv::vgpu {
namespace {

/// The message that tells the daemon that the worker is ready.
session::WorkerReady ready_with(const BackEnd& back_end, bool examine_drivers) {
  session::WorkerReady ready{.devices = back_end.devices(), .nameable = back_end.nameable()};
  if (const char* const vendors = std::getenv("OCL_ICD_VENDORS"); examine_drivers && vendors != nullptr) {
    ready.unusable = opencl::unusable_drivers(vendors);
  }
  return ready;
}

[[noreturn]] void give_up_take_over(const Socket& daemon, const Error& why) {
  (void)daemon.send(to_text(session::WorkerFailed{why.message}));
  spdlog::shutdown();
  ::_exit(1);
}

/// Serves the session to its end.
Result<int> serve(const session::WorkerOptions& options, const Socket& daemon) {
  const session::WorkerTuning& tuning = options.tuning;
  FAIRGV_TRY(segment, ring::Segment::attach(UniqueFd(options.descriptors.segment)));
  FAIRGV_TRY(turns, session::TurnMemory::attach(UniqueFd(options.descriptors.turns)));
  FAIRGV_TRY(back_end, open_on_device_cores(options));
  FAIRGV_TRY(placement, Placement::find(*back_end.value(), tuning.device_cores));
  set_time_slice(kPromptSlice);  // not the driver's threads': those run long
  ring::Coscheduling& coscheduling = segment->header().coscheduling;
  coscheduling.device_apart.store(placement->apart() ? 1 : 0, std::memory_order_relaxed);
  const session::WorkerReady ready = ready_with(*back_end.value(), options.examine_drivers);
  FAIRGV_CHECK(daemon.send(to_text(ready)));
  std::optional<TakeOver> from;
  if (options.takes_over) {
    FAIRGV_TRY(order, wait_for_take_over(daemon));
    from = std::move(order).value();
  }

  IssueSettings settings;
  settings.turn.slice =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(options.slice_ms));
  settings.turn.samples = tuning.samples;
  settings.slicing = slicing_settings(tuning.slicing, tuning.slicing_floor, options.slicing_wish);
  settings.limits.commands = tuning.commands;
  placement->configure(settings);
  if (placement->apart() && tuning.coscheduling) settings.turn.coscheduling = &coscheduling;
  settings.knock = [fd = options.descriptors.knock](wire::DeviceIndex) { return session::knock(fd); };
  LongCommands long_commands(
      [&daemon](const session::LongCommand& command) { return daemon.offer(to_text(command)); });
  settings.held_long = [&long_commands](const DeviceCommand& command, std::string_view why_whole,
                                        Duration held, TimePoint now) {
    long_commands.held(command.lane()->device(), command.name(), why_whole, held, now);
  };
  FailingDevices failing(
      [&daemon](const session::DeviceFailed& failed) { return daemon.offer(to_text(failed)); });
  // While it makes a session again, that says by itself what went wrong.
  std::atomic<bool> serves{!from};
  const auto has_failed = [&failing, &back_end, &serves](wire::DeviceIndex device, std::int32_t error) {
    if (!serves) return false;
    const auto name = back_end.value()->device_failure(error);
    return name && failing.fails(device, *name, std::chrono::steady_clock::now());
  };
  settings.failed = [&has_failed](const DeviceCommand& command, std::int32_t error) {
    return has_failed(command.lane()->device(), error);
  };
  const auto device_turns = std::span(turns->page().devices).first(ready.devices.size());
  DeviceAccess access;
  if (session::TurnPromises* const promises = turns->promises()) {
    settings.promises = promises->devices;
    access = DeviceAccess(std::span(promises->devices).first(ready.devices.size()));
  }
  if (from) {
    for (const auto& [device, target] : from->order.moves) access.moved_to(target);
  }
  std::span<session::DeviceResidency> lent;
  if (session::Residencies* const pages = turns->residencies())
    lent = std::span(pages->devices).first(ready.devices.size());
  Residencies residencies(
      lent, [fd = options.descriptors.knock] { session::knock(fd); }, from.has_value());
  settings.residencies = residencies.by_device();
  std::optional<Tracer> tracer;
  if (const auto trace_memory = turns->trace())
    settings.tracer = &tracer.emplace(*trace_memory, device_turns);
  Executor executor(segment.value(), device_turns, settings);
  const Socket ledger{UniqueFd(options.descriptors.ledger)};
  residencies.set_wake([&executor] { executor.reconsider(); });
  MemoryAccount memory(ready.devices.size(), ask_daemon(ledger));
  const auto calls =
      back_end.value()->serve(segment.value(), executor,
                              {.slicing = settings.slicing.mode != SlicingSettings::Mode::off,
                               .never_slice = {tuning.never_slice.begin(), tuning.never_slice.end()},
                               .memory = ledger ? &memory : nullptr,
                               .residencies = &residencies,
                               .object_limit = tuning.objects,
                               .access = access,
                               .refused = [&has_failed](wire::DeviceIndex device, std::int32_t error) {
                                 has_failed(device, error);
                               }});
  std::uint64_t next_number = 1;
  if (from) {
    const auto next = take_over(std::move(*from), daemon, segment.value(), options.api, executor, *calls,
                                ledger ? &memory : nullptr);
    // As at the end: drivers have threads of their own.
    if (!next) give_up_take_over(daemon, next.error());
    next_number = next.value();
    from.reset();
    serves = true;
  }
  Worker worker(segment.value(), executor, *calls, placement->commands_run_on());
  if (back_end.value()->callbacks_may_issue()) executor.set_stand_in(&worker);
  worker.continue_from(next_number);
  obey(daemon, worker, *calls, options.api, failing);
  int status = 0;
  if (auto served = worker.run(); !served) {
    // The daemon logs it: it may contain a client's text. If there is no room, the status tells.
    const session::WorkerFailed why{"its program broke the protocol: " + served.error().message};
    static_cast<void>(daemon.offer(to_text(why)));
    status = 3;
  }
  // Commands may still be under way, and drivers have threads of their own: leave without unwinding. The
  // system takes everything back.
  spdlog::shutdown();
  ::_exit(status);
}

/// Tries the device of the options, tells the daemon, and leaves.
[[noreturn]] void try_device(const session::WorkerOptions& options, const Socket& daemon) {
  listen_to_daemon(daemon.fd(), [](const Packet&) {});
  session::TrialEnded ended;
  const auto back_end = open_on_device_cores(options);
  if (back_end) {
    const auto devices = back_end.value()->devices();
    const auto found = std::find(devices.begin(), devices.end(), *options.trial);
    ended = found == devices.end()
                ? trial_failed("devices", "its driver does not show it any more")
                : back_end.value()->try_device(static_cast<wire::DeviceIndex>(found - devices.begin()));
  } else {
    ended.reason = back_end.error().message;
  }
  static_cast<void>(daemon.send(to_text(ended)));
  // As a worker that serves: drivers have threads of their own.
  spdlog::shutdown();
  ::_exit(0);
}

int refuse_arguments(std::string_view why) {
  fmt::print(stderr, "fairgv-vgpu: {}; fairgvd starts this program with the right options\n", why);
  return 2;
}

int run(int argc, char** argv) {
  CLI::App app("the worker of one FairGV session; fairgvd starts it", "fairgv-vgpu");
  int options_fd = -1;
  std::uint32_t session = 0;
  app.add_option("--session", session, "number of the session, for people who look at processes")->required();
  app.add_option("--options-fd", options_fd, "inherited memory file with all that this worker is told")
      ->required()
      ->check(CLI::NonNegativeNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return refuse_arguments(error.what());
  }
  const auto options = session::read_worker_options(UniqueFd(options_fd));
  if (!options) return refuse_arguments(options.error().message);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("fairgv-vgpu"));
  // The daemon puts the time and the session before it.
  spdlog::set_pattern(std::string(session::kWorkersOwnLine) + "%l: %v");
  std::signal(SIGPIPE, SIG_IGN);
  close_memory_to_others();
  tell_of_aborts();
  // The output of kernels must be in the pipe when their command is reported complete, whole lines or not:
  // drivers that print by the C library (Intel's) write nothing else out.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  const Socket daemon{UniqueFd(options->descriptors.daemon)};
  if (options->trial) try_device(options.value(), daemon);
  const auto status = serve(options.value(), daemon);
  if (status) return status.value();
  spdlog::error("session {} cannot begin: {}", session, status.error().message);
  // If the daemon is gone there is nobody to tell.
  static_cast<void>(daemon.send(to_text(session::WorkerFailed{status.error().message})));
  return 1;
}

}  // namespace
}  // namespace fairgv::vgpu

int main(int argc, char** argv) {
  return fairgv::vgpu::run(argc, argv);
}
