#include "cuda-shim/direct/memory/ledger.hpp"

#include <vector>

#include "runtime/session/ledger_protocol.hpp"

namespace fairgv::cuda::direct {

using session::LedgerAnswer;
using session::LedgerRequest;

namespace {

/// Nothing is granted where nobody answers.
LedgerAnswer ask(const Socket& socket, const LedgerRequest& request) {
  if (!socket.send(session::to_packet(request))) return {};
  const auto packet = socket.receive();
  if (!packet || packet->kind != Packet::Kind::message) return {};
  const auto answer = session::parse_ledger_answer(packet->text);
  return answer ? answer.value() : LedgerAnswer{};
}

}  // namespace

bool Ledger::charge(std::uint32_t device, std::uint64_t bytes) {
  if (bytes == 0) return true;
  const std::lock_guard lock(asking_);
  const LedgerRequest request{LedgerRequest::Kind::charge, std::uint64_t{1} << device, bytes, bytes};
  return ask(socket_, request).bytes >= bytes;
}

void Ledger::give_back(const Holding& holding) {
  if (holding.bytes == 0) return;
  const std::lock_guard lock(asking_);
  // A daemon that is gone has no books.
  static_cast<void>(socket_.send(session::to_packet(
      LedgerRequest{LedgerRequest::Kind::give_back, std::uint64_t{1} << holding.device, holding.bytes, 0})));
}

std::uint64_t Ledger::left(std::uint32_t device) {
  const std::lock_guard lock(asking_);
  return ask(socket_, {LedgerRequest::Kind::look, std::uint64_t{1} << device, 0, 0}).bytes;
}

void Ledger::hold(const Object& object, const Holding& holding) {
  const std::lock_guard lock(mutex_);
  held_.insert_or_assign(object, holding);
}

std::optional<Holding> Ledger::take(const Object& object) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(object);
  if (found == held_.end()) return std::nullopt;
  const Holding holding = found->second;
  held_.erase(found);
  return holding;
}

void Ledger::context_gone(const void* context) {
  std::vector<Holding> gone;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(held_, [&](const auto& entry) {
      if (entry.second.context != context) return false;
      gone.push_back(entry.second);
      return true;
    });
  }
  for (const Holding& holding : gone) give_back(holding);
}

}  // namespace fairgv::cuda::direct
