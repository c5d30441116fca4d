#include "runtime/daemon/sessions/worker_starter.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/page.hpp"
#include "runtime/daemon/tenants/peers/peer_process.hpp"
#include "runtime/daemon/worker/control_group.hpp"
#include "runtime/daemon/worker/cuda_driver.hpp"
#include "runtime/daemon/worker/options.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOutputPipeBytes = 1 << 20;

constexpr const char* kNoCudaDriver =
    "there is no CUDA driver here, and this FairGV was built without its software one: install NVIDIA's, or "
    "name one as library in [cuda]";

/// The address where client and worker should both map their segment, so that shared virtual memory has the
/// same address in both: below the addresses that mmap chooses on x86-64 by itself, and where the sanitizers
/// allow mappings. Sessions take places in turn because the child of a fork still has its parent's segment in
/// the way.
constexpr std::uint64_t kFirstPlace = 0x7e80'0000'0000;
constexpr std::uint64_t kPlaceBytes = std::uint64_t{72} << 30;  // a segment is a bit over 64 GiB
constexpr std::uint64_t kPlaces = 6;

std::uint64_t place_of(SessionId session) {
  return kFirstPlace + session.value % kPlaces * kPlaceBytes;
}

/// The size of a memory file is the only limit on filling it.
std::uint64_t arena_bytes(const SessionRule& rule) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t machine = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page;
  const std::uint64_t bytes = std::min(rule.shared_memory.value_or(machine), kMostSharedMemory);
  return round_down_to_page(bytes);
}

/// The user that the worker runs as. Only root can change users; a daemon of another user serves that user
/// only.
Result<std::optional<User>> identity_for(const PeerCredentials& peer) {
  if (::geteuid() == 0) {
    if (peer.uid == 0) return std::optional<User>();
    return std::optional(look_up_user(peer.uid, peer.gid));
  }
  if (peer.uid == ::geteuid()) return std::optional<User>();
  return Error{"this daemon serves user " + std::to_string(::geteuid()) + " only and you are user " +
               std::to_string(peer.uid) +
               ": start your own with 'fairgv run', or ask for a fairgvd that runs as root"};
}

/// The features that both the client and the configuration want.
std::uint64_t wanted_features(const session::Hello& hello, const Config& config) {
  return config.session.driver_messages ? hello.features
                                        : hello.features & ~std::uint64_t{session::kDriverMessages};
}

struct OutputPipe {
  UniqueFd reader, writer;
};

/// The pipe into which the worker's driver writes the output of kernels; the client reads it at any time.
Result<OutputPipe> make_output_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  OutputPipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (::fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK) != 0) {
    return system_error("cannot make a pipe non-blocking");
  }
  // Room for a talkative kernel while the client is busy. The system refuses this size to users with many
  // pipes: then the pipe is smaller.
  ::fcntl(pipe.writer.get(), F_SETPIPE_SZ, kOutputPipeBytes);
  return pipe;
}

struct Channel {
  Socket ours, theirs;
};

/// A worker cannot make us wait, nor send us descriptors.
Result<Channel> make_channel() {
  FAIRGV_TRY(ends, Socket::pair());
  auto& [ours, theirs] = ends.value();
  ours.refuse_descriptors();
  FAIRGV_CHECK(ours.set_nonblocking());
  return Channel{std::move(ours), std::move(theirs)};
}

}  // namespace

void WorkerStarter::tell_unusable_drivers(const session::WorkerReady& ready) {
  if (std::exchange(installation_.examined, true)) return;
  for (const std::string& reason : ready.unusable) {
    spdlog::warn("a driver cannot be opened and is left out: {}: install what it lacks, or remove it",
                 reason);
  }
}

Result<std::unique_ptr<Session>> WorkerStarter::start(const Request& request) const {
  FAIRGV_TRY(made, make(request));
  Session& session = *made->session;
  FAIRGV_TRY(worker, spawn(session, made->ends, session.segment->fd(), false));
  session.worker = std::move(worker).value();
  session.processor_clock.emplace(session.worker.pid());
  return std::move(made->session);
}

Result<WorkerStarter::Successor> WorkerStarter::start_successor(const Session& session) const {
  FAIRGV_TRY(channel, make_channel());
  FAIRGV_TRY(ledger, make_channel());
  FAIRGV_TRY(messages, WorkerOutput::make());
  const Ends ends{std::move(channel->theirs), std::move(ledger->theirs), std::move(messages->second)};
  FAIRGV_TRY(worker, spawn(session, ends, session.segment_fd.get(), true));
  return Successor{std::move(channel->ours), std::move(ledger->ours), std::move(messages->first),
                   std::move(worker).value()};
}

Result<WorkerStarter::Successor> WorkerStarter::start_trial(session::Api api,
                                                            const session::DeviceDescription& device) const {
  FAIRGV_TRY(channel, make_channel());
  FAIRGV_TRY(messages, WorkerOutput::make());
  session::WorkerOptions options = worker_options(config_);
  options.descriptors.daemon = channel->theirs.fd();
  options.api = api;
  options.trial = device;
  FAIRGV_TRY(worker, spawn(std::move(options), messages->second.get(), -1, {}));
  return Successor{std::move(channel->ours), {}, std::move(messages->first), std::move(worker).value()};
}

Result<std::unique_ptr<Session>> WorkerStarter::start_direct(
    const Request& request, const Socket& client, std::optional<session::DirectMode> allowed) const {
  if (allowed.value_or(config_.direct) == session::DirectMode::off) {
    return Error{
        "direct mode is off for tenant " + request.tenant.name +
        ": set direct = \"fallback\" in [cuda] or in the tenant's table of fairgvd.toml, or start the "
        "program without --direct and FAIRGV_DIRECT"};
  }
  if (const auto identity = identity_for(request.peer); !identity) return identity.error();
  auto program = open_peer(client.fd(), request.peer);
  if (!program) {
    return Error{"direct mode needs a program that the daemon can see and end: " + program.error().message +
                 ": run the daemon where the program runs, or the program without direct mode"};
  }
  // Its output is its own.
  session::Hello hello = request.hello;
  hello.features &= ~std::uint64_t{session::kKernelOutput | session::kDriverMessages};
  FAIRGV_TRY(made, make({request.id, request.tenant, request.peer, request.account, hello}));
  Session& session = *made->session;
  session.messages.reset();
  session.worker = WorkerProcess::of_program(request.peer.pid, std::move(program).value());
  const session::WorkerOptions options = worker_options(config_);
  const session::DirectEnds ends{request.id.value, config_.cuda_library.value_or(""), options.slice_ms,
                                 options.tuning.samples};
  FAIRGV_CHECK(client.send(to_text(ends), {session.turns.fd(), made->ends.channel.fd(),
                                           made->ends.ledger.fd(), session.knock.get()}));
  return std::move(made->session);
}

/// Makes everything that the worker inherits, except its options, and the session without its process.
Result<WorkerStarter::Made> WorkerStarter::make(const Request& request) const {
  const auto& [id, tenant, peer, account, hello] = request;
  ring::SegmentSizes sizes;
  sizes.arena_bytes = arena_bytes(config_.session);
  FAIRGV_TRY(segment, ring::Segment::create(sizes, place_of(id)));
  FAIRGV_TRY(header, ring::HeaderView::attach(segment->fd()));
  header->header().limits.objects.store(config_.tuning.objects, std::memory_order_relaxed);
  FAIRGV_TRY(turns, session::TurnMemory::create());
  FAIRGV_TRY(channel, make_channel());
  FAIRGV_TRY(ledger, make_channel());
  OutputPipe output;
  if ((hello.features & session::kKernelOutput) != 0) {
    FAIRGV_TRY(pipe, make_output_pipe());
    output = std::move(pipe).value();
  }
  FAIRGV_TRY(messages, WorkerOutput::make());
  UniqueFd knock(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!knock) return system_error("cannot make an event descriptor");
  const auto now = Clock::now();
  std::unique_ptr<Session> session(new Session{.id = id,
                                               .tenant = tenant.id,
                                               .tenant_name = tenant.name,
                                               .peer = peer,
                                               .account = account,
                                               .program = hello.program,
                                               .features = wanted_features(hello, config_),
                                               .slicing = hello.slicing,
                                               .api = hello.api,
                                               .started = now,
                                               .give_up = now + kPatience,
                                               .channel = std::move(channel->ours),
                                               .ledger = std::move(ledger->ours),
                                               .knock = std::move(knock),
                                               .turns = std::move(turns).value(),
                                               .segment = std::move(segment).value(),
                                               .output = std::move(output.reader),
                                               .output_end = std::move(output.writer),
                                               .header = std::move(header).value(),
                                               .messages = std::move(messages->first)});
  return Made{std::move(session),
              {std::move(channel->theirs), std::move(ledger->theirs), std::move(messages->second)}};
}

/// Starts the process. It inherits the segment, and the worker's ends.
Result<WorkerProcess> WorkerStarter::spawn(const Session& session, const Ends& ends, int segment,
                                           bool takes_over) const {
  FAIRGV_TRY(identity, identity_for(session.peer));
  session::WorkerOptions options = worker_options(config_);
  options.session = session.id.value;
  options.descriptors = {segment, session.turns.fd(), ends.channel.fd(), ends.ledger.fd(),
                         session.knock.get()};
  options.slicing_wish = session.slicing;
  options.api = session.api;
  options.examine_drivers = !installation_.examined;
  options.takes_over = takes_over;
  return spawn(std::move(options), ends.errors.get(), session.output_end.get(), identity.value());
}

/// It inherits the descriptors that its options name.
Result<WorkerProcess> WorkerStarter::spawn(session::WorkerOptions options, int errors, int output,
                                           const std::optional<User>& run_as) const {
  if (options.api == session::Api::cuda) {
    options.cuda_libraries = cuda_drivers(config_.cuda_library, installation_.program);
    if (options.cuda_libraries.empty()) return Error{kNoCudaDriver};
  }
  FAIRGV_TRY(told, write_worker_options(options));
  WorkerCommand command;
  command.program = installation_.program;
  command.arguments = {"--session", std::to_string(options.session), "--options-fd",
                       std::to_string(told->get())};
  const session::WorkerDescriptors& inherited = options.descriptors;
  command.inherited = {inherited.segment, inherited.turns, inherited.daemon,
                       inherited.ledger,  inherited.knock, told->get()};
  std::erase_if(command.inherited, [](int fd) { return fd < 0; });
  command.output = output;
  command.errors = errors;
  command.channel = inherited.daemon;
  command.vendors = installation_.vendors;
  command.run_as = run_as;
  std::vector<std::string> drivers = installation_.drivers;
  drivers.insert(drivers.end(), options.cuda_libraries.begin(), options.cuda_libraries.end());
  FAIRGV_TRY(cage, plan_cage(config_.worker, config_.vendors,
                             {command.program, command.vendors, drivers, command.run_as}));
  command.cage = std::move(cage).value();
  std::optional<ControlGroup> group;
  if (const auto& folder = control_group_folder()) {
    FAIRGV_TRY(made_group, ControlGroup::make(*folder, options.session));
    group = std::move(made_group).value();
  }
  return WorkerProcess::spawn(std::move(command), std::move(group));
}

}  // namespace fairgv::daemon
