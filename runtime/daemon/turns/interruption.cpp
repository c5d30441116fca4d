#include "runtime/daemon/turns/interruption.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::daemon {

Interruption Interruption::adopted(const TurnInProgress& turn, const TurnBooks& books) {
  Interruption adopted(turn, books.stopped.value_or(turn.granted));
  adopted.stopped_ = books.stopped.has_value();
  return adopted;
}

void Interruption::let_go(const SessionPlace& place, Time now) {
  if (!std::exchange(stopped_, false)) return;
  const Duration pause = std::max(now - since_, Duration(0));
  turn_.shift(pause);
  place.let_go(pause);
}

TurnInProgress Interruption::resumed(Time traced_from) const {
  TurnInProgress turn = turn_;
  turn.wanted = since_;
  turn.traced_from = traced_from;
  turn.logged = turn.charged;
  return turn;
}

TurnBooks Interruption::books() const {
  TurnBooks books = turn_.books();
  if (stopped_) books.stopped = since_;
  books.interrupted = true;
  return books;
}

}  // namespace fairgv::daemon
