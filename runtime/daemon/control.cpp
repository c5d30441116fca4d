#include "runtime/daemon/control.hpp"

#include <unistd.h>

#include "runtime/base/near_word.hpp"
#include "runtime/daemon/config/report.hpp"
#include "runtime/daemon/interventions.hpp"
#include "runtime/daemon/reports/report.hpp"
#include "runtime/daemon/tenants/admission.hpp"

namespace fairgv::daemon {
namespace {

std::string text_of(const ControlPeer& peer) {
  return account_text(peer.credentials.uid, peer.account.owner);
}

std::string only_administrators(const std::string& what) {
  return control::failure_text("only root, the user that runs the daemon and its admin_group may " + what);
}

}  // namespace

Control::Control(Host& host, SessionTable& sessions, UsageKeeper& usage, std::string socket,
                 std::function<Result<control::ReloadReport>()> reload)
    : host_(host),
      sessions_(sessions),
      usage_(usage),
      socket_(std::move(socket)),
      reload_(std::move(reload)),
      started_(std::chrono::steady_clock::now()) {}

ControlAnswer Control::answer(const std::string& text, const ControlPeer& from) {
  const bool administrator = from.account.administrator;
  const auto request = control::parse_control_request(text);
  if (!request) return control::failure_text(request.error().message);
  switch (request->command) {
    case control::ControlRequest::Command::ps:
      return to_text(make_report(host_, sessions_, socket_, started_));
    case control::ControlRequest::Command::set:
      return request->memory ? set_memory(request.value(), from) : set_weight(request.value(), from);
    case control::ControlRequest::Command::set_policy:
      return administrator ? set_policy(request.value(), from) : only_administrators("choose a policy");
    case control::ControlRequest::Command::usage:
      if (!usage_.on()) {
        return control::failure_text(
            "the daemon keeps no record of usage: name a file by store in [usage] of its configuration");
      }
      usage_.ask(from.token, request->usage,
                 administrator ? std::nullopt : std::optional(from.account.owner));
      return {std::nullopt, true};
    case control::ControlRequest::Command::trace:
      return read_trace(request.value(), from);
    case control::ControlRequest::Command::reload:
      return administrator ? reload(from) : only_administrators("have it read its configuration again");
    case control::ControlRequest::Command::config:
      return administrator ? control::config_text(to_toml(host_.config))
                           : only_administrators("see its configuration");
    case control::ControlRequest::Command::whoami:
      return whoami(request.value(), from);
    case control::ControlRequest::Command::kill:
    case control::ControlRequest::Command::pause:
    case control::ControlRequest::Command::resume:
      return intervene(request.value(), from);
    case control::ControlRequest::Command::stop:
    case control::ControlRequest::Command::restart:
      break;
  }
  const bool restart = request->command == control::ControlRequest::Command::restart;
  if (!administrator) return only_administrators(restart ? "restart it" : "stop it");
  (restart ? restart_requested_ : stop_requested_) = true;
  return {control::success_text(), true};
}

std::string Control::intervene(const control::ControlRequest& request, const ControlPeer& by) {
  const auto done = daemon::intervene(host_, sessions_, request, by.account);
  return done ? control::success_text() : control::failure_text(done.error().message);
}

std::string Control::reload(const ControlPeer& by) {
  host_.log.info(by.account, "{} has the configuration read again", text_of(by));
  const auto report = reload_();
  return report ? to_text(report.value()) : control::refusal_text(lines_of(report.error()));
}

std::string Control::whoami(const control::ControlRequest& request, const ControlPeer& peer) const {
  const auto asked = request.tenant.empty() ? std::nullopt : std::optional(request.tenant);
  control::WhoAmI who = look_at(host_.config.tenants, host_.tenants, host_.owners,
                                {peer.credentials, peer.account, peer.socket, asked});
  // By the tenant's own class; a tenant that is not there yet has none.
  const TenantRule rule = host_.tenants.rule_of(who.tenant, who.class_name.value_or(""));
  const auto capacities = host_.memory.capacities();
  for (const std::uint32_t device : host_.hardware) {
    const std::uint64_t capacity = capacities[device];
    const auto& limit = rule.memory.value_or(host_.config.tenants.default_memory);
    who.memory_limits.push_back(std::min(limit.of(capacity), capacity));
  }
  return to_text(who);
}

std::string Control::set_weight(const control::ControlRequest& request, const ControlPeer& by) {
  const auto tenant =
      host_.tenants.set_weight(request.tenant, request.weight, by.account.owner, by.account.administrator);
  if (!tenant) return control::failure_text(tenant.error().message);
  host_.dispatch.set_weight(tenant->id, tenant->weight);
  host_.log.info(by.account, "tenant {}: weight {}, set by {}", tenant->name, tenant->weight, text_of(by));
  return control::success_text();
}

std::string Control::set_memory(const control::ControlRequest& request, const ControlPeer& by) {
  const auto tenant = host_.tenants.set_memory(request.tenant, *request.memory, by.account.owner,
                                               by.account.administrator, host_.memory.capacities());
  if (!tenant) return control::failure_text(tenant.error().message);
  host_.memory.refresh(host_.config.devices, host_.tenants);
  host_.log.info(by.account, "tenant {}: memory {}, set by {}", tenant->name, to_text(*request.memory),
                 text_of(by));
  return control::success_text();
}

std::string Control::set_policy(const control::ControlRequest& request, const ControlPeer& by) {
  if (sched::find_policy(request.policy) == nullptr) {
    return control::failure_text("there is no policy '" + request.policy +
                                 "': " + guess_and_list(request.policy, sched::policy_names()));
  }
  if (request.device && *request.device >= host_.devices.size()) {
    return control::failure_text("there is no device " + std::to_string(*request.device) +
                                 ": see 'fairgv ps' while a program runs");
  }
  host_.dispatch.set_policy(request.policy, request.device);
  const std::string where = request.device ? "device " + std::to_string(*request.device) : "all devices";
  host_.log.info(by.account, "{}: policy {}, set by {}", where, request.policy, text_of(by));
  return control::success_text();
}

std::string Control::read_trace(const control::ControlRequest& request, const ControlPeer& by) {
  const auto begin = [&] {
    std::optional<uid_t> only_of;
    if (!by.account.administrator) only_of = by.account.owner;
    host_.log.info(by.account, "{} traces", text_of(by));
    return std::make_unique<Trace>(host_, sessions_, Trace::Choice{request.tenant, request.device, only_of});
  };
  const auto trace = traces_.ask(by.token, by.account, std::chrono::steady_clock::now(), begin);
  return trace ? control::pack(trace.value()->take()) : control::failure_text(trace.error().message);
}

}  // namespace fairgv::daemon
