#include "runtime/daemon/session_table.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/base/json_fields.hpp"
#include "runtime/daemon/limits/places.hpp"
#include "runtime/daemon/service/close_aside.hpp"
#include "runtime/daemon/tenants/admission.hpp"
#include "runtime/daemon/tenants/remembered_tenants.hpp"
#include "runtime/daemon/trace/trace.hpp"
#include "runtime/daemon/worker/options.hpp"
#include "runtime/daemon/worker/control_group.hpp"
#include "runtime/daemon/worker/cuda_driver.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOutputPipeBytes = 1 << 20;
/// Of a worker whose program has ended: it says little, unless it is hostile.
constexpr int kLastPackets = 64;

/// Before the second look at what is left of a worker that has ended. Each wait is twice the one before, up
/// to so many times: processes take a moment to die, and only a broken driver keeps them.
constexpr std::chrono::milliseconds kClearAgain{5};
constexpr unsigned kMostDoublings = 8;

constexpr const char* kNoCudaDriver =
    "there is no CUDA driver here, and this FairGV was built without its software one: install NVIDIA's, or "
    "name "
    "one as library in [cuda]";

/// Where client and worker should both map their segment, so that shared virtual memory has one address:
/// below what mmap hands out on x86-64 by itself, and where the sanitizers allow mappings. Sessions take
/// places in turn because the child of a fork still has its parent's segment in the way.
constexpr std::uint64_t kFirstPlace = 0x7e80'0000'0000;
constexpr std::uint64_t kPlaceBytes = std::uint64_t{72} << 30;  // a segment is a bit over 64 GiB
constexpr std::uint64_t kPlaces = 6;

/// Of the worker's process, and of its program: who crowds out its own device is not excused by that.
std::optional<std::chrono::nanoseconds> time_of_both(pid_t worker, pid_t program) {
  const auto ran = processor_time(worker);
  if (!ran) return ran;
  if (program <= 0) return ran;  // in a process namespace that this one does not see
  return *ran + processor_time(program).value_or(std::chrono::nanoseconds(0));
}

std::uint64_t place_of(SessionId session) {
  return kFirstPlace + session.value % kPlaces * kPlaceBytes;
}

/// Nothing but its size keeps a memory file from being filled.
std::uint64_t arena_bytes(const SessionRule& rule) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t machine = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page;
  const std::uint64_t bytes = std::min(rule.shared_memory.value_or(machine), kMostSharedMemory);
  return round_down_to_page(bytes);
}

/// Who the worker runs as. Only root can change users, and another daemon serves its own user only.
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

/// What the client and the configuration want.
std::uint64_t wanted_features(const session::Hello& hello, const Config& config) {
  return config.session.driver_messages ? hello.features
                                        : hello.features & ~std::uint64_t{session::kDriverMessages};
}

struct OutputPipe {
  UniqueFd reader, writer;
};

/// Where the worker's driver writes what kernels print; the client reads it whenever it likes.
Result<OutputPipe> make_output_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  OutputPipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  if (::fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK) != 0) {
    return system_error("cannot make a pipe non-blocking");
  }
  // Room for a talkative kernel while the client is busy. Refused to users with many pipes: then it is
  // smaller.
  ::fcntl(pipe.writer.get(), F_SETPIPE_SZ, kOutputPipeBytes);
  return pipe;
}

/// What a worker has said; nothing if it has not, or has hung up: then its socket is not looked at any more,
/// and its end follows.
std::optional<std::string> next_packet(const Socket& socket, EventLoop::Watch& watch) {
  auto packet = socket.receive_text();
  if (packet && packet->kind == Packet::Kind::message) return std::move(packet->text);
  if (!packet || packet->kind == Packet::Kind::closed) watch.reset();
  return std::nullopt;
}

}  // namespace

Result<void> SessionTable::start(const session::Hello& hello, const PeerCredentials& peer,
                                 Socket& client) {
  const Account account = account_of(peer, client.fd(), host_.config, host_.owners);
  auto allowed = may_begin({sessions_.size(), sessions_of(account.owner)}, account, peer.uid, host_.config,
                           host_.descriptors.sessions);
  if (!allowed) return allowed;
  const auto admission =
      find_admission(host_.config.tenants, host_.owners, {peer, account, client.fd(), hello.tenant});
  if (!admission) return admission.error();
  const std::string& name = admission->tenant;
  const auto tenant = host_.tenants.join(name, admission->applicant, hello.weight, hello.memory);
  if (!tenant) return tenant.error();
  host_.memory.refresh(host_.config.devices, host_.tenants);
  auto session = prepare(tenant.value(), peer, account, hello);
  if (session) {
    if (auto watched = watch(*session.value()); !watched) session = watched.error();
  }
  if (!session) {
    host_.tenants.retire(tenant->id);
    host_.tenants.leave(tenant->id);
    return session.error();
  }
  Session& started = *session.value();
  started.client = std::move(client);
  (void)watch_client(started);
  tell_slicing_floor(started);
  // A program that asked for a new weight asked for its whole tenant.
  host_.dispatch.set_weight(tenant->id, tenant->weight);
  host_.log.info(account, "session {}: tenant {}, weight {}, program {} ({}), worker {}", started.id.value,
                 name, tenant->weight, started.program, peer.pid, started.worker.pid());
  sessions_.emplace(started.id, std::move(session).value());
  return {};
}

/// The worker looks at it before it cuts a launch.
void SessionTable::tell_slicing_floor(Session& session) const {
  for (session::DeviceTurn& turn : session.turns.page().devices) {
    turn.slicing_floor.store(host_.config.slicing.floor, std::memory_order_relaxed);
  }
}

void SessionTable::apply_configuration() {
  for (auto& [id, session] : sessions_) tell_slicing_floor(*session);
}

std::size_t SessionTable::sessions_of(uid_t owner) const {
  return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    return entry.second->account.owner == owner;
  }));
}

/// Everything that the worker inherits, and the worker.
Result<std::unique_ptr<Session>> SessionTable::prepare(const Tenant& tenant,
                                                       const PeerCredentials& peer,
                                                       const Account& account, const session::Hello& hello) {
  auto identity = identity_for(peer);
  if (!identity) return identity.error();
  const SessionId id{++last_id_};
  ring::SegmentSizes sizes;
  sizes.arena_bytes = arena_bytes(host_.config.session);
  auto segment = ring::Segment::create(sizes, place_of(id));
  if (!segment) return segment.error();
  auto header = ring::HeaderView::attach(segment->fd());
  if (!header) return header.error();
  header->header().limits.objects.store(host_.config.session.objects, std::memory_order_relaxed);
  auto turns = session::TurnMemory::create();
  if (!turns) return turns.error();
  auto channel = Socket::pair();
  if (!channel) return channel.error();
  auto& [ours, theirs] = channel.value();
  ours.refuse_descriptors();
  if (auto done = ours.set_nonblocking(); !done) return done.error();
  auto ledger = Socket::pair();
  if (!ledger) return ledger.error();
  auto& [ledger_ours, ledger_theirs] = ledger.value();
  ledger_ours.refuse_descriptors();
  if (auto done = ledger_ours.set_nonblocking(); !done) return done.error();
  OutputPipe output;
  if ((hello.features & session::kKernelOutput) != 0) {
    auto made = make_output_pipe();
    if (!made) return made.error();
    output = std::move(made).value();
  }
  auto messages = WorkerOutput::make();
  if (!messages) return messages.error();
  UniqueFd knock(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!knock) return system_error("cannot make an event descriptor");

  std::unique_ptr<Session> session(new Session{.id = id,
                                               .tenant = tenant.id,
                                               .tenant_name = tenant.name,
                                               .peer = peer,
                                               .account = account,
                                               .program = hello.program,
                                               .features = wanted_features(hello, host_.config),
                                               .slicing = hello.slicing,
                                               .api = hello.api,
                                               .long_commands = {},
                                               .started = Clock::now(),
                                               .stage = Session::Stage::starting,
                                               .give_up = Clock::now() + kWorkerPatience,
                                               .client = {},
                                               .channel = std::move(ours),
                                               .ledger = std::move(ledger_ours),
                                               .knock = std::move(knock),
                                               .turns = std::move(turns).value(),
                                               .segment = std::move(segment).value(),
                                               .segment_fd = {},
                                               .output = std::move(output.reader),
                                               .header = std::move(header).value(),
                                               .worker = {},
                                               .messages = std::move(messages->first),
                                               .clear_at = {},
                                               .clear_looks = 0,
                                               .client_watch = {},
                                               .channel_watch = {},
                                               .ledger_watch = {},
                                               .worker_watch = {}});
  WorkerCommand command;
  command.program = host_.worker_program;
  std::vector<std::string> drivers = host_.drivers;
  std::vector<std::string> cuda;
  if (hello.api == session::Api::cuda) {
    cuda = cuda_drivers(host_.config.cuda_library, host_.worker_program);
    if (cuda.empty()) return Error{kNoCudaDriver};
    drivers.insert(drivers.end(), cuda.begin(), cuda.end());
  }
  session::WorkerOptions options = worker_options(host_.config);
  options.session = id.value;
  options.descriptors = {session->segment->fd(), session->turns.fd(), theirs.fd(), ledger_theirs.fd(),
                         session->knock.get()};
  options.slicing_wish = session->slicing;
  options.api = session->api;
  options.cuda_libraries = std::move(cuda);
  options.examine_drivers = !host_.drivers_examined;
  const auto told = write_worker_options(options);
  if (!told) return told.error();
  command.arguments = {"--session", std::to_string(id.value), "--options-fd", std::to_string(told->get())};
  command.inherited = {session->segment->fd(), session->turns.fd(), theirs.fd(), ledger_theirs.fd(),
                       session->knock.get(), told->get()};
  command.output = output.writer.get();
  command.errors = messages->second.get();
  command.channel = theirs.fd();
  command.vendors = host_.vendors;
  command.run_as = identity.value();
  auto cage = plan_cage(host_.config.worker, host_.config.vendors,
                        {command.program, command.vendors, drivers, command.run_as});
  if (!cage) return cage.error();
  command.cage = std::move(cage).value();
  std::optional<ControlGroup> group;
  if (const auto& folder = control_group_folder()) {
    auto made = ControlGroup::make(*folder, id.value);
    if (!made) return made.error();
    group = std::move(made).value();
  }
  auto worker = WorkerProcess::spawn(std::move(command), std::move(group));
  if (!worker) return worker.error();
  session->worker = std::move(worker).value();
  session->processor_clock.emplace(session->worker.pid());
  return session;
}

Result<void> SessionTable::watch(Session& session) {
  auto channel = host_.events.watch(session.channel.fd(), [this, id = session.id] { on_worker_message(id); });
  if (!channel) return channel.error();
  session.channel_watch = std::move(channel).value();
  auto ledger = host_.events.watch(session.ledger.fd(), [this, id = session.id] { on_ledger_message(id); });
  if (!ledger) return ledger.error();
  session.ledger_watch = std::move(ledger).value();
  auto worker = host_.events.watch(session.worker.pidfd(), [this, id = session.id] { on_worker_end(id); });
  if (!worker) return worker.error();
  session.worker_watch = std::move(worker).value();
  if (!session.messages) return {};
  if ((session.features & session::kDriverMessages) != 0) session.messages->hold_for_program();
  return session.messages->relay(
      host_.events, "session " + std::to_string(session.id.value) + " of tenant " + session.tenant_name);
}

Result<void> SessionTable::watch_client(Session& session) {
  auto client = host_.events.watch(session.client.fd(), [this, id = session.id] { on_client_message(id); });
  if (!client) return client.error();
  session.client_watch = std::move(client).value();
  return {};
}

void SessionTable::on_client_message(SessionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || answer_question(*found->second)) return;
  // A tenant has nothing else to say after its hello: this is the end, one way or the other.
  // A program whose session is lost may end before its worker has been heard, which may go on talking.
  for (int left = kLastPackets; left > 0 && found->second->stage != Session::Stage::ending; --left) {
    if (!hear_worker(*found->second)) break;
  }
  end(*found->second, "its program ended");
}

/// Whether the program asks for what its driver has said, and goes on. It asks once, before it ends: beyond a
/// budget it is another program.
bool SessionTable::answer_question(Session& session) {
  const bool may_ask = (session.features & session::kDriverMessages) != 0;
  if (!may_ask || session.stage != Session::Stage::running || !session.messages) return false;
  const auto packet = session.client.receive_text();
  if (!packet || packet->kind == Packet::Kind::closed) return false;
  if (packet->kind == Packet::Kind::nothing) return true;
  const auto question = session::parse_hear(packet->text);
  if (!question || !session.questions.take_one(Session::kQuestions, Clock::now())) return false;
  session.messages->catch_up();
  session.client.offer(to_text(session::DriverSays{{}, question->number}));
  return true;
}

/// From now on, and what was said while the worker started. What its socket has no room for is lost.
void SessionTable::tell_of_driver(Session& session) {
  if (!session.messages) return;
  session.messages->tell_program([&client = session.client](const WorkerOutput::Lines& lines) {
    for (std::size_t first = 0; first < lines.size(); first += session::kMostDriverLines) {
      const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = std::min(session::kMostDriverLines, lines.size() - first);
      if (client)
        client.offer(to_text(session::DriverSays{{begin, begin + static_cast<std::ptrdiff_t>(count)}}));
    }
  });
}

void SessionTable::on_worker_message(SessionId id) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) hear_worker(*found->second);
}

/// False when the worker has nothing more to say now.
bool SessionTable::hear_worker(Session& session) {
  const auto text = next_packet(session.channel, session.channel_watch);
  if (text) on_worker_text(session, *text);
  return text.has_value();
}

void SessionTable::on_worker_text(Session& session, const std::string& text) {
  const auto message = session::parse_worker_message(text);
  if (!message) return end(session, message.error().message, Fault::violation);
  const auto* const ready = std::get_if<session::WorkerReady>(&message.value());
  const auto* const failed = std::get_if<session::WorkerFailed>(&message.value());
  const auto* const command = std::get_if<session::LongCommand>(&message.value());
  const bool starting = session.stage == Session::Stage::starting;
  if (starting && ready != nullptr) {
    on_ready(session, *ready);
  } else if (failed != nullptr) {
    end(session, failed->reason, starting ? std::nullopt : std::optional(Fault::violation));
  } else if (session.stage == Session::Stage::running && command != nullptr) {
    on_long_command(session, *command);
  } else {
    end(session, "its worker spoke out of turn", Fault::violation);
  }
}

/// One packet at a time, so that a worker that floods the daemon keeps nobody waiting; and one that does not
/// read its answers is told so once its socket is full.
void SessionTable::on_ledger_message(SessionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session& session = *found->second;
  const auto text = next_packet(session.ledger, session.ledger_watch);
  if (!text || session.stage == Session::Stage::ending) return;
  if (session.stage != Session::Stage::running)
    return end(session, "its worker spoke out of turn", Fault::violation);
  const auto answer = host_.memory.take(id, session.devices.through(host_.hardware), *text);
  account_memory(session);
  if (!answer) return end(session, answer.error().message, Fault::violation);
  if (!answer.value()) return;
  if (!session.ledger.send(*answer.value()))
    end(session, "its worker does not listen to answers about memory", Fault::violation);
}

/// After everything that may have changed what its tenant holds.
void SessionTable::account_memory(const Session& session) {
  host_.memory.account(session.tenant_name, Clock::now());
}

void SessionTable::on_ready(Session& session, const session::WorkerReady& ready) {
  auto done = see_devices(session, ready);
  if (done) done = admit(session);
  if (!done) end(session, done.error().message);
}

void SessionTable::on_long_command(Session& session, const session::LongCommand& command) {
  const auto first = session.long_commands.take(command, session.devices);
  if (!first) return end(session, first.error().message, Fault::violation);
  if (!first.value()) return;
  host_.log.info(session.account,
                 "session {} of tenant {}: kernel {} held device {} for {:.1f} ms and cannot be sliced: {}",
                 session.id.value, session.tenant_name, command.name, session.devices.host(command.device),
                 static_cast<double>(command.longest_ns) / 1e6, command.reason);
}

DispatchedSession SessionTable::dispatched(Session& session) const {
  return {.id = session.id,
          .tenant = session.tenant,
          .weight = host_.tenants.find(session.tenant)->weight,
          .turns = &session.turns.page(),
          .header = &session.header.header(),
          .knock_fd = session.knock.get(),
          .devices = session.devices,
          .ran = [worker = session.worker.pid(),
                  program = session.peer.pid] { return time_of_both(worker, program); },
          .suspended = is_suspended(session)};
}

Result<void> SessionTable::admit(Session& session) {
  hold_back(session, Clock::now());
  if (auto added = host_.dispatch.add_session(dispatched(session)); !added) return added;
  host_.memory.begin(session.id, session.tenant_name);
  session::Welcome welcome;
  welcome.session = session.id.value;
  welcome.tenant = session.tenant_name;
  welcome.weight = host_.tenants.find(session.tenant)->weight;
  welcome.names = host_.config.driver_names ? session::Names::driver : session::Names::fairgv;
  const int segment = session.segment->fd();
  if (session.output) welcome.features |= session::kKernelOutput;
  welcome.features |=
      session.features & (session::kQuietSlots | session::kMemoryQuota | session::kCuda |
                          session::kMemoryWaits | session::kIncludes | session::kDriverMessages);
  if ((welcome.features & session::kMemoryQuota) != 0) {
    welcome.memory_limits =
        session.devices.through(host_.hardware).pick(host_.memory.limits(session.tenant_name));
  }
  const auto sent = session.output ? session.client.send(to_text(welcome), {segment, session.output.get()})
                                   : session.client.send(to_text(welcome), {segment});
  if (!sent) return sent;
  session.segment_fd.reset(::fcntl(segment, F_DUPFD_CLOEXEC, 0));
  session.segment.reset();  // only the header stays mapped here
  session.output.reset();
  session.stage = Session::Stage::running;
  tell_of_driver(session);
  return {};
}

void SessionTable::on_worker_end(SessionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session& session = *found->second;
  // Why it has ended may still lie in its channel.
  while (session.stage != Session::Stage::ending && hear_worker(session)) {
  }
  if (session.messages) session.messages->finish();
  const bool expected = session.stage == Session::Stage::ending;
  const std::string how = session.worker.ending();
  if (!expected) end(session, "its worker " + how + " (see the daemon's log)", Fault::crash);
  session.worker_watch.reset();
  remove_if_clear(id);
}

/// Processes that its worker has started may use the device as long as they live.
void SessionTable::remove_if_clear(SessionId id) {
  const auto found = sessions_.find(id);
  Session& session = *found->second;
  (void)look_at_processors(session);
  if (!session.worker.clear()) {
    const unsigned doublings = std::min(session.clear_looks++, kMostDoublings);
    session.clear_at = Clock::now() + kClearAgain * (1U << doublings);
    if (session.clear_looks == kMostDoublings) {
      spdlog::warn("session {} of tenant {}: processes that its worker has started do not end", id.value,
                   session.tenant_name);
    }
    return;
  }
  if (host_.trace != nullptr) host_.trace->take_last(session);
  host_.dispatch.remove_session(id, session.ran);
  host_.memory.end(id);
  account_memory(session);
  const TenantId tenant = session.tenant;
  UniqueFd segment = std::move(session.segment_fd);  // often the last to hold it
  sessions_.erase(found);
  close_aside(std::move(segment));
  leave_tenant(tenant);
}

/// The worker is killed now, and the session removed when nothing of it is left: only then is the device free
/// for the next.
void SessionTable::end(Session& session, const std::string& reason, std::optional<Fault> fault) {
  if (session.stage == Session::Stage::ending) return;
  if (fault) host_.tenants.count_fault(session.tenant, *fault);
  if (fault) note_kill(session, reason);
  if (session.stage == Session::Stage::running) judge(session, fault);
  host_.log.info(session.account, "session {} of tenant {} ends: {}", session.id.value, session.tenant_name,
                 reason);
  if (session.stage == Session::Stage::starting) {
    // The client may be gone already.
    (void)session.client.send(to_text(session::Refused{reason}));
  }
  session.stage = Session::Stage::ending;
  host_.tenants.retire(session.tenant);
  session.header.close();
  session.client_watch.reset();
  session.client.close();
  session.worker.kill();
}

void SessionTable::continue_after(std::uint32_t last_id, const std::vector<Kill>& kills) {
  last_id_ = last_id;
  for (const Kill& kill : kills) kills_.note(kill);
}

void SessionTable::note_kill(const Session& session, const std::string& reason) {
  kills_.note({.session = session.id,
               .tenant = session.tenant_name,
               .uid = session.peer.uid,
               .pid = session.peer.pid,
               .program = session.program,
               .reason = printable(reason, kLongestKillReason),
               .at = Clock::now()});
}

/// Takes the session's end for its tenant's conduct: whether it was killed for what it did to others.
void SessionTable::judge(const Session& session, std::optional<Fault> fault) {
  if (fault == Fault::watchdog || fault == Fault::violation) {
    host_.tenants.note_kill(session.tenant, Clock::now());
  } else if (!fault && host_.dispatch.looks().session(session.id).has_used_a_device) {
    host_.tenants.note_good_conduct(session.tenant);
  }
}

void SessionTable::leave_tenant(TenantId id) {
  host_.tenants.leave(id);
  host_.memory.refresh(host_.config.devices, host_.tenants);
  const std::vector<TenantId> departed = tenants_to_forget(host_.tenants.all());
  if (departed.empty()) return;
  host_.before_forgetting();
  for (const TenantId each : departed) {
    if (host_.dispatch.forget_if_clear(each)) host_.tenants.forget(each);
  }
}

bool SessionTable::settled() const {
  return std::all_of(sessions_.begin(), sessions_.end(),
                     [](const auto& entry) { return entry.second->stage == Session::Stage::running; });
}

std::vector<HandedSession> SessionTable::handed() const {
  std::vector<HandedSession> list;
  for (const auto& [id, session] : sessions_) {
    if (session->messages) session->messages->tell_rest();
    list.push_back({.id = id.value,
                    .tenant = session->tenant_name,
                    .peer = session->peer,
                    .program = session->program,
                    .features = session->features,
                    .slicing = to_text(session->slicing),
                    .api = session->api,
                    .long_commands = session->long_commands.all(),
                    .devices = session->devices.all(),
                    .worker = session->worker.handed(),
                    .client = session->client.fd(),
                    .channel = session->channel.fd(),
                    .ledger = session->ledger.fd(),
                    .knock = session->knock.get(),
                    .turns = session->turns.fd(),
                    .segment = session->segment_fd.get(),
                    .messages = session->messages ? session->messages->fd() : -1,
                    .books = host_.dispatch.looks().session_books(id),
                    .memory = host_.memory.granted(id),
                    .paused = session->paused,
                    .held_back_until = session->held_back_until,
                    .started = session->started});
  }
  return list;
}

Result<void> SessionTable::adopt(const HandedSession& handed) {
  // First of all what must not be lost, whatever else fails.
  auto worker = WorkerProcess::adopt(handed.worker);
  Socket client{UniqueFd(handed.client)}, channel{UniqueFd(handed.channel)},
      ledger{UniqueFd(handed.ledger)};
  UniqueFd knock(handed.knock), segment(handed.segment), messages(handed.messages);
  auto turns = session::TurnMemory::attach(UniqueFd(handed.turns));
  auto header = ring::HeaderView::attach(segment.get());
  // A trace does not go on in the next daemon.
  if (turns && header) stop_recording(turns->page(), header->header());
  auto slicing = session::parse_slicing_wish(handed.slicing, "the session's slicing");
  const Account account = account_of(handed.peer, client.fd(), host_.config, host_.owners);
  const auto tenant = host_.tenants.join(
      handed.tenant, {.uid = account.owner, .administrator = true, .runs_already = true}, std::nullopt);
  if (!tenant) return tenant.error();
  auto usable = worker ? Result<void>() : Result<void>(worker.error());
  if (usable && !turns) usable = turns.error();
  if (usable && !header) usable = header.error();
  if (usable && !slicing) usable = slicing.error();
  if (!usable) {
    host_.tenants.retire(tenant->id);
    host_.tenants.leave(tenant->id);
    return usable;
  }
  std::unique_ptr<Session> session(new Session{.id = SessionId{handed.id},
                                               .tenant = tenant->id,
                                               .tenant_name = handed.tenant,
                                               .peer = handed.peer,
                                               .account = account,
                                               .program = handed.program,
                                               .features = handed.features,
                                               .slicing = slicing.value(),
                                               .api = handed.api,
                                               .long_commands = LongCommandBook(handed.long_commands),
                                               .devices = DeviceView(handed.devices),
                                               .paused = handed.paused,
                                               .held_back_until = handed.held_back_until,
                                               .started = handed.started.value_or(Clock::now()),
                                               .stage = Session::Stage::running,
                                               .give_up = {},
                                               .client = std::move(client),
                                               .channel = std::move(channel),
                                               .ledger = std::move(ledger),
                                               .knock = std::move(knock),
                                               .turns = std::move(turns).value(),
                                               .segment = {},
                                               .segment_fd = std::move(segment),
                                               .output = {},
                                               .header = std::move(header).value(),
                                               .worker = std::move(worker).value(),
                                               .messages = {},
                                               .clear_at = {},
                                               .clear_looks = 0,
                                               .client_watch = {},
                                               .channel_watch = {},
                                               .ledger_watch = {},
                                               .worker_watch = {}});
  session->processor_clock.emplace(session->worker.pid());
  if (messages) session->messages = WorkerOutput::adopt(std::move(messages));
  auto done = watch(*session);
  if (done) done = watch_client(*session);
  if (done) {
    done = host_.dispatch.adopt_session(dispatched(*session), handed.books);
  }
  if (done && !host_.memory.adopt(session->id, handed.tenant, handed.memory)) {
    done = Error{"what it was granted of the devices' memory cannot be"};
  }
  if (!done) {
    session->header.close();
    host_.dispatch.remove_session(session->id);
    host_.tenants.retire(tenant->id);
    host_.tenants.leave(tenant->id);
    return done;
  }
  account_memory(*session);
  tell_slicing_floor(*session);
  tell_of_driver(*session);
  sessions_.emplace(session->id, std::move(session));
  return {};
}

void SessionTable::end_broken() {
  for (const BrokenSession& broken : host_.dispatch.take_broken()) {
    if (const auto found = sessions_.find(broken.session); found != sessions_.end())
      end(*found->second, broken.reason, broken.held_too_long ? Fault::watchdog : Fault::violation);
  }
}

void SessionTable::end_all(const std::string& reason) {
  for (auto& [id, session] : sessions_) end(*session, reason);
}

std::optional<SessionTable::Time> SessionTable::deadline() const {
  std::optional<Time> first;
  for (const auto& [id, session] : sessions_) {
    if (session->stage == Session::Stage::starting && (!first || session->give_up < *first))
      first = session->give_up;
    const auto resume = session->messages ? session->messages->deadline() : std::nullopt;
    for (const auto& other : {session->clear_at, resume, session->held_back_until}) {
      if (other && (!first || *other < *first)) first = other;
    }
  }
  const bool looks = std::any_of(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second->stage == Session::Stage::running;
  });
  if (looks && host_.dispatch.looks().has_host_device() && (!first || next_processor_look_ < *first))
    first = next_processor_look_;
  return first;
}

void SessionTable::expire(Time now) {
  let_go_on(now);
  look_at_processors(now);
  std::vector<SessionId> to_clear;
  for (auto& [id, session] : sessions_) {
    if (session->messages) session->messages->expire(now);
    if (session->clear_at && now >= *session->clear_at) to_clear.push_back(id);
    if (session->stage != Session::Stage::starting || now < session->give_up) continue;
    end(*session,
        "its worker was not ready within " + std::to_string(kWorkerPatience.count()) +
            " s: the device's driver may hang",
        Fault::watchdog);
  }
  for (const SessionId id : to_clear) remove_if_clear(id);
}

}  // namespace fairgv::daemon
