#include "runtime/daemon/interventions.hpp"

#include <string>
#include <vector>

#include "runtime/control/pause.hpp"

namespace fairgv::daemon {
namespace {

using control::ControlRequest;
using control::Pause;
using Command = ControlRequest::Command;

const char* verb_of(Command command) {
  switch (command) {
    case Command::kill:
      return "end";
    case Command::pause:
      return "pause";
    default:
      return "resume";
  }
}

/// An Error for a pause that this asker may not end; `what` is paused.
Result<void> may_resume(const std::string& what, const std::optional<Pause>& pause, bool administrator) {
  if (administrator || !pause || !pause->administrator) return {};
  return Error{what + " was paused by an administrator (user " + std::to_string(pause->by) +
               "): only an administrator may resume it"};
}

class Intervention {
 public:
  Intervention(TenantRegistry& tenants, SessionTable& sessions, UserLog& log, Command command,
               const Account& by)
      : tenants_(tenants), sessions_(sessions), log_(log), command_(command), account_(by) {}

  Result<void> on_session(SessionId id) {
    const Session* const session = sessions_.find(id);
    const std::string name = "session " + std::to_string(id.value);
    if (session == nullptr) {
      return Error{"there is no " + name + ": see 'fairgv ps' (a tenant of that name: --tenant)"};
    }
    if (!administrator_ && session->account.owner != by_) {
      return Error{name + " belongs to user " + std::to_string(session->account.owner) +
                   ": only that user or the administrator may " + verb_of(command_) + " it"};
    }
    if (command_ == Command::kill) {
      sessions_.end(id, reason());
      return {};
    }
    if (command_ == Command::resume) {
      if (auto may = may_resume(name, session->paused, administrator_); !may) return may;
      if (tenants_.find(session->tenant)->paused) {
        return Error{name + " is paused with its tenant '" + session->tenant_name + "': resume that"};
      }
    }
    tell(name + " of tenant " + session->tenant_name);
    sessions_.set_pause(
        id, command_ == Command::pause ? std::optional(stronger(session->paused, pause())) : std::nullopt);
    return {};
  }

  Result<void> on_tenant(const std::string& name) {
    FAIRGV_TRY(tenant, tenants_.find_to(verb_of(command_), name, by_, administrator_));
    if (command_ == Command::kill) return end_all(tenant.value());
    if (command_ == Command::resume) {
      if (auto may = may_resume("tenant '" + name + "'", tenant->paused, administrator_); !may) return may;
      tenants_.set_pause(tenant->id, {});
    } else {
      tenants_.set_pause(tenant->id, pause());
    }
    tell("tenant " + name);
    sessions_.tell_pauses(tenant->id);
    return {};
  }

 private:
  Result<void> end_all(const Tenant& tenant) {
    std::vector<SessionId> its;
    for (const auto& [id, session] : sessions_.all()) {
      if (session->tenant == tenant.id && sessions_.find(id) != nullptr) its.push_back(id);
    }
    if (its.empty()) {
      return Error{"there is no tenant '" + tenant.name + "' with a running program: see 'fairgv ps'"};
    }
    for (const SessionId id : its) sessions_.end(id, reason());
    return {};
  }

  std::string reason() const { return "ended by user " + std::to_string(by_); }
  Pause pause() const { return {by_, administrator_}; }
  void tell(const std::string& what) const {
    log_.info(account_, "{}: {} by user {}", what, command_ == Command::pause ? "paused" : "resumed", by_);
  }

  TenantRegistry& tenants_;
  SessionTable& sessions_;
  UserLog& log_;
  const Command command_;
  const Account account_;
  const uid_t by_ = account_.owner;
  const bool administrator_ = account_.administrator;
};

}  // namespace

Result<void> Interventions::carry_out(const ControlRequest& request, const Account& by) {
  Intervention intervention(tenants_, sessions_, log_, request.command, by);
  return request.session ? intervention.on_session(SessionId{*request.session})
                         : intervention.on_tenant(request.tenant);
}

}  // namespace fairgv::daemon
