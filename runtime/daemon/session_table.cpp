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
      drains_({needs.config, sessions_, moves_, needs.devices, needs.tenancies, needs.log, needs.answer,
               [this](Session& session, std::uint32_t device) { failures_.use(session, device); }}),
      failures_({needs.events, sessions_, needs.devices, drains_, starter_, needs.log,
                 [this](Session& session) { end_unheard(session, session.channel); }}),
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
  failures_.refuse(true);
  for (const auto& [id, session] : sessions_.all()) end(*session, reason);
}

std::optional<SessionTable::Time> SessionTable::deadline() const {
  std::optional<Time> first = processors_.deadline(sessions_);
  keep_earlier(first, host_weights_.deadline(sessions_));
  keep_earlier(first, needs_.devices.placements().deadline());
  keep_earlier(first, journals_.deadline());
  keep_earlier(first, moves_.deadline());
  keep_earlier(first, drains_.deadline());
  keep_earlier(first, failures_.deadline());
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
  failures_.expire(now);
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
