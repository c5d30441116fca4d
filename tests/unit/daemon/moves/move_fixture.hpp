// A session with two workers: scripts that the test writes, which hear the daemon's orders.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "runtime/daemon/handover/handover.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {

struct MoveTest : SessionTableTest {
  /// Shell words of a worker.
  static std::string say(const std::string& packet) { return "printf %s '" + packet + "' >&$channel\n"; }
  /// Waits for the next order, as the variable `order`.
  static std::string hear() { return "order=$(dd bs=65536 count=1 status=none <&$channel)\n"; }
  /// Answers an order to copy ahead, which is the latest: so much is left.
  static std::string say_copied(std::uint64_t left = 0) {
    return "number=${order#*'\"number\":'}\nnumber=${number%%[,\\}]*}\n"
           "printf %s '{\"worker\":\"copied ahead\",\"bytes\":0,\"left\":" +
           std::to_string(left) + ",\"number\":'\"$number\"'}' >&$channel\n";
  }
  /// Ends unless the order, to write the image, names the copy of this `number`.
  static std::string expect_copied() {
    return "case \"$order\" in *'\"copied\":'\"$number\"[,}]*'write image'*) ;; *) exit 3;; esac\n";
  }
  /// Waits for the order to write the image, and copies ahead before.
  static std::string hear_write() {
    return hear() + "while case \"$order\" in *'copy ahead'*) ;; *) false;; esac; do\n" + say_copied() +
           hear() + "done\n";
  }
  /// Says with a number that it has got as far as this.
  static std::string note(std::uint64_t number) { return say(to_text(reduce(number))); }
  /// Asks the ledger for so much on its first device, and waits for the answer.
  static std::string take_memory(std::uint64_t bytes) {
    const auto packet =
        to_packet(session::LedgerRequest{session::LedgerRequest::Kind::charge, 1, bytes, bytes});
    std::string escaped;
    for (const char byte : packet) escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    return "printf '" + escaped + "' >&$ledger\ndd bs=64 count=1 status=none <&$ledger >/dev/null\n";
  }
  static std::string rest() { return "exec sleep 1000\n"; }

  static std::string ready() { return to_text(session::WorkerReady{devices()}); }
  static std::vector<session::DeviceDescription> devices() {
    return {{"Vendor", "first", 4, 1'000, "pci 1"}, {"Vendor", "second", 4, 500, "pci 2"}};
  }
  /// A worker that does what an honest one does.
  static std::string honest_old() {
    return "while :; do\n" + hear() + "case \"$order\" in '') exit;;\n*'copy ahead'*)\n" + say_copied() +
           ";;\n*'write image'*)\n" + say(to_text(session::ImageWritten{0})) + ";;\n*)\n" + note(1) +
           ";; esac; done\n";
  }
  static std::string honest_new() {
    return hear() + "while case \"$order\" in *'make ahead'*) ;; *) false;; esac; do\n" +
           say(to_text(session::MadeAhead{})) + hear() + "done\n" + say(to_text(session::MadeAgain{})) +
           hear() + note(2) + honest_old();
  }

  /// Begins bob's session. `old_one`: what its first worker does once it is ready; `new_one`: what each
  /// further worker does from its start on.
  /// `trial`: what a worker does that tries a device.
  void start_two(const std::string& old_one, const std::string& new_one,
                 const std::string& trial = "exit 5\n") {
    start({}, "case $options in *'\"trial\":{'*)\n" + trial +
                  ";; esac\ncase $options in *'\"takes_over\":true'*)\n" + new_one + ";; esac\n" +
                  say(ready()) + old_one);
    run_until([&] { return session().stage == Session::Stage::running; });
    old_worker = session().worker.pid();
  }
  Session& session() { return *table.all().begin()->second; }

  /// Begins a move of the session, and runs until it is over; returns why it failed.
  std::string move(std::optional<std::uint32_t> to = {}) {
    outcome.reset();
    const auto begun =
        table.moves().begin(session(), to, [this](const MoveOutcome& result) { outcome = result; });
    if (!begun) return begun.error().message;
    run_until([&] { return outcome.has_value(); });
    return outcome->failure ? outcome->failure->message : "";
  }
  /// The session as a restart hands it over.
  HandedSession handed_to_the_next_daemon() {
    Handover handover;
    handover.listener = 3;
    handover.lock = 4;
    handover.devices = devices();
    handover.hardware = {0, 1};
    handover.sessions = table.handed();
    const auto read = parse_handover(to_text(handover));
    EXPECT_TRUE(read) << read.error().message;
    return read ? read->sessions.at(0) : HandedSession{};
  }
  bool has_come_to(std::uint64_t number) {
    const auto all = reported();
    return !all.empty() && all.back().count == number;
  }
  void settle() {
    run_until([&] { return table.settled(); });
  }
  std::vector<std::uint64_t> granted() { return house.tenancies.memory().granted(session().id); }

  std::optional<MoveOutcome> outcome;
  pid_t old_worker = 0;
};

}  // namespace fairgv::daemon
