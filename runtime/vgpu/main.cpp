// fairgv-vgpu: the worker process of one session. Started by fairgvd, never by a person.
//
// Exit status: 0 when the session is over, 1 when it could not begin, 2 for bad arguments, 3 when the front
// end broke the protocol.
#include <fmt/core.h>
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/core_set.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/base/time_slice.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/slicing_wish.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/cuda/worker.hpp"
#include "runtime/vgpu/issue/aborts.hpp"
#include "runtime/vgpu/issue/device_threads.hpp"
#include "runtime/vgpu/issue/long_commands.hpp"
#include "runtime/vgpu/opencl/backend.hpp"
#include "runtime/vgpu/opencl/unusable_drivers.hpp"
#include "runtime/vgpu/tracer.hpp"
#include "runtime/vgpu/turn/stolen_time.hpp"
#include "runtime/vgpu/worker.hpp"
#include "slicing/planner.hpp"

namespace fairgv::vgpu {
namespace {

struct Arguments {
  std::uint32_t session = 0;
  int segment_fd = -1;
  int turn_fd = -1;
  int daemon_fd = -1;
  int knock_fd = -1;
  int ledger_fd = -1;
  double slice_ms = 6;
  std::uint32_t samples = sched::CommandHistory::kDefaultSamples;
  std::string device_cores;
  bool core_per_thread = true;
  bool coscheduling = true;
  std::string slicing = "time";
  std::uint64_t slicing_floor = slicing::kDefaultFloor;
  std::vector<std::string> never_slice;
  std::string slice;  // session::SlicingWish as text; empty: as configured
  std::string api = to_text(session::Api::opencl);
  std::vector<std::string> cuda_libraries;
  bool examine_drivers = false;
  std::uint32_t object_limit = opencl::BackendSettings{}.object_limit;
  std::uint64_t command_limit = Executor::Limits{}.commands;
};

/// For CLI11: an error, or nothing.
std::string is_slicing_wish(const std::string& text) {
  const auto wish = session::parse_slicing_wish(text, "--slice");
  return wish ? "" : wish.error().message;
}

void declare(CLI::App& app, Arguments& to) {
  app.add_option("--session", to.session, "number of the session, for the log")->required();
  app.add_option("--segment-fd", to.segment_fd, "inherited descriptor of the session's segment")
      ->required()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--turn-fd", to.turn_fd, "inherited descriptor of the turn page")
      ->required()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--daemon-fd", to.daemon_fd, "inherited socket to fairgvd")
      ->required()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--knock-fd", to.knock_fd, "inherited eventfd of the dispatcher")
      ->required()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--ledger-fd", to.ledger_fd, "inherited socket to fairgvd's ledger of memory")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--slice-ms", to.slice_ms, "device time that a lone tenant keeps in flight, milliseconds")
      ->check(CLI::Range(0.01, 10'000.0));
  app.add_option("--samples", to.samples, "commands measured one by one in a contended turn")
      ->check(CLI::Range(1, 1000));
  app.add_option("--device-cores", to.device_cores,
                 "where the driver's threads run, and this program's do not");
  app.add_flag("!--threads-anywhere", to.core_per_thread,
               "leave it to the system where the driver's threads run");
  app.add_flag("!--no-coscheduling", to.coscheduling,
               "let the program's waiting threads sleep through its turns");
  app.add_option("--slicing", to.slicing,
                 "how launches that outlast a slice are cut: by time, by the size of their grid, not at all")
      ->check(CLI::IsMember({"time", "static", "off"}));
  app.add_option("--slicing-floor", to.slicing_floor, "work-groups of the smallest part of a launch")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--never-slice", to.never_slice, "a function whose launches run whole; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--object-limit", to.object_limit, "objects that the program may have at a time")
      ->check(CLI::Range(1U, opencl::BackendSettings{}.object_limit));
  app.add_option("--command-limit", to.command_limit,
                 "commands that may be pending while only the program can make progress possible")
      ->check(CLI::PositiveNumber);
  app.add_flag("--examine-drivers", to.examine_drivers, "tell the daemon which drivers cannot be opened");
  app.add_option("--api", to.api, "which calls the program makes")
      ->check(CLI::IsMember({to_text(session::Api::opencl), to_text(session::Api::cuda)}));
  app.add_option("--cuda-library", to.cuda_libraries,
                 "a CUDA driver (libcuda.so.1); the first with a device is used; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--slice", to.slice, "what the program wants for its long launches (FAIRGV_SLICE)")
      ->check(is_slicing_wish);
}

/// Without core dumps, no helper of the system's is given one either (core(5): a pipe ignores the limit), and
/// nobody of the same user can trace this process.
void close_memory_to_others() {
  rlimit core{};
  if (::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0) ::prctl(PR_SET_DUMPABLE, 0);
}

/// A worker without a daemon has nobody to work for, and nobody who would end it.
void exit_with_daemon(int daemon_fd) {
  std::thread([daemon_fd] {
    pollfd daemon{daemon_fd, POLLIN, 0};
    while (::poll(&daemon, 1, -1) < 0) {
      // EINTR
    }
    ::_exit(0);  // the daemon sends nothing: whatever happened is the end
  }).detach();
}

/// The daemon's ledger as the memory account asks it. An answer is waited for as long as the daemon lives.
MemoryAccount::Ledger ask_daemon(const Socket& daemon) {
  return [&daemon](const session::LedgerRequest& request) -> session::LedgerAnswer {
    const bool sent = static_cast<bool>(daemon.send(to_packet(request)));
    if (sent && request.kind == session::LedgerRequest::Kind::give_back) return {};
    if (const auto packet = sent ? daemon.receive() : Error{}; packet) {
      if (const auto answer = session::parse_ledger_answer(packet->text)) return answer.value();
    }
    ::_exit(0);
  };
}

/// The drivers beneath: OpenCL's, which every worker has if there is one, so that all name the devices alike;
/// and CUDA's for a program of CUDA.
struct Drivers {
  std::optional<opencl::Driver> opencl;
  std::unique_ptr<cuda::Worker> cuda;

  /// As all workers see them.
  std::vector<session::DeviceDescription> devices() const {
    std::vector<session::DeviceDescription> all;
    for (std::size_t i = 0; opencl && i < opencl->root_devices().size(); ++i) {
      const opencl::Device& device = opencl->devices()[i];
      cl_ulong memory = 0;  // unknown, if the driver does not say
      clGetDeviceInfo(device.id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory), &memory, nullptr);
      const auto index = static_cast<wire::DeviceIndex>(i);
      all.push_back({opencl->platform_name(device.platform), opencl->device_name(index), device.type, memory,
                     opencl->device_id(index)});
    }
    if (cuda) all.insert(all.end(), cuda->more_devices().begin(), cuda->more_devices().end());
    return all;
  }
  bool has_host_device() const { return cuda ? cuda->is_host() : opencl->has_host_device(); }
  /// Whether ends are reported by the threads that run commands, on which more may be issued: OpenCL's on the
  /// host's CPU. A GPU's driver has few threads for that, and one of CUDA must not be called there.
  bool callbacks_may_issue() const {
    if (cuda || !opencl) return false;
    const auto devices = opencl->root_devices();
    return std::all_of(devices.begin(), devices.end(),
                       [](const opencl::Device& device) { return (device.type & CL_DEVICE_TYPE_CPU) != 0; });
  }
  /// Whether all of the drivers' threads work for one CPU device: those of several could not be told apart.
  bool is_one_cpu_device() const {
    return has_host_device() && opencl && opencl->devices().size() == 1 &&
           (!cuda || cuda->more_devices().empty());
  }
};

/// Opens it, which starts the threads of its CPU device. Of several devices they cannot be told apart.
Result<opencl::Driver> open_opencl(bool core_per_thread) {
  const std::size_t before = own_threads().size();
  auto driver = opencl::Driver::open();
  if (!driver || !core_per_thread) return driver;
  const auto cores = allowed_cores();
  if (cores && driver->has_host_device() && driver->devices().size() == 1) {
    const std::vector<pid_t> threads = own_threads();
    give_each_a_core(std::span(threads).subspan(before), cores.value());
  }
  return driver;
}

Result<Drivers> open_drivers(const Arguments& arguments) {
  Drivers drivers;
  auto opencl = open_opencl(arguments.core_per_thread);
  if (opencl) drivers.opencl.emplace(std::move(opencl).value());
  if (arguments.api == to_text(session::Api::cuda)) {
    auto cuda = cuda::Worker::open(arguments.cuda_libraries, drivers.opencl ? &*drivers.opencl : nullptr);
    if (!cuda) return cuda.error();
    drivers.cuda = std::move(cuda).value();
  } else if (!opencl) {
    return opencl.error();
  }
  return drivers;
}

/// Those that a CPU device runs on.
Result<cpu_set_t> device_processors(const Arguments& arguments) {
  return arguments.device_cores.empty() ? allowed_cores()
                                        : parse_core_set(arguments.device_cores);
}

/// Their threads on the cores that were given for them and this one on the others. Threads inherit the cores
/// of the thread that starts them, and drivers of CPU devices start theirs when they are opened.
Result<Drivers> open_drivers_on_their_cores(const Arguments& arguments) {
  if (arguments.device_cores.empty()) return open_drivers(arguments);
  const auto cores = device_processors(arguments);
  if (!cores) return cores.error();
  const auto all = allowed_cores();
  if (!all) return all.error();
  // PoCL makes as many threads as the machine has cores unless it is told (3.1; POCL_MAX_PTHREAD_COUNT). What
  // the administrator has said goes before it.
  ::setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(CPU_COUNT(&cores.value())).c_str(), 0);
  if (auto there = run_on(cores.value()); !there) return there.error();
  auto drivers = open_drivers(arguments);
  if (auto back = run_on(other_cores(all.value(), cores.value())); !back)
    return back.error();
  return drivers;
}

/// Serves the session to its end.
Result<int> serve(const Arguments& arguments, const Socket& daemon) {
  auto segment = ring::Segment::attach(UniqueFd(arguments.segment_fd));
  if (!segment) return segment.error();
  auto turns = session::TurnMemory::attach(UniqueFd(arguments.turn_fd));
  if (!turns) return turns.error();
  auto drivers = open_drivers_on_their_cores(arguments);
  if (!drivers) return drivers.error();
  session::WorkerReady ready{drivers->devices()};
  if (const char* const vendors = std::getenv("OCL_ICD_VENDORS"); arguments.examine_drivers && vendors) {
    ready.unusable = opencl::unusable_drivers(vendors);
  }
  std::vector<pid_t> threads = own_threads();  // this one, and those that the driver has started
  std::erase(threads, ::gettid());
  set_time_slice(kPromptSlice);  // not the driver's: those run long
  const auto processors = device_processors(arguments);
  if (!processors) return processors.error();
  StolenTime stolen(threads, HostSteal(processors.value()));
  const Processors commands_run_on = !drivers->has_host_device()       ? Processors::the_devices_own
                                     : !arguments.device_cores.empty() ? Processors::other_cpus
                                                                       : Processors::our_cpus;
  const bool apart = commands_run_on != Processors::our_cpus;
  ring::Coscheduling& coscheduling = segment->header().coscheduling;
  coscheduling.device_apart.store(apart ? 1 : 0, std::memory_order_relaxed);
  if (auto sent = daemon.send(session::to_text(ready)); !sent) return sent.error();
  exit_with_daemon(daemon.fd());

  Executor::Settings settings;
  settings.turn.slice =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(arguments.slice_ms));
  settings.turn.samples = arguments.samples;
  const auto wish = session::parse_slicing_wish(arguments.slice, "--slice");
  if (!wish) return wish.error();
  settings.slicing = slicing_settings(arguments.slicing, arguments.slicing_floor, wish.value());
  settings.limits.commands = arguments.command_limit;
  if (drivers->is_one_cpu_device()) {
    settings.turn.rest = [&stolen] { stolen.rest(); };
    settings.turn.watch_for_theft = [&stolen](bool rested) { stolen.restart(rested); };
    settings.turn.stolen = [&stolen](Duration unused) { return stolen.so_far(unused); };
  }
  // Not on the cores that are for kernels: others' run there meanwhile.
  std::optional<AwayFromCores> compilers;
  if (drivers->is_one_cpu_device() && apart) {
    const auto all = allowed_cores();  // this thread's, which are the others
    if (!all) return all.error();
    compilers.emplace(threads, all.value());
    settings.compiler = [&compilers](bool at_work) { at_work ? compilers->leave() : compilers->come_back(); };
  }
  if (apart && arguments.coscheduling) settings.turn.coscheduling = &coscheduling;
  settings.knock = [fd = arguments.knock_fd](wire::DeviceIndex) { return session::knock(fd); };
  LongCommands long_commands(
      [&daemon](const session::LongCommand& command) { return daemon.offer(session::to_text(command)); });
  settings.held_long = [&long_commands](const DeviceCommand& command, std::string_view why_whole,
                                        Duration held, TimePoint now) {
    long_commands.held(command.lane()->device(), command.name(), why_whole, held, now);
  };
  const auto device_turns = std::span(turns->page().devices).first(ready.devices.size());
  std::optional<Tracer> tracer;
  if (const auto trace_memory = turns->trace())
    settings.tracer = &tracer.emplace(*trace_memory, device_turns);
  Executor executor(segment.value(), device_turns, settings);
  const Socket ledger{UniqueFd(arguments.ledger_fd)};
  MemoryAccount memory(ready.devices.size(), ask_daemon(ledger));
  MemoryAccount* const counted = ledger ? &memory : nullptr;
  const std::set<std::string> never_slice(arguments.never_slice.begin(), arguments.never_slice.end());
  std::optional<opencl::Backend> opencl;
  std::unique_ptr<CallHandler> calls;
  if (drivers->cuda) {
    calls = drivers->cuda->serve(segment.value(), executor,
                                 {.slicing = settings.slicing.mode != SlicingSettings::Mode::off,
                                  .never_slice = never_slice,
                                  .memory = counted,
                                  .object_limit = arguments.object_limit});
  } else {
    opencl.emplace(
        *drivers->opencl, segment.value(), executor,
        opencl::BackendSettings{
            .never_slice = never_slice, .memory = counted, .object_limit = arguments.object_limit});
    calls = std::make_unique<DispatchTo<opencl::Backend>>(*opencl);
  }
  Worker worker(segment.value(), executor, *calls, commands_run_on);
  if (drivers->callbacks_may_issue()) executor.set_stand_in(&worker);
  int status = 0;
  if (auto served = worker.run(); !served) {
    // The daemon logs it: what a client has written may be in it. If there is no room, the status tells.
    const session::WorkerFailed why{"its program broke the protocol: " + served.error().message};
    static_cast<void>(daemon.offer(session::to_text(why)));
    status = 3;
  }
  // Commands may still be under way, and drivers have threads of their own: leave without unwinding. The
  // system takes everything back.
  spdlog::shutdown();
  ::_exit(status);
}

int run(int argc, char** argv) {
  CLI::App app("the worker of one FairGV session; fairgvd starts it", "fairgv-vgpu");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    fmt::print(stderr, "fairgv-vgpu: {}; fairgvd starts this program with the right options\n", error.what());
    return 2;
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("fairgv-vgpu"));
  // The daemon puts the time and the session before it.
  spdlog::set_pattern(std::string(session::kWorkersOwnLine) + "%l: %v");
  std::signal(SIGPIPE, SIG_IGN);
  close_memory_to_others();
  tell_of_aborts();
  // What kernels print must be in the pipe when their command is reported complete, or at least soon.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Socket daemon{UniqueFd(arguments.daemon_fd)};
  const auto status = serve(arguments, daemon);
  if (status) return status.value();
  spdlog::error("session {} cannot begin: {}", arguments.session, status.error().message);
  // If the daemon is gone there is nobody to tell.
  static_cast<void>(daemon.send(session::to_text(session::WorkerFailed{status.error().message})));
  return 1;
}

}  // namespace
}  // namespace fairgv::vgpu

int main(int argc, char** argv) {
  return fairgv::vgpu::run(argc, argv);
}
