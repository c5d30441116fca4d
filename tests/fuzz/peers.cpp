// The texts that decide which daemon a client believes: the administrator's list of users, and the kernel's
// map of a user namespace. A list is refused, or means the same when it is written again; a longer text of
// either kind trusts nobody more.
#include <algorithm>
#include <string>

#include "runtime/session/trust/daemon_users.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {
namespace {

std::string written(const session::DaemonUsers& users) {
  std::string text;
  for (const uid_t number : users.numbers) text += std::to_string(number) + '\n';
  for (const std::string& name : users.names) text += name + "  # a name\n";
  return text;
}

void run_peers(Input input) {
  const std::string text(input.begin(), input.end());
  (void)session::maps_every_user(text);
  const auto users = session::parse_daemon_users(text, "file");
  if (!users) {
    const std::string& line = users.error().message;
    expect(line.starts_with("file") && line.size() < 200, "a refusal is a line that says where");
    expect(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }),
           "a refusal can be shown to a person");
    return;
  }
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  expect(users->numbers.size() + users->names.size() <= lines, "a line names one user");
  const auto again = session::parse_daemon_users(written(users.value()), "again");
  const bool fits = written(users.value()).size() <= session::kLongestDaemonUsers;
  expect(static_cast<bool>(again) == fits, "what was accepted is accepted");
  if (!again) return;
  expect(again->numbers == users->numbers && again->names == users->names, "and means the same");
}

Bytes bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

std::vector<Bytes> peers_seeds() {
  return {bytes("# who may serve the daemon\nfairgv\n\n65534 # outside of the container\r\n  1000\t\n"),
          bytes("DOMAIN\\user\nsvc-gpu$\nuser@realm\n4294967294\n"),
          bytes("         0          0 4294967295\n"), bytes("0 1000 1\n1 100000 65536\n")};
}

}  // namespace

const Target kPeers{"peers", &run_peers, &peers_seeds, &mutate_bytes};

}  // namespace fairgv::fuzz
