// The hand-over's memory file, and the descriptors that go with it.
#include <fcntl.h>

#include <limits>

#include "runtime/base/memory_file.hpp"
#include "runtime/daemon/handover/handover.hpp"

namespace fairgv::daemon {
namespace {

constexpr const char* kLeft = "what the daemon before has left";

}  // namespace

Result<UniqueFd> store(const Handover& handover) {
  auto file = memory_file(to_text(handover), kLeft);
  if (file && ::fcntl(file->get(), F_SETFD, 0) != 0) return system_error("cannot hand over a memory file");
  return file;
}

Result<Handover> take(UniqueFd file) {
  FAIRGV_TRY(text, read_memory_file(file.get(), std::numeric_limits<std::uint32_t>::max(), kLeft));
  return parse_handover(text.value());
}

bool keep_over_exec(const Handover& handover, bool keep) {
  const int flag = keep ? 0 : FD_CLOEXEC;
  bool all = ::fcntl(handover.listener, F_SETFD, flag) == 0 && ::fcntl(handover.lock, F_SETFD, flag) == 0;
  for (const HandedSession& session : handover.sessions) {
    for (const int fd :
         {session.client, session.channel, session.ledger, session.knock, session.turns, session.segment}) {
      all = ::fcntl(fd, F_SETFD, flag) == 0 && all;
    }
    for (const int fd :
         {session.messages, session.output_end, session.worker.group, session.worker.program}) {
      if (fd >= 0) all = ::fcntl(fd, F_SETFD, flag) == 0 && all;
    }
  }
  return all;
}

}  // namespace fairgv::daemon
