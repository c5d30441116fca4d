#include "runtime/daemon/migrations.hpp"

#include <fmt/core.h>

#include <utility>

namespace fairgv::daemon {
namespace {

const char* deed_verb(control::ControlRequest::Command command) {
  switch (command) {
    case control::ControlRequest::Command::park:
      return "park";
    case control::ControlRequest::Command::resume:
      return "resume";
    default:
      return "move";
  }
}

}  // namespace

Result<std::optional<std::string>> Migrations::ask(const control::ControlRequest& request, const Account& by,
                                                   std::uint64_t key) {
  FAIRGV_TRY(wanted, sessions_of(request, by));
  const bool any = !wanted->empty();
  Batch& batch = batches_[key] = Batch{
      .command = request.command,
      .left = std::move(wanted).value(),
      .device = request.device,
      .by = by,
      .force = request.force,
      .to_file = request.to_file,
      .wakes = request.wake,
      .of_tenant = !request.session,
  };
  if (batch.of_tenant || !any) return move_on(key);
  const auto begun = begin_next(key);
  if (begun) return std::optional<std::string>();
  batches_.erase(key);
  return begun.error();
}

Result<std::deque<SessionId>> Migrations::sessions_of(const control::ControlRequest& request,
                                                      const Account& by) const {
  const auto runs = [](const Session* session) {
    return session != nullptr && session->stage == Session::Stage::running;
  };
  std::deque<SessionId> list;
  if (request.session) {
    const Session* const session = sessions_.find(SessionId{*request.session});
    const std::string name = "session " + std::to_string(*request.session);
    // Interventions have looked whether there is such a session, and whose.
    if (request.command == Command::resume && (!runs(session) || !session->parked)) return list;
    if (!runs(session))
      return Error{"there is no " + name + " that runs: see 'fairgv ps' (a tenant of that name: --tenant)"};
    if (!by.administrator && session->account.owner != by.owner) {
      return Error{name + " belongs to user " + std::to_string(session->account.owner) +
                   ": only that user or the administrator may " + deed_verb(request.command) + " it"};
    }
    list.push_back(session->id);
    return list;
  }
  FAIRGV_TRY(tenant,
             tenants_.find_to(deed_verb(request.command), request.tenant, by.owner, by.administrator));
  for (const auto& [id, session] : sessions_.all()) {
    if (session->tenant == tenant->id && runs(session.get())) list.push_back(id);
  }
  if (list.empty() && request.command != Command::resume)
    return Error{"there is no tenant '" + request.tenant + "' with a running program: see 'fairgv ps'"};
  choose(request.command, list);
  return list;
}

/// Of a tenant's sessions those to which the command applies.
void Migrations::choose(Command command, std::deque<SessionId>& list) const {
  if (command == Command::migrate) return;
  const bool parked = command == Command::resume;
  std::erase_if(list, [&](SessionId id) { return sessions_.find(id)->parked.has_value() != parked; });
}

/// The device by the number of the session's worker.
Result<std::optional<std::uint32_t>> Migrations::target(const Session& session, const Batch& batch) const {
  if (!batch.device) return std::optional<std::uint32_t>();
  const std::uint32_t device = *batch.device;
  const auto workers = session.devices.worker(device);
  if (!workers) {
    return Error{
        fmt::format("session {} does not see a device {}: see 'fairgv ps'", session.id.value, device)};
  }
  const Tenant& tenant = *tenants_.find(session.tenant);
  const DevicesWanted wanted = config_.tenants.devices_of(tenant.name, tenant.class_name);
  if (!batch.by.administrator && !wanted.may_be(device)) {
    return Error{
        fmt::format("tenant '{}' may use device {} (devices in the configuration): only an "
                    "administrator may move its sessions to device {}",
                    tenant.name, device_list(wanted.devices), device)};
  }
  return workers;
}

Result<void> Migrations::begin_next(std::uint64_t key) {
  Batch& batch = batches_.at(key);
  const SessionId id = batch.left.front();
  batch.left.pop_front();
  if (sessions_.find(id) == nullptr) return Error{fmt::format("session {} has ended", id.value)};
  Session* const session = sessions_.sessions().find(id);
  const auto done = [this, key](const MoveOutcome& outcome) { on_moved(key, outcome); };
  if (batch.command == Command::park) {
    const Parking how{.by = {batch.by.owner, batch.by.administrator},
                      .drained = {},
                      .to_file = batch.to_file,
                      .wakes = batch.wakes};
    return sessions_.moves().park(*session, how, done);
  }
  if (batch.command == Command::migrate) {
    FAIRGV_TRY(to, target(*session, batch));
    return sessions_.moves().begin(*session, to.value(), done, batch.force);
  }
  if (session->parked && session->parked->how.by.administrator && !batch.by.administrator) {
    return Error{
        fmt::format("session {} was parked by an administrator (user {}): only an administrator may "
                    "resume it",
                    id.value, session->parked->how.by.by)};
  }
  return sessions_.moves().unpark(*session, done);
}

void Migrations::on_moved(std::uint64_t key, const MoveOutcome& outcome) {
  Batch& batch = batches_.at(key);
  if (!batch.of_tenant && outcome.failure) {
    batches_.erase(key);
    return answer_(key, control::failure_text(outcome.failure->message));
  }
  batch.report.moves.push_back(moved_session(outcome));
  if (const auto answer = move_on(key)) answer_(key, *answer);
}

/// Begins with the next session that can be moved; the answer, if there is none.
std::optional<std::string> Migrations::move_on(std::uint64_t key) {
  Batch& batch = batches_.at(key);
  while (!batch.left.empty()) {
    const SessionId id = batch.left.front();
    const auto begun = begin_next(key);
    if (begun) return std::nullopt;
    batch.report.moves.push_back(moved_session({.session = id, .failure = begun.error()}));
  }
  const std::string answer = answer_of(batch);
  batches_.erase(key);
  return answer;
}

/// A resumed tenant goes on, or one line says which of its sessions do not.
std::string Migrations::answer_of(const Batch& batch) {
  if (batch.command != Command::resume) return to_text(batch.report);
  std::string failures;
  for (const control::MovedSession& move : batch.report.moves) {
    if (!move.error.empty()) failures += (failures.empty() ? "" : "; ") + move.error;
  }
  return failures.empty() ? control::success_text() : control::failure_text(failures);
}

}  // namespace fairgv::daemon
