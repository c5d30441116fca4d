// Packets to the daemon, which anybody may send: to a daemon that serves in this process, and the same texts
// to every parser of the sockets' protocol, for either side. Each packet is answered or ends the connection,
// and the daemon goes on.
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "runtime/base/socket.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/server.hpp"
#include "runtime/session/protocol.hpp"
#include "tests/fuzz/records.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv::fuzz {
namespace {

/// Serves until the process ends. Its workers are programs that end at once.
class DaemonHere {
 public:
  explicit DaemonHere(const harness::TemporaryFolder& folder) : path_(folder / "fairgvd.sock") {
    std::thread([this] { serve(); }).detach();
    while (!ready_) std::this_thread::yield();
  }

  Socket connect() const {
    auto socket = Socket::connect(path_);
    expect(static_cast<bool>(socket), "the daemon serves");
    // The bound only prevents a daemon that hangs from blocking the fuzzer.
    const timeval patience{60, 0};
    ::setsockopt(socket->fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return std::move(socket).value();
  }

 private:
  void serve() {
    daemon::ServerSettings settings;
    settings.socket_path = path_;
    settings.log_level = "off";
    settings.worker_program = "/bin/true";
    auto server = daemon::Server::create(std::move(settings), {});
    expect(static_cast<bool>(server), "the daemon starts");
    ready_ = true;
    server.value()->run();
    expect(false, "the daemon goes on");
  }

  const std::string path_;
  std::atomic<bool> ready_{false};
};

/// Requests that this process' own user may make.
bool asks_to_end(const std::string& text) {
  using Command = control::ControlRequest::Command;
  const auto request = control::parse_control_request(text);
  return request && (request->command == Command::stop || request->command == Command::restart);
}

/// False when the daemon has hung up.
bool say(const Socket& socket, const std::string& text) {
  if (!socket.send(text)) return false;
  const auto answer = control::receive_answer(socket);
  if (!answer) return false;
  const bool understood = session::parse_hello_answer(answer.value()) ||
                          control::parse_report(answer.value()) || nlohmann::json::accept(answer.value());
  expect(understood, "an answer is one that the other side understands");
  return true;
}

void parse_everywhere(const std::string& text) {
  (void)session::parse_hello(text);
  (void)session::parse_hello_answer(text);
  (void)session::parse_worker_message(text);
  (void)control::parse_control_request(text);
  (void)control::parse_outcome(text);
  (void)control::warnings_of(text);
  (void)control::parse_report(text);
  (void)session::parse_slicing_wish(text, "FAIRGV_SLICE");
}

void run_daemon(Input input) {
  static const harness::TemporaryFolder folder;
  static const DaemonHere& daemon = *new DaemonHere(folder);  // its thread never ends
  const Socket socket = daemon.connect();
  bool connected = true;
  for (const Record& record : split(input)) {
    const std::string text(record.bytes.begin(), record.bytes.end());
    parse_everywhere(text);
    connected = connected && !asks_to_end(text) && say(socket, text);
  }
}

Bytes conversation(std::initializer_list<std::string> packets) {
  std::vector<Record> records;
  for (const std::string& packet : packets) records.push_back({0, {packet.begin(), packet.end()}});
  return joined(records);
}

std::vector<Bytes> daemon_seeds() {
  session::Hello control;
  control.role = session::Hello::Role::control;
  session::Hello tenant;
  tenant.tenant = "alice";
  tenant.wish = {.weight = 3,
                 .min = sched::Reservation{std::chrono::milliseconds(5), std::chrono::milliseconds(50)},
                 .max = sched::Share{500'000},
                 .service = session::ServiceWish{sched::ServiceClass::batch}};
  tenant.program = "a program";
  tenant.slicing = {session::SlicingWish::Kind::blocks, 1500};
  using Command = control::ControlRequest::Command;
  control::ControlRequest weight;
  weight.command = Command::set;
  weight.tenant = "alice";
  weight.wish = tenant.wish;
  control::ControlRequest policy;
  policy.command = Command::set_policy;
  policy.policy = "round-robin";
  policy.device = 0;
  control::ControlRequest pause;
  pause.command = Command::pause;
  pause.tenant = "alice";
  control::ControlRequest resume;
  resume.command = Command::resume;
  resume.session = 1;
  control::ControlRequest kill;
  kill.command = Command::kill;
  kill.session = 2;
  control::Report report;
  report.tenants.emplace_back().paused = control::Pause{1000, true};
  report.tenants.emplace_back().sessions.emplace_back().long_commands.push_back({0, "k", "r", 1, 2, 2});
  report.devices.emplace_back();
  const std::string worker = to_text(session::WorkerReady{{{"a platform", "a device", 2}}});
  return {conversation({to_text(control), to_text(control::ControlRequest{}), to_text(weight),
                        to_text(policy), to_text(control::ControlRequest{})}),
          conversation({to_text(control), to_text(pause), to_text(resume), to_text(kill)}),
          conversation({to_text(tenant)}),
          conversation({worker}),
          conversation({to_text(report)}),
          conversation({to_text(session::LongCommand{0, "reduce", "it uses pipes", 1, 5, 5})}),
          conversation({to_text(session::WorkerFailed{"no"})}),
          conversation({to_text(session::DeviceFailed{0, "CL_DEVICE_NOT_AVAILABLE"})}),
          conversation({to_text(session::TrialEnded{session::TrialEnded::Verdict::failed, "no"})}),
          conversation({to_text(session::UseDevice{0})}),
          conversation({to_text(session::Refused{"no"}), to_text(session::Welcome{1, 3, 7, "alice", 2})})};
}

}  // namespace

const Target kDaemon{"daemon", &run_daemon, &daemon_seeds, &mutate_records};

}  // namespace fairgv::fuzz
