// The sessions as one daemon leaves them to the next.
#include <utility>

#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/sessions/handed_session.hpp"
#include "runtime/daemon/sessions/worker_page.hpp"

namespace fairgv::daemon {

std::vector<HandedSession> SessionTable::handed() const {
  std::vector<HandedSession> list;
  for (const auto& [id, session] : sessions_.all()) {
    if (session->messages) session->messages->tell_rest();
    list.push_back(daemon::handed(*session, needs_.dispatch.looks(), needs_.tenancies.memory()));
  }
  return list;
}

void SessionTable::continue_after(std::uint32_t last_id, const std::vector<Kill>& kills) {
  last_id_ = last_id;
  for (const Kill& kill : kills) sessions_.note(kill);
}

Result<void> SessionTable::adopt(const HandedSession& handed) {
  FAIRGV_TRY(taken, session_from(handed));
  Session& session = *taken.value();
  session.account = needs_.entrance.account_of(session.peer, session.client.fd());
  FAIRGV_TRY(tenant, needs_.tenancies.registry().join(
                         session.tenant_name,
                         {.uid = session.account.owner, .administrator = true, .runs_already = true}, {}));
  session.tenant = tenant->id;
  auto done = watch(session);
  if (done) done = watch_client(session);
  if (done) done = needs_.dispatch.adopt_session(dispatched(session), handed.books);
  if (done && !needs_.tenancies.memory().adopt(session.id, session.tenant_name, handed.memory,
                                               needs_.devices.in_books(session.devices), handed.holdings)) {
    done = Error{"what it was granted of the devices' memory cannot be"};
  }
  if (!done) {
    session.header.close();
    needs_.dispatch.remove_session(session.id);
    needs_.tenancies.give_up(tenant->id);
    return done;
  }
  needs_.tenancies.account_memory(session.tenant_name);
  needs_.devices.placements().adopt(session);
  tell_configuration(session, needs_.config, needs_.tenancies.registry());
  if (session.messages) session.messages->tell_program(session.client);
  sessions_.add(std::move(taken).value());
  return {};
}

}  // namespace fairgv::daemon
