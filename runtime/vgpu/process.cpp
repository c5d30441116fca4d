#include "runtime/vgpu/process.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "runtime/session/ledger_protocol.hpp"

namespace fairgv::vgpu {

void close_memory_to_others() {
  rlimit core{};
  if (::getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0) ::prctl(PR_SET_DUMPABLE, 0);
}

void exit_with_daemon(int daemon_fd) {
  std::thread([daemon_fd] {
    pollfd daemon{daemon_fd, POLLIN, 0};
    while (::poll(&daemon, 1, -1) < 0) {
      // EINTR
    }
    ::_exit(0);  // the daemon sends nothing: any event is the end
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
