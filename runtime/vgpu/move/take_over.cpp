#include "runtime/vgpu/move/take_over.hpp"

#include <unistd.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/vgpu/ends/replies.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/move/make_again.hpp"

namespace fairgv::vgpu {
namespace {

struct Told {
  session::WorkerOrder order;
  std::vector<UniqueFd> files;
};

Result<Told> next_order(const Socket& daemon) {
  auto packet = daemon.receive();
  if (!packet || packet->kind == Packet::Kind::closed) ::_exit(0);
  FAIRGV_TRY(order, session::parse_worker_order(packet->text));
  return Told{std::move(order).value(), std::move(packet->fds)};
}

}  // namespace

Result<TakeOver> wait_for_take_over(const Socket& daemon) {
  FAIRGV_TRY(told, next_order(daemon));
  auto* const order = std::get_if<session::MakeAgain>(&told->order);
  if (order == nullptr || told->files.size() != 1)
    return Error{"the daemon has a worker that takes over do something else first"};
  return TakeOver{std::move(*order), std::move(told->files.front())};
}

Result<std::uint64_t> take_over(TakeOver from, const Socket& daemon, const ring::Segment& segment,
                                session::Api api, Executor& executor, CallHandler& calls,
                                MemoryAccount* memory) {
  if (calls.movable() == nullptr) return Error{"its API has no sessions that move"};
  std::optional<Helm::Held> helm = executor.helm().try_take();  // nobody else is there
  Replies replies(segment, [] {});
  SessionMaker maker(api, calls, executor.at(*helm), replies, memory);
  for (;;) {
    FAIRGV_CHECK(maker.make(from.file, from.order));
    if (!from.order.ahead) break;
    FAIRGV_CHECK(daemon.send(to_text(session::MadeAhead{})));
    FAIRGV_TRY(next, wait_for_take_over(daemon));
    from = std::move(next).value();
  }
  FAIRGV_CHECK(daemon.send(to_text(session::MadeAgain{})));
  FAIRGV_TRY(told, next_order(daemon));
  if (!std::holds_alternative<session::GoOn>(told->order))
    return Error{"the daemon has a worker that has made a session again do something else"};
  executor.at(*helm).take_over();
  executor.helm().let_go(std::move(*helm));
  return maker.next_number();
}

}  // namespace fairgv::vgpu
