#include "runtime/daemon/sessions/handed_session.hpp"

#include <utility>

#include "runtime/daemon/sessions/recording.hpp"

namespace fairgv::daemon {

namespace {

std::optional<HandedPark> handed_park(const Session& session) {
  if (!session.parked) return std::nullopt;
  const ParkedSession& parked = *session.parked;
  return HandedPark{.image = parked.image.get(),
                    .bytes = parked.bytes,
                    .holdings = parked.holdings,
                    .by = parked.how.by,
                    .drained = parked.how.drained,
                    .to_file = parked.how.to_file,
                    .wakes = parked.how.wakes};
}

/// Of a session that is not parked; none of another.
Result<WorkerProcess> worker_from(const HandedSession& handed) {
  if (handed.parked) return WorkerProcess();
  return WorkerProcess::adopt(handed.worker);
}

}  // namespace

HandedSession handed(const Session& session, DispatchLooks& dispatch, const MemoryBook& memory) {
  return {.id = session.id.value,
          .tenant = session.tenant_name,
          .peer = session.peer,
          .program = session.program,
          .features = session.features,
          .slicing = to_text(session.slicing),
          .api = session.api,
          .long_commands = session.long_commands.all(),
          .devices = session.devices.all(),
          .hidden = session.devices.hidden(),
          .moved = session.moved,
          .owes_answer = session.owes_answer,
          .evacuated = session.evacuated,
          .passed_over = session.passed_over,
          .worker = session.worker.handed(),
          .parked = handed_park(session),
          .client = session.client.fd(),
          .channel = session.channel.fd(),
          .ledger = session.ledger.fd(),
          .knock = session.knock.get(),
          .turns = session.turns.fd(),
          .segment = session.segment_fd.get(),
          .messages = session.messages ? session.messages->fd() : -1,
          .output_end = session.output_end.get(),
          .books = dispatch.session_books(session.id),
          .memory = memory.granted(session.id),
          .holdings = memory.holdings(session.id),
          .paused = session.paused,
          .held_back_until = session.held_back_until,
          .started = session.started};
}

Result<std::unique_ptr<Session>> session_from(const HandedSession& handed) {
  // The worker comes first: it must not be lost, whatever else fails.
  auto worker = worker_from(handed);
  Socket client{UniqueFd(handed.client)}, channel{UniqueFd(handed.channel)}, ledger{UniqueFd(handed.ledger)};
  UniqueFd knock(handed.knock), segment(handed.segment), messages(handed.messages),
      output_end(handed.output_end);
  auto turns = session::TurnMemory::attach(UniqueFd(handed.turns));
  auto header = ring::HeaderView::attach(segment.get());
  auto slicing = session::parse_slicing_wish(handed.slicing, "the session's slicing");
  if (!worker) return worker.error();
  if (!turns) return turns.error();
  if (!header) return header.error();
  // A trace does not go on in the next daemon.
  stop_recording(turns->page(), header->header());
  if (!slicing) return slicing.error();
  std::unique_ptr<Session> session(
      new Session{.id = SessionId{handed.id},
                  .tenant_name = handed.tenant,
                  .peer = handed.peer,
                  .program = handed.program,
                  .features = handed.features,
                  .slicing = slicing.value(),
                  .api = handed.api,
                  .long_commands = LongCommandBook(handed.long_commands),
                  .devices = DeviceView(handed.devices),
                  .moved = handed.moved,
                  .owes_answer = handed.owes_answer,
                  .evacuated = handed.evacuated,
                  .paused = handed.paused,
                  .held_back_until = handed.held_back_until,
                  .started = handed.started.value_or(std::chrono::steady_clock::now()),
                  .stage = Session::Stage::running,
                  .client = std::move(client),
                  .channel = std::move(channel),
                  .ledger = std::move(ledger),
                  .knock = std::move(knock),
                  .turns = std::move(turns).value(),
                  .segment_fd = std::move(segment),
                  .output_end = std::move(output_end),
                  .header = std::move(header).value(),
                  .worker = std::move(worker).value()});
  session->devices.hide(handed.hidden);
  session->passed_over = handed.passed_over;
  if (handed.parked) {
    const HandedPark& parked = *handed.parked;
    session->parked = ParkedSession{.image = UniqueFd(parked.image),
                                    .bytes = parked.bytes,
                                    .holdings = parked.holdings,
                                    .how = {.by = parked.by,
                                            .drained = parked.drained,
                                            .to_file = parked.to_file,
                                            .wakes = parked.wakes}};
  } else if (!session->worker.is_program()) {
    session->processor_clock.emplace(session->worker.pid());
  }
  if (messages) session->messages = WorkerOutput::adopt(std::move(messages));
  return session;
}

}  // namespace fairgv::daemon
