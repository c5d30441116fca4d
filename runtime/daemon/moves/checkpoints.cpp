#include "runtime/daemon/moves/checkpoints.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/base/json_fields.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/moves/outcome.hpp"
#include "runtime/daemon/moves/session_words.hpp"
#include "runtime/ring/spsc_ring.hpp"

namespace fairgv::daemon {
namespace {

/// A memory file that others can read and not write.
Result<UniqueFd> readable(int file) {
  UniqueFd opened(::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return system_error("cannot open a memory file again");
  return opened;
}

/// Of this size for good.
Result<UniqueFd> file_to_fill(const char* name, std::uint64_t bytes) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return system_error("cannot make a memory file for a checkpoint");
  return file;
}

/// Nobody changes it any more.
Result<void> close_to_writers(int file) {
  if (::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) == 0) return {};
  return system_error("cannot take a filled file: it is mapped to be written");
}

/// Slots that were produced in a ring and consumed: of the two that the program and its worker have in mind.
std::array<std::uint64_t, 2> counts_at(int segment, std::uint64_t offset) {
  std::array<std::uint64_t, 2> counts{};
  const auto read = [&](std::uint64_t& count, std::size_t at) {
    if (::pread(segment, &count, sizeof(count), static_cast<off_t>(offset + at)) !=
        static_cast<ssize_t>(sizeof(count)))
      count = 0;
  };
  read(counts[0], offsetof(ring::RingHeader, produced));
  read(counts[1], offsetof(ring::RingHeader, consumed));
  return counts;
}

std::string words_of(const session::DeviceDescription& device) {
  return device.name + " (" + device.platform + ")";
}

}  // namespace

/// As it is now. What the program writes into its memory decides some of it, for its own session.
control::CheckpointFacts Checkpoints::facts_of(const Session& session) const {
  const ring::SegmentPreamble& preamble = session.header.header().preamble;
  control::CheckpointFacts facts;
  facts.fairgv = FAIRGV_VERSION;
  facts.protocol = session::kProtocolVersion;
  facts.api = to_text(session.api);
  facts.program = printable(session.program, kLongestText);
  for (const std::uint32_t host : session.devices.all())
    facts.devices.push_back(printable(words_of(needs_.devices.table().devices[host]), kLongestText));
  facts.hidden = session.devices.hidden();
  const auto& sizes = preamble.sizes;
  facts.layout = {sizes.request_bytes, sizes.response_bytes, sizes.notice_bytes, sizes.completion_slots,
                  sizes.arena_bytes};
  std::size_t next = 0;
  for (const std::uint64_t offset :
       {preamble.offsets.requests, preamble.offsets.responses, preamble.offsets.notices}) {
    for (const std::uint64_t count : counts_at(session.segment_fd.get(), offset)) facts.place[next++] = count;
  }
  facts.contents_bytes = preamble.offsets.total - preamble.offsets.slots;
  facts.holdings = session.parked ? session.parked->holdings : needs_.tenancies.memory().holdings(session.id);
  facts.session = session.id.value;
  facts.tenant = session.tenant_name;
  facts.made_s =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  return facts;
}

// -- to a file

Result<std::optional<Checkpoints::Reply>> Checkpoints::checkpoint(Session& session, std::uint64_t key) {
  if (resting_.contains(key)) return Error{"this connection has a session that rests already"};
  FAIRGV_CHECK(needs_.moves.rest(
      session,
      [this, key](Session& its, const UniqueFd& image, std::uint64_t bytes) {
        hand_out(its, key, image, bytes);
      },
      [this, key](const MoveOutcome& outcome) {
        const bool was_handed_out = resting_.erase(key) > 0;
        // The peer learns it when it says that it has copied.
        if (outcome.failure && !was_handed_out)
          needs_.answer(key, {control::failure_text(outcome.failure->message), {}});
      }));
  return std::optional<Reply>();
}

void Checkpoints::hand_out(Session& session, std::uint64_t key, const UniqueFd& image, std::uint64_t bytes) {
  resting_.emplace(key, session.id);
  auto facts = facts_of(session);
  facts.image_bytes = bytes;
  auto own = readable(image.get());
  auto memory = readable(session.segment_fd.get());
  if (!own || !memory) {
    const Error why = own ? memory.error() : own.error();
    needs_.answer(key, {control::failure_text(why.message), {}});
    (void)needs_.moves.end_rest(session);
    return;
  }
  const auto at = session.header.header().preamble.offsets.slots;
  Reply reply{json_text({{"ok", true}, {"facts", control::to_json(facts)}, {"contents_at", at}}), {}};
  reply.files.push_back(std::move(own).value());
  reply.files.push_back(std::move(memory).value());
  needs_.answer(key, reply);
}

Result<std::optional<Checkpoints::Reply>> Checkpoints::copied(Session& session, std::uint64_t key) {
  const auto found = resting_.find(key);
  if (found == resting_.end() || found->second != session.id)
    return Error{name_of_session(session) + " does not rest any more: it was not copied in time"};
  FAIRGV_CHECK(needs_.moves.end_rest(session));
  return std::optional<Reply>(Reply{control::success_text(), {}});
}

// -- from a file

Result<std::optional<Checkpoints::Reply>> Checkpoints::restore(Session& session,
                                                               const control::CheckpointFacts& facts,
                                                               std::uint64_t key) {
  const std::string reason = control::why_not(facts, facts_of(session));
  if (!reason.empty()) return Error{name_of_session(session) + " is not restored: " + reason};
  FAIRGV_TRY(image, file_to_fill("fairgv-image", facts.image_bytes));
  FAIRGV_TRY(contents, file_to_fill("fairgv-contents", facts.contents_bytes));
  Reply reply{control::success_text(), {}};
  for (const int file : {image->get(), contents->get()}) {
    UniqueFd copy(::fcntl(file, F_DUPFD_CLOEXEC, 0));
    if (!copy) return system_error("cannot hand a memory file out");
    reply.files.push_back(std::move(copy));
  }
  offers_.insert_or_assign(key,
                           Offer{session.id, facts, std::move(image).value(), std::move(contents).value()});
  return std::optional<Reply>(std::move(reply));
}

Result<std::optional<Checkpoints::Reply>> Checkpoints::filled(Session& session, std::uint64_t key) {
  const auto found = offers_.find(key);
  if (found == offers_.end() || found->second.session != session.id)
    return Error{"nothing was offered to restore " + name_of_session(session) + " from"};
  Offer offer = std::move(found->second);
  offers_.erase(found);
  FAIRGV_CHECK(close_to_writers(offer.image.get()));
  FAIRGV_CHECK(close_to_writers(offer.contents.get()));
  Restored from{.image = std::move(offer.image),
                .bytes = offer.facts.image_bytes,
                .holdings = offer.facts.holdings,
                .contents = std::move(offer.contents),
                .fits = [this, facts = offer.facts](const Session& now) -> Result<void> {
                  const std::string reason = control::why_not(facts, facts_of(now));
                  if (!reason.empty()) return Error{reason};
                  return {};
                }};
  FAIRGV_CHECK(needs_.moves.restore(session, std::move(from), [this, key](const MoveOutcome& outcome) {
    const std::string text = outcome.failure ? control::failure_text(outcome.failure->message)
                                             : to_text(control::MoveReport{{moved_session(outcome)}});
    needs_.answer(key, {text, {}});
  }));
  return std::optional<Reply>();
}

void Checkpoints::leave(std::uint64_t key) {
  offers_.erase(key);
  const auto found = resting_.find(key);
  if (found == resting_.end()) return;
  Session* const session = needs_.sessions.find(found->second);
  resting_.erase(found);
  if (session != nullptr) (void)needs_.moves.end_rest(*session);
}

}  // namespace fairgv::daemon
