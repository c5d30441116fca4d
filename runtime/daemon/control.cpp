#include "runtime/daemon/control.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/daemon/config/report.hpp"
#include "runtime/daemon/reports/report.hpp"

namespace fairgv::daemon {
namespace {

std::string text_of(const ControlPeer& peer) {
  return account_text(peer.credentials.uid, peer.account.owner);
}

std::string only_administrators(const std::string& what) {
  return control::failure_text("only root, the user that runs the daemon and its admin_group may " + what);
}

std::string outcome(const Result<Adjustments::Warnings>& done) {
  return done ? control::success_text(done.value()) : control::failure_text(done.error().message);
}

/// As the answer has them, which is in the texts that people write.
sched::TenantAttributes attributes_of(const control::WhoAmI& who) {
  sched::TenantAttributes attributes;
  attributes.weight = std::max(who.weight, session::kMinWeight);
  if (const auto min = session::parse_min(who.min, "min")) attributes.min = min.value();
  if (const auto max = session::parse_max(who.max, "max")) attributes.max = max.value();
  if (const auto service = session::parse_service(who.service, "class"))
    attributes.service = service->service;
  return attributes;
}

std::string outcome(const Result<void>& done) {
  return done ? control::success_text() : control::failure_text(done.error().message);
}

}  // namespace

Control::Control(const Needs& needs, Adjustments adjustments, Interventions interventions,
                 Migrations migrations, Foreground foreground, std::string socket,
                 std::function<Result<control::ReloadReport>()> reload)
    : needs_(needs),
      adjustments_(adjustments),
      interventions_(interventions),
      migrations_(std::move(migrations)),
      foreground_(std::move(foreground)),
      socket_(std::move(socket)),
      reload_(std::move(reload)),
      started_(std::chrono::steady_clock::now()) {}

ControlAnswer Control::answer(const std::string& text, const ControlPeer& from) {
  const bool administrator = from.account.administrator;
  const auto request = control::parse_control_request(text);
  if (!request) return control::failure_text(request.error().message);
  switch (request->command) {
    case control::ControlRequest::Command::ps:
      return report();
    case control::ControlRequest::Command::set:
      return outcome(adjustments_.set(request.value(), from.account, text_of(from)));
    case control::ControlRequest::Command::set_policy:
      if (!administrator) return only_administrators("choose a policy");
      return outcome(adjustments_.set_policy(request.value(), from.account, text_of(from)));
    case control::ControlRequest::Command::usage:
      if (!needs_.usage.on()) {
        return control::failure_text(
            "the daemon keeps no record of usage: name a file by store in [usage] of its configuration");
      }
      needs_.usage.ask(from.token, request->usage,
                       administrator ? std::nullopt : std::optional(from.account.owner));
      return {std::nullopt, true};
    case control::ControlRequest::Command::trace:
      return read_trace(request.value(), from);
    case control::ControlRequest::Command::reload:
      return administrator ? reload(from) : only_administrators("have it read its configuration again");
    case control::ControlRequest::Command::config:
      return administrator ? control::config_text(to_toml(needs_.config))
                           : only_administrators("see its configuration");
    case control::ControlRequest::Command::whoami:
      return whoami(request.value(), from);
    case control::ControlRequest::Command::kill:
    case control::ControlRequest::Command::pause:
      return outcome(interventions_.carry_out(request.value(), from.account));
    case control::ControlRequest::Command::resume: {
      const auto resumed = interventions_.carry_out(request.value(), from.account);
      return resumed ? migrate(request.value(), from) : control::failure_text(resumed.error().message);
    }
    case control::ControlRequest::Command::migrate:
    case control::ControlRequest::Command::park:
      return migrate(request.value(), from);
    case control::ControlRequest::Command::drain:
    case control::ControlRequest::Command::undrain:
      return administrator ? drain(request.value(), from)
                           : only_administrators("drain a device, or end that");
    case control::ControlRequest::Command::checkpoint:
    case control::ControlRequest::Command::checkpoint_copied:
    case control::ControlRequest::Command::restore:
    case control::ControlRequest::Command::restore_filled:
      return checkpoint(request.value(), from);
    case control::ControlRequest::Command::focus: {
      const auto front = foreground_.set(from.token, request->front, from.account);
      return front ? to_text(front.value()) : control::failure_text(front.error().message);
    }
    case control::ControlRequest::Command::show:
      return show(SessionId{request->session.value_or(0)}, from);
    case control::ControlRequest::Command::stop:
    case control::ControlRequest::Command::restart:
      break;
  }
  const bool restart = request->command == control::ControlRequest::Command::restart;
  if (!administrator) return only_administrators(restart ? "restart it" : "stop it");
  (restart ? restart_requested_ : stop_requested_) = true;
  return {control::success_text(), true};
}

std::string Control::report() const {
  using Elapsed = std::chrono::duration<double>;  // seconds
  const auto now = std::chrono::steady_clock::now();
  const Elapsed slice = needs_.config.devices.common.slices.most;
  return to_text(
      make_report(needs_.sources, {.pid = ::getpid(),
                                   .version = FAIRGV_VERSION,
                                   .socket = socket_,
                                   .uptime_s = Elapsed(now - started_).count(),
                                   .slice_ms = slice.count() * 1e3,
                                   .restarts = needs_.life.restarts,
                                   .serving_s = Elapsed(now - needs_.life.serving_since).count()}));
}

std::string Control::reload(const ControlPeer& by) {
  needs_.log.info(by.account, "{} has the configuration read again", text_of(by));
  const auto report = reload_();
  return report ? to_text(report.value()) : control::refusal_text(lines_of(report.error()));
}

ControlAnswer Control::migrate(const control::ControlRequest& request, const ControlPeer& by) {
  auto answer = migrations_.ask(request, by.account, by.token);
  if (!answer) return control::failure_text(answer.error().message);
  const bool later = !answer.value();
  return {std::move(answer).value(), later};
}

ControlAnswer Control::drain(const control::ControlRequest& request, const ControlPeer& by) {
  const bool begins = request.command == control::ControlRequest::Command::drain;
  const std::uint32_t device = request.device.value_or(0);
  auto answer = begins ? needs_.drains.begin(device, by.account, by.token)
                       : needs_.drains.end(device, by.account, by.token);
  if (!answer) return control::failure_text(answer.error().message);
  const bool later = !answer.value();
  return {std::move(answer).value(), later};
}

Result<Session*> Control::own_session(SessionId id, const ControlPeer& by, const char* deed) const {
  Session* const session = needs_.sources.sessions.find(id);
  const std::string name = "session " + std::to_string(id.value);
  if (session == nullptr || session->stage != Session::Stage::running)
    return Error{"there is no " + name + " that runs: see 'fairgv ps'"};
  if (by.account.administrator || session->account.owner == by.account.owner) return session;
  return Error{name + " belongs to user " + std::to_string(session->account.owner) +
               ": only that user or the administrator may " + deed + " it"};
}

ControlAnswer Control::checkpoint(const control::ControlRequest& request, const ControlPeer& by) {
  using Command = control::ControlRequest::Command;
  const auto session = own_session(SessionId{request.session.value_or(0)}, by, "copy or restore");
  if (!session) return control::failure_text(session.error().message);
  Checkpoints& checkpoints = needs_.checkpoints;
  Session& its = *session.value();
  const auto ask = [&] {
    switch (request.command) {
      case Command::checkpoint:
        return checkpoints.checkpoint(its, by.token);
      case Command::checkpoint_copied:
        return checkpoints.copied(its, by.token);
      case Command::restore:
        return checkpoints.restore(its, request.facts.value_or(control::CheckpointFacts{}), by.token);
      default:
        return checkpoints.filled(its, by.token);
    }
  };
  auto reply = ask();
  if (!reply) return control::failure_text(reply.error().message);
  if (!reply.value()) return {std::nullopt, true};
  ControlAnswer answer(std::move(reply.value()->text));
  answer.files = std::move(reply.value()->files);
  return answer;
}

ControlAnswer Control::show(SessionId id, const ControlPeer& by) {
  const auto session = own_session(id, by, "see");
  if (!session) return control::failure_text(session.error().message);
  const auto asked = needs_.journals.ask(*session.value(), by.token, std::chrono::steady_clock::now());
  if (!asked) return control::failure_text(asked.error().message);
  return {std::nullopt, true};
}

std::string Control::whoami(const control::ControlRequest& request, const ControlPeer& peer) {
  const TenantRegistry& tenants = needs_.sources.tenancies.registry();
  const auto asked = request.tenant.empty() ? std::nullopt : std::optional(request.tenant);
  control::WhoAmI who =
      needs_.entrance.look_at({peer.credentials, peer.account, peer.socket, asked, request.wish}, tenants);
  if (!who.refusal) {
    if (const auto sale = needs_.sources.markets.would_sell(who.tenant, session::parse_max(who.max, "it"));
        !sale)
      who.refusal = sale.error().message;
  }
  // By its own class, which a tenant that is not there yet has not got.
  const TenantRule rule = tenants.rule_of(who.tenant, who.class_name.value_or(""));
  const auto capacities = needs_.sources.tenancies.memory().capacities();
  for (const std::uint32_t device : needs_.sources.devices.hardware) {
    const std::uint64_t capacity = capacities[device];
    const auto& limit = rule.memory.value_or(needs_.config.tenants.default_memory);
    who.memory_limits.push_back(std::min(limit.of(capacity), capacity));
  }
  const DevicesWanted devices = rule.devices.value_or(needs_.config.tenants.devices);
  who.devices = to_text(devices);
  who.direct = rule.direct.value_or(needs_.config.direct);
  who.cuda_library = needs_.config.cuda_library.value_or("");
  if (who.refusal) return to_text(who);
  const auto prospect = needs_.sources.placements.prospect(
      who.tenant, devices, {.attributes = attributes_of(who), .memory = rule.expected_memory.value_or(0)});
  who.device_choice = prospect.lines;
  if (prospect.refusal) who.refusal = prospect.refusal->message;
  return to_text(who);
}

std::string Control::read_trace(const control::ControlRequest& request, const ControlPeer& by) {
  const auto begin = [&] {
    std::optional<uid_t> only_of;
    if (!by.account.administrator) only_of = by.account.owner;
    needs_.log.info(by.account, "{} traces", text_of(by));
    const Sources& from = needs_.sources;
    return std::make_unique<Trace>(
        Trace::Subject{from.dispatch, from.tenancies.memory().ledger(), from.devices, from.sessions},
        Trace::Choice{request.tenant, request.device, only_of});
  };
  const auto trace = traces_.ask(by.token, by.account, std::chrono::steady_clock::now(), begin);
  return trace ? control::pack(trace.value()->take()) : control::failure_text(trace.error().message);
}

}  // namespace fairgv::daemon
