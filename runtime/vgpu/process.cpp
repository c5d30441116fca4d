#include "runtime/vgpu/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "runtime/session/ledger_protocol.hpp"

namespace fairgv::vgpu {

void close_memory_to_others() {
  rlimit core{};
  if (::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0) ::prctl(PR_SET_DUMPABLE, 0);
}

void listen_to_daemon(int daemon_fd, std::function<void(Packet)> on_order) {
  // Another descriptor of the same socket: the loop's thread speaks on the first.
  std::thread([daemon_fd = ::fcntl(daemon_fd, F_DUPFD_CLOEXEC, 0), on_order = std::move(on_order)] {
    const Socket daemon{UniqueFd(daemon_fd)};
    pollfd ready{daemon_fd, POLLIN, 0};
    while (true) {
      if (::poll(&ready, 1, -1) < 0) continue;  // EINTR
      auto packet = daemon.receive();
      if (!packet || packet->kind == Packet::Kind::closed) ::_exit(0);
      if (packet->kind == Packet::Kind::message) on_order(std::move(packet).value());
    }
  }).detach();
}

MemoryAccount::Ledger ask_daemon(const Socket& ledger) {
  return [&ledger](const session::LedgerRequest& request) -> session::LedgerAnswer {
    const bool sent = static_cast<bool>(ledger.send(to_packet(request)));
    if (sent && request.kind == session::LedgerRequest::Kind::give_back) return {};
    if (const auto packet = sent ? ledger.receive() : Error{}; packet) {
      if (const auto answer = session::parse_ledger_answer(packet->text)) return answer.value();
    }
    ::_exit(0);
  };
}

}  // namespace fairgv::vgpu
