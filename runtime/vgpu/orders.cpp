#include "runtime/vgpu/orders.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "runtime/session/journal/journal_report.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/vgpu/journal/shown.hpp"
#include "runtime/vgpu/leave.hpp"
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

/// The daemon has one such question open at a time, and gives it up if there is no answer.
void show_journal(const Socket& daemon, Worker& worker, CallHandler& calls, UniqueFd to) {
  const auto file = std::make_shared<const UniqueFd>(std::move(to));
  worker.run_between_calls([&daemon, &calls, file] {
    const std::uint64_t bytes = write_all(file->get(), to_text(shown(calls.journal())));
    (void)daemon.offer(to_text(session::JournalShown{bytes}));
  });
}

}  // namespace

void obey(const Socket& daemon, Worker& worker, CallHandler& calls, session::Api api,
          FailingDevices& failing) {
  // As long as the thread that listens: for ever.
  const auto leave = std::make_shared<Leave>(daemon, worker, calls, api);
  listen_to_daemon(daemon.fd(), [&daemon, &worker, &calls, &failing, leave](Packet order) {
    const auto told = session::parse_worker_order(order.text);
    if (!told) return;
    if (std::holds_alternative<session::GoOn>(told.value())) return leave->go_on();
    if (const auto* const use = std::get_if<session::UseDevice>(&told.value())) {
      failing.used_again(use->device, std::chrono::steady_clock::now());
      return worker.run_between_calls([&worker, device = use->device] { worker.loop().use_device(device); });
    }
    if (order.fds.size() != 1) return;
    UniqueFd file = std::move(order.fds.front());
    if (std::holds_alternative<session::ShowJournal>(told.value()))
      return show_journal(daemon, worker, calls, std::move(file));
    if (const auto* const copy = std::get_if<session::CopyAhead>(&told.value()))
      return leave->copy_ahead(copy->number, std::move(file));
    if (const auto* const write = std::get_if<session::WriteImage>(&told.value()))
      leave->write_image(write->copied, std::move(file));
  });
}

}  // namespace fairgv::vgpu
