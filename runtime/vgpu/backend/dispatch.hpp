// From bytes to a handler: the table of an API's calls, made at compile time from their list, so that a call
// without a handler does not compile.
//
// A class of handlers is a CallHandler, names its list (wire::AllCalls, wire::cuda::AllCalls) and has, for
// every call C of it,
//
//   using Calls = ...;
//   Result<C::Reply> handle(const C&);
//
// An Error from it means that the front end broke the protocol, which ends the session; a failure that an
// honest program can cause is told in the reply, in the command's status, or by a poisoned object.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/backend/movable_objects.hpp"
#include "runtime/vgpu/ends/replies.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/journal/journal.hpp"
#include "runtime/wire/calls.hpp"
#include "runtime/wire/object_ids.hpp"

namespace fairgv::vgpu {

/// The handlers of one session's calls, as the worker's loop knows them.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  /// On the thread that has the helm, whose loop this is.
  virtual Result<void> handle_call(Executor::Loop& loop, Replies& replies, wire::Opcode opcode,
                                   std::span<const std::byte> bytes, std::uint64_t tag) = 0;
  /// Whether the call may be handled on a driver's own thread, while that reports the end of a command: it
  /// returns soon, waits for nothing and lets go of nothing that the driver holds.
  virtual bool is_brief(wire::Opcode opcode) const = 0;

  /// dispatch() is about to have a call handled.
  void at_helm(Executor::Loop& loop) { loop_ = &loop; }
  /// Of the calls that dispatch() has had handled. With the helm.
  Journal& journal() { return journal_; }
  /// The objects, for a move of the session to another worker; null: this back end's cannot be moved.
  virtual MovableObjects* movable() { return nullptr; }

 protected:
  /// Only while a call is handled.
  Executor::Loop& loop() const { return *loop_; }

 private:
  Executor::Loop* loop_ = nullptr;
  Journal journal_;
};

namespace detail {

/// Contents are not kept: whoever makes the object again copies them from the object that is there.
template <wire::LastingCall Call>
void keep(Journal& journal, std::uint64_t number, const Call& call, std::span<const std::byte> bytes) {
  Journal::Room& room = journal.room();
  room.names.clear();
  wire::each_object_id(call, [&](wire::ObjectId id) { room.names.push_back(id); });
  if constexpr (requires { call.initial; }) {
    Call without = call;
    without.initial = {};
    room.call.resize(wire::encoded_size(without));
    wire::encode(without, room.call.data());
    bytes = room.call;
  }
  journal.keep(number, Call::opcode, Call::lasting, call.lasting_object(), call.lasting_slot(), bytes,
               room.names);
}

/// Whether the call has done what it asked for. An object of OpenCL's that could not be made is there
/// nevertheless, poisoned.
template <wire::LastingCall Call, class Reply>
bool has_lasted(const Reply& reply) {
  if constexpr (requires { reply.code; }) {
    return reply.code == 0;
  } else if constexpr (requires { reply.error; }) {
    return reply.error == 0 || Call::lasting == wire::Lasting::makes;
  } else {
    return true;
  }
}

template <class Handlers>
using Handler = Result<void> (*)(Handlers&, Executor::Loop&, Replies&, std::span<const std::byte>,
                                 std::uint64_t tag);

template <class Handlers, class Call>
Result<void> decode_and_handle(Handlers& handlers, Executor::Loop& loop, Replies& replies,
                               std::span<const std::byte> bytes, std::uint64_t tag) {
  Call call;
  if (!wire::decode(bytes, call)) {
    return Error{fmt::format("{}: {} bytes that are no such message", Call::name, bytes.size())};
  }
  auto result = handlers.handle(call);
  static_assert(std::is_same_v<decltype(result), Result<typename Call::Reply>>);
  if (!result) return Error{fmt::format("{}: {}", Call::name, result.error().message)};
  if constexpr (wire::LastingCall<Call>) {
    bool lasts = true;
    if constexpr (!std::is_void_v<typename Call::Reply>) lasts = has_lasted<Call>(result.value());
    if (lasts) keep(handlers.journal(), loop.request().number, call, bytes);
  }
  if constexpr (!std::is_void_v<typename Call::Reply>) replies.send(Call::opcode, tag, result.value());
  return {};
}

template <class... Calls>
consteval std::size_t opcode_count(wire::TypeList<Calls...>) {
  return std::max({std::size_t{Calls::opcode}...}) + 1;
}

template <class Handlers, class... Calls>
consteval auto handlers(wire::TypeList<Calls...>) {
  std::array<Handler<Handlers>, opcode_count(wire::TypeList<Calls...>{})> table{};
  ((table.at(Calls::opcode) = &decode_and_handle<Handlers, Calls>), ...);
  return table;
}

}  // namespace detail

/// Decodes one call and has it handled; answers it if it has a reply. `bytes` are private and aligned to 8.
template <class Handlers>
Result<void> dispatch(Handlers& handlers, Executor::Loop& loop, Replies& replies, wire::Opcode opcode,
                      std::span<const std::byte> bytes, std::uint64_t tag) {
  static constexpr auto kHandlers = detail::handlers<Handlers>(typename Handlers::Calls{});
  const auto handler = opcode < kHandlers.size() ? kHandlers[opcode] : nullptr;
  if (handler == nullptr) {
    return Error{
        fmt::format("opcode {:#06x} is no call of protocol version {}; install matching FairGV versions",
                    opcode, wire::kProtocolVersion)};
  }
  handlers.at_helm(loop);
  return handler(handlers, loop, replies, bytes, tag);
}

}  // namespace fairgv::vgpu
