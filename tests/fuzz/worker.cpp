// The worker's handlers on the machine's real driver: a sequence of messages that a client may have written,
// with writes to the client's arena in between. A text that is no message, names missing objects, or lies
// outside of its bounds ends the session with a reason, before the driver sees it.
#include <algorithm>
#include <deque>
#include <memory>

#include "tests/fuzz/records.hpp"
#include "tests/fuzz/worker_script.hpp"
#include "tests/fuzz/worker_session.hpp"

namespace fairgv::fuzz {
namespace {

/// The number of sessions that may still be in a driver's callback that has reported their last command.
constexpr std::size_t kLingering = 8;

WorkerSession::Turns turns_of(std::uint8_t options) {
  const bool contended = (options & 1U) != 0;
  return {.slice = std::chrono::milliseconds(contended ? 6 : 0), .cut = (options & 2U) != 0};
}

/// The first byte selects the scheduling of the session.
void run_worker(Input input) {
  static auto& sessions =
      *new std::deque<std::unique_ptr<WorkerSession>>;  // the driver would end before them
  if (input.empty()) return;
  WorkerSession& session = *sessions.emplace_back(std::make_unique<WorkerSession>(turns_of(input[0])));
  for (const Record& record : split(input.subspan(1))) {
    if (!play(record, session)) break;
  }
  session.settle();
  if (sessions.size() > kLingering) sessions.pop_front();
}

std::vector<Bytes> worker_seeds() {
  std::vector<Bytes> all;
  for (const std::vector<Record>& script : worker_scripts()) {
    for (const std::uint8_t options : {std::uint8_t{0}, std::uint8_t{3}}) {
      Bytes& seed = all.emplace_back(joined(script));
      seed.insert(seed.begin(), options);
    }
  }
  return all;
}

void mutate(Bytes& input, Random& random) {
  if (input.empty()) return mutate_bytes(input, random);
  const std::uint8_t options = input.front();
  input.erase(input.begin());
  mutate_records(input, random);
  input.insert(input.begin(), options);
}

}  // namespace

const Target kWorker{"worker", &run_worker, &worker_seeds, &mutate};

}  // namespace fairgv::fuzz
