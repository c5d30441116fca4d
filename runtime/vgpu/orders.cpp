#include "runtime/vgpu/orders.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "runtime/session/journal/journal_report.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/vgpu/journal/shown.hpp"
#include "runtime/vgpu/process.hpp"

namespace fairgv::vgpu {
namespace {

/// The bytes that were written: none if there is no room.
std::uint64_t write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::pwrite(file, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (written <= 0) return 0;
    done += static_cast<std::size_t>(written);
  }
  return text.size();
}

}  // namespace

void obey(const Socket& daemon, Worker& worker, CallHandler& calls) {
  listen_to_daemon(daemon.fd(), [&daemon, &worker, &calls](Packet order) {
    const auto told = session::parse_worker_order(order.text);
    if (!told || !std::holds_alternative<session::ShowJournal>(told.value()) || order.fds.size() != 1) return;
    // The daemon has one such question open at a time, and gives it up if there is no answer.
    const auto file = std::make_shared<const UniqueFd>(std::move(order.fds.front()));
    (void)worker.run_between_calls([&daemon, &calls, file] {
      const std::uint64_t bytes = write_all(file->get(), to_text(shown(calls.journal())));
      (void)daemon.offer(to_text(session::JournalShown{bytes}));
    });
  });
}

}  // namespace fairgv::vgpu
