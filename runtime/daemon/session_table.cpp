#include "runtime/daemon/session_table.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "runtime/daemon/service/deadlines.hpp"
#include "runtime/daemon/sessions/worker_page.hpp"
#include "runtime/daemon/worker/hang_up.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

/// Packets read from a worker whose program has ended: it says little, unless it is hostile.
constexpr int kLastPackets = 64;

/// How often to look whether earlier workers of a session that ends are gone.
constexpr std::chrono::milliseconds kLookAgain{5};

/// Packets about memory that a worker may have sent before it came to rest: more than its socket holds.
constexpr int kMostAtRest = 4'096;

/// The worker's next packet, or nothing. The socket of one that has hung up is watched no longer.
std::optional<std::string> next_packet(const Socket& socket, EventLoop::Watch& watch) {
  auto packet = socket.receive_text();
  if (packet && packet->kind == Packet::Kind::message) return std::move(packet->text);
  if (!packet || packet->kind == Packet::Kind::closed) watch.reset();
  return std::nullopt;
}

}  // namespace

SessionTable::SessionTable(const Needs& needs)
    : needs_(needs),
      starter_(needs.config, needs.installation),
      suspensions_(needs.tenancies.registry(), needs.dispatch, needs.log),
      processors_(needs.dispatch),
      host_weights_(needs.dispatch, needs.tenancies),
      journals_(needs.answer),
      departures_({needs.dispatch, needs.tenancies, needs.markets, needs.devices.placements(), needs.log}),
      moves_({needs.config, needs.events, needs.dispatch, needs.tenancies, needs.devices, needs.markets,
              starter_, needs.log, sessions_},
             {[this](Session& session) { return answer_all_of_ledger(session); },
              [this](Session& session) { return watch_next_worker(session); },
              [this](Session& session, const std::string& reason, std::optional<Fault> fault) {
                end(session, reason, fault);
              },
              [this](Session& session) { end_unheard(session, session.channel); }}),
      drains_({needs.config, sessions_, moves_, needs.devices, needs.tenancies, needs.log, needs.answer}),
      reliefs_({needs.config, sessions_, moves_, needs.devices, needs.tenancies, needs.log,
                [this] { return needs_.markets.overloaded(); },
                [this](SessionId id) { return needs_.dispatch.looks().session(id).used_ns; }}),
      wakes_({sessions_, moves_, needs.devices, needs.tenancies, needs.log}) {}

Result<void> SessionTable::start(const session::Hello& hello, const PeerCredentials& peer, Socket& client) {
  const Account account = needs_.entrance.account_of(peer, client.fd());
  FAIRGV_TRY(admission, needs_.entrance.admit({peer, account, client.fd(), hello.tenant},
                                              {sessions_.size(), sessions_.count_of(account.owner)}));
  FAIRGV_CHECK(may_join(admission.value(), hello.wish));
  FAIRGV_TRY(tenant,
             needs_.tenancies.join(admission->tenant, admission->applicant, hello.wish, hello.memory));
  const auto direct = needs_.tenancies.registry().rule_of(tenant->name, tenant->class_name).direct;
  const WorkerStarter::Request request{SessionId{++last_id_}, tenant.value(), peer, account, hello};
  auto session = hello.direct ? starter_.start_direct(request, client, direct) : starter_.start(request);
  if (session) {
    if (auto watched = watch(*session.value()); !watched) session = watched.error();
  }
  if (!session) {
    needs_.tenancies.give_up(tenant->id);
    return session.error();
  }
  Session& started = *session.value();
  started.client = std::move(client);
  (void)watch_client(started);
  tell_configuration(started, needs_.config, needs_.tenancies.registry());
  // A program that asked for a new weight or a promise asked for its whole tenant.
  needs_.tenancies.apply_attributes(tenant.value());
  needs_.markets.change(tenant.value());
  needs_.log.info(account, "session {}: tenant {}, weight {}, program {} ({}), {}", started.id.value,
                  tenant->name, tenant->attributes.weight, started.program, peer.pid,
                  started.worker.is_program() ? "direct" : fmt::format("worker {}", started.worker.pid()));
  if (tenant->in_background)
    needs_.log.info(account, "tenant {} has the Background reserve: its own does not fit", tenant->name);
  sessions_.add(std::move(session).value());
  return {};
}

/// A program that asks for more of a device asks for its whole tenant, which may not get it.
Result<void> SessionTable::may_join(const Admission& admission, const session::TenantWish& wish) const {
  if (!wish.max || !needs_.markets.any()) return {};
  const auto prospect = needs_.tenancies.registry().would_admit(admission.tenant, admission.applicant, wish);
  // join() tells a refusal.
  return prospect.refusal ? Result<void>() : needs_.markets.may_change(prospect.id, prospect.attributes.max);
}

void SessionTable::apply_configuration() {
  needs_.devices.placements().configure(sessions_);
  for (const auto& [id, session] : sessions_.all())
    tell_configuration(*session, needs_.config, needs_.tenancies.registry());
}

Result<void> SessionTable::watch(Session& session) {
  if (session.parked) return {};
  FAIRGV_CHECK(watch_worker(session));
  if (!session.messages) return {};
  if ((session.features & session::kDriverMessages) != 0) session.messages->hold_for_program();
  return session.messages->relay(
      needs_.events, "session " + std::to_string(session.id.value) + " of tenant " + session.tenant_name);
}

Result<void> SessionTable::watch_worker(Session& session) {
  auto channel =
      needs_.events.watch(session.channel.fd(), [this, id = session.id] { on_worker_message(id); });
  if (!channel) return channel.error();
  session.channel_watch = std::move(channel).value();
  auto ledger = needs_.events.watch(session.ledger.fd(), [this, id = session.id] { on_ledger_message(id); });
  if (!ledger) return ledger.error();
  session.ledger_watch = std::move(ledger).value();
  auto worker = needs_.events.watch(session.worker.pidfd(), [this, id = session.id] { on_worker_end(id); });
  if (!worker) return worker.error();
  session.worker_watch = std::move(worker).value();
  return {};
}

Result<void> SessionTable::watch_next_worker(Session& session) {
  journals_.forget(session.id, session.parked ? "is parked" : "has moved to another worker: ask again");
  if (session.parked) return {};
  session.messages->tell_program(session.client);
  return watch_worker(session);
}

Result<void> SessionTable::watch_client(Session& session) {
  auto client = needs_.events.watch(session.client.fd(), [this, id = session.id] { on_client_message(id); });
  if (!client) return client.error();
  session.client_watch = std::move(client).value();
  return {};
}

void SessionTable::on_client_message(SessionId id) {
  Session* const session = sessions_.find(id);
  if (session == nullptr || answer_question(*session)) return;
  // A client has nothing else to say after its hello: this is its end, in any case. A program whose session
  // is lost may end before its worker has been heard; the worker may go on talking.
  for (int left = kLastPackets; left > 0 && session->stage != Session::Stage::ending; --left) {
    if (!hear_worker(*session)) break;
  }
  end(*session, "its program ended");
}

/// Returns whether the program asks for its driver's messages and goes on. A program asks once, before it
/// ends: beyond a budget it is another program.
bool SessionTable::answer_question(Session& session) {
  const bool may_ask = (session.features & session::kDriverMessages) != 0;
  const bool has_messages = session.messages || session.parked;
  if (!may_ask || session.stage != Session::Stage::running || !has_messages) return false;
  const auto packet = session.client.receive_text();
  if (!packet || packet->kind == Packet::Kind::closed) return false;
  if (packet->kind == Packet::Kind::nothing) return true;
  const auto question = session::parse_hear(packet->text);
  if (!question || !session.questions.take_one(Session::kQuestions, Clock::now())) return false;
  if (session.messages) session.messages->catch_up();
  session.client.offer(to_text(session::DriverSays{{}, question->number}));
  return true;
}

void SessionTable::on_worker_message(SessionId id) {
  if (Session* const session = sessions_.find(id)) hear_worker(*session);
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
  const auto* const journal = std::get_if<session::JournalShown>(&message.value());
  const bool of_move = std::holds_alternative<session::CopiedAhead>(message.value()) ||
                       std::holds_alternative<session::ImageWritten>(message.value()) ||
                       std::holds_alternative<session::CannotMove>(message.value());
  const bool starting = session.stage == Session::Stage::starting;
  if (starting && ready != nullptr) {
    on_ready(session, *ready);
  } else if (failed != nullptr) {
    end(session, failed->reason, starting ? std::nullopt : std::optional(Fault::violation));
  } else if (session.stage == Session::Stage::running && command != nullptr) {
    on_long_command(session, *command);
  } else if (session.stage == Session::Stage::running && journal != nullptr) {
    if (auto taken = journals_.take(session, *journal); !taken)
      end(session, taken.error().message, Fault::violation);
  } else if (!of_move || !moves_.hear(session, message.value())) {
    end(session, "its worker spoke out of turn", Fault::violation);
  }
}

/// Handles one packet at a time, so that a worker that floods the daemon keeps nobody waiting. A worker that
/// does not read its answers gets an error once its socket is full.
void SessionTable::on_ledger_message(SessionId id) {
  if (Session* const session = sessions_.find(id)) answer_ledger(*session);
}

/// False when the worker asks for nothing more now, or for what ends its session.
bool SessionTable::answer_ledger(Session& session) {
  const auto text = next_packet(session.ledger, session.ledger_watch);
  if (!text || session.stage == Session::Stage::ending) return false;
  if (session.stage != Session::Stage::running || moves_.rests(session)) {
    end(session, "its worker spoke out of turn", Fault::violation);
    return false;
  }
  const auto answer = needs_.tenancies.memory().take(
      session.id, needs_.devices.in_books(session.moved.homes_in(session.devices)), *text);
  needs_.tenancies.account_memory(session.tenant_name);
  if (!answer) {
    end(session, answer.error().message, Fault::violation);
  } else if (answer.value() && !session.ledger.send(*answer.value())) {
    end_unheard(session, session.ledger);
  }
  return session.stage == Session::Stage::running;
}

/// Of a worker that has come to rest: it asks no more. False: its session ends.
bool SessionTable::answer_all_of_ledger(Session& session) {
  for (int left = kMostAtRest; left > 0 && answer_ledger(session); --left) {
  }
  return session.stage == Session::Stage::running;
}

/// A packet cannot be sent to the session's worker by this socket. A worker that has ended may have been
/// killed by anybody, and on_worker_end() says how; one that lives on without its socket is ended so, too.
void SessionTable::end_unheard(Session& session, const Socket& worker) {
  if (!has_hung_up(worker)) return end(session, "its worker does not listen", Fault::violation);
  // A direct program closes its sockets when it becomes another program, and then its end follows as ever.
  if (!session.worker.is_program()) session.worker.kill();
}

void SessionTable::on_ready(Session& session, const session::WorkerReady& ready) {
  starter_.tell_unusable_drivers(ready);
  auto view = needs_.devices.see(session.account, ready.devices, sessions_);
  if (!view) return end(session, view.error().message);
  session.devices = std::move(view).value();
  auto done = needs_.devices.placements().place(session, ready.nameable);
  if (done) done = admit(session);
  if (!done) return end(session, done.error().message);
  if (session.passed_over.empty()) return;
  needs_.log.info(session.account, "session {} of tenant {}: device {} chosen, not {}", session.id.value,
                  session.tenant_name, fmt::join(session.devices.shown(), ","),
                  fmt::join(session.passed_over, ", not "));
}

void SessionTable::on_long_command(Session& session, const session::LongCommand& command) {
  const auto first = session.long_commands.take(command, session.devices);
  if (!first) return end(session, first.error().message, Fault::violation);
  if (!first.value()) return;
  needs_.log.info(session.account,
                  "session {} of tenant {}: kernel {} held device {} for {:.1f} ms and cannot be sliced: {}",
                  session.id.value, session.tenant_name, command.name, session.devices.host(command.device),
                  static_cast<double>(command.longest_ns) / 1e6, command.reason);
}

Result<void> SessionTable::admit(Session& session) {
  suspensions_.hold_back(session, Clock::now());
  FAIRGV_CHECK(needs_.markets.sell(*needs_.tenancies.registry().find(session.tenant), session.devices));
  host_weights_.begin(sessions_, session);
  if (auto added = needs_.dispatch.add_session(dispatched(session)); !added) return added;
  needs_.markets.apply();
  needs_.tenancies.memory().begin(session.id, session.tenant_name);
  const std::string welcome = to_text(welcome_of(session));
  const int segment = session.segment->fd();
  const auto sent = session.output ? session.client.send(welcome, {segment, session.output.get()})
                                   : session.client.send(welcome, {segment});
  if (!sent) return sent;
  session.segment_fd.reset(::fcntl(segment, F_DUPFD_CLOEXEC, 0));
  session.segment.reset();  // only the header stays mapped here
  session.output.reset();
  session.stage = Session::Stage::running;
  if (session.messages) session.messages->tell_program(session.client);
  return {};
}

session::Welcome SessionTable::welcome_of(const Session& session) const {
  session::Welcome welcome;
  welcome.session = session.id.value;
  welcome.tenant = session.tenant_name;
  welcome.weight = needs_.tenancies.attributes_of(session.tenant).weight;
  welcome.names = needs_.config.driver_names ? session::Names::driver : session::Names::fairgv;
  if (session.output) welcome.features |= session::kKernelOutput;
  welcome.features |=
      session.features &
      (session::kQuietSlots | session::kMemoryQuota | session::kCuda | session::kMemoryWaits |
       session::kIncludes | session::kDriverMessages | session::kChosenDevices | session::kMarks);
  if (session.worker.is_program()) welcome.features |= session::kDirect;
  welcome.hidden_devices = session.devices.hidden();
  if ((welcome.features & session::kMemoryQuota) != 0) {
    welcome.memory_limits =
        needs_.devices.in_books(session.devices).pick(needs_.tenancies.memory().limits(session.tenant_name));
  }
  return welcome;
}

void SessionTable::on_worker_end(SessionId id) {
  Session* const session = sessions_.find(id);
  if (session == nullptr) return;
  // The reason for the worker's end may still lie in its channel.
  while (session->stage != Session::Stage::ending && hear_worker(*session)) {
  }
  if (session->messages) session->messages->finish();
  const std::string how = session->worker.ending();
  if (session->worker.is_program()) end(*session, "its program ended");
  if (session->stage != Session::Stage::ending)
    end(*session, "its worker " + how + " (see the daemon's log)", Fault::crash);
  session->worker_watch.reset();
  clear_up(*session);
}

/// Its worker has ended. What an earlier worker has left may use the device, too.
void SessionTable::clear_up(Session& session) {
  if (!moves_.has_others(session)) return departures_.go_on(sessions_, session);
  session.clear_at = Clock::now() + kLookAgain;
}

// -- interventions of people and programs

const Session* SessionTable::find(SessionId id) const {
  const Session* const session = sessions_.find(id);
  return session != nullptr && session->stage != Session::Stage::ending ? session : nullptr;
}

void SessionTable::end(SessionId id, const std::string& reason) {
  Session& session = *sessions_.find(id);
  Departures::note_kill(sessions_, session, reason);
  session.worker.kill();
  end(session, reason);
}

void SessionTable::set_pause(SessionId id, const std::optional<control::Pause>& pause) {
  suspensions_.set_pause(*sessions_.find(id), pause);
}

void SessionTable::end_broken() {
  for (const BrokenSession& broken : needs_.dispatch.take_broken()) {
    if (Session* const session = sessions_.find(broken.session))
      end(*session, broken.reason, broken.held_too_long ? Fault::watchdog : Fault::violation);
  }
}

void SessionTable::end_all(const std::string& reason) {
  moves_.refuse(reason);
  for (const auto& [id, session] : sessions_.all()) end(*session, reason);
}

std::optional<SessionTable::Time> SessionTable::deadline() const {
  std::optional<Time> first = processors_.deadline(sessions_);
  keep_earlier(first, host_weights_.deadline(sessions_));
  keep_earlier(first, needs_.devices.placements().deadline());
  keep_earlier(first, journals_.deadline());
  keep_earlier(first, moves_.deadline());
  keep_earlier(first, drains_.deadline());
  keep_earlier(first, reliefs_.deadline());
  keep_earlier(first, wakes_.deadline());
  for (const auto& [id, session] : sessions_.all()) {
    if (session->stage == Session::Stage::starting) keep_earlier(first, std::optional(session->give_up));
    if (session->messages) keep_earlier(first, session->messages->deadline());
    keep_earlier(first, session->clear_at);
    keep_earlier(first, session->held_back_until);
  }
  return first;
}

void SessionTable::expire(Time now) {
  suspensions_.expire(sessions_, now);
  processors_.expire(sessions_, now);
  host_weights_.expire(sessions_, now);
  needs_.devices.placements().expire(now);
  journals_.expire(now);
  moves_.expire(now);
  drains_.expire(now);
  reliefs_.expire(now);
  wakes_.expire(now);
  std::vector<Session*> to_clear;
  for (const auto& [id, session] : sessions_.all()) {
    if (session->messages) session->messages->expire(now);
    if (session->clear_at && now >= *session->clear_at) to_clear.push_back(session.get());
    if (session->stage != Session::Stage::starting || now < session->give_up) continue;
    constexpr const char* kLine = "its worker was not ready within {} s: the device's driver may hang";
    end(*session, fmt::format(kLine, WorkerStarter::kPatience.count()), Fault::watchdog);
  }
  for (Session* const session : to_clear) clear_up(*session);
}

}  // namespace fairgv::daemon
