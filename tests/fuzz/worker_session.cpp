#include "tests/fuzz/worker_session.hpp"

#include <algorithm>
#include <optional>
#include <thread>

#include "runtime/vgpu/backend/dispatch.hpp"
#include "tests/fuzz/patience.hpp"
#include "tests/fuzz/worker_limits.hpp"
#include "tests/fuzz/worker_script.hpp"

namespace fairgv::fuzz {
namespace {

/// No driver needs so long for an input's work: it hangs, or a completion was lost.
constexpr std::chrono::seconds kPatience{120};

vgpu::opencl::Driver& driver() {
  static vgpu::opencl::Driver opened = std::move(vgpu::opencl::Driver::open()).value();
  return opened;
}

ring::Segment small_segment() {
  ring::SegmentSizes sizes;
  sizes.request_bytes = 4096;
  sizes.response_bytes = 64 << 10;
  sizes.notice_bytes = 4096;
  sizes.completion_slots = 256;
  sizes.arena_bytes = 64 << 10;
  return std::move(ring::Segment::create(sizes)).value();
}

template <class Call>
std::optional<wire::EventId> completion_of(wire::Opcode opcode, std::span<const std::byte> bytes) {
  Call call;
  if (opcode != Call::opcode || !wire::decode(bytes, call)) return std::nullopt;
  return call.completion;
}

/// The event of a call on the slow lane, for which a front end waits before it goes on.
std::optional<wire::EventId> awaited(wire::Opcode opcode, std::span<const std::byte> bytes) {
  if (auto event = completion_of<wire::BuildProgram>(opcode, bytes)) return event;
  if (auto event = completion_of<wire::CompileProgram>(opcode, bytes)) return event;
  return completion_of<wire::LinkProgram>(opcode, bytes);
}

template <class Call>
bool is_reply(std::span<const std::byte> bytes) {
  typename Call::Reply reply;
  return wire::decode(bytes, reply);
}

/// Whether these bytes are a reply of the call with this opcode.
template <class... Calls>
bool is_reply_of(wire::Opcode opcode, std::span<const std::byte> bytes, wire::TypeList<Calls...>) {
  const auto fits = [&]<class Call>() {
    if constexpr (std::is_void_v<typename Call::Reply>) {
      return false;
    } else {
      return Call::opcode == opcode && is_reply<Call>(bytes);
    }
  };
  return (fits.template operator()<Calls>() || ...);
}

void scribble(std::span<std::byte> arena, const Bytes& bytes) {
  if (bytes.size() < 2) return;
  const std::size_t at = (bytes[0] + std::size_t{bytes[1]} * 256) % arena.size();
  const std::size_t count = std::min(bytes.size() - 2, arena.size() - at);
  std::copy_n(bytes.begin() + 2, count, reinterpret_cast<std::uint8_t*>(&arena[at]));
}

}  // namespace

vgpu::IssueSettings WorkerSession::settings(const Turns& turns, const vgpu::IssueLimits& limits) {
  vgpu::IssueSettings settings;
  settings.limits = limits;
  if (turns.cut) {
    settings.slicing.mode = vgpu::SlicingSettings::Mode::random;
    settings.slicing.planner.floor = 1;
  }
  settings.knock = [this, slice = turns.slice](wire::DeviceIndex device) {
    session::DeviceTurn& turn = turns_.devices[device];
    if (turn.state.load() == static_cast<std::uint32_t>(session::TurnState::wanting)) {
      turn.slice_ns.store(static_cast<std::uint64_t>(slice.count()));
      turn.state.store(static_cast<std::uint32_t>(session::TurnState::held));
    }
    return true;
  };
  return settings;
}

WorkerSession::WorkerSession(const Turns& turns, const vgpu::IssueLimits& limits)
    : segment_(small_segment()),
      responses_(segment_.responses()),
      notices_(segment_.notices()),
      turns_{},
      executor_(segment_, std::span(turns_.devices).first(driver().root_devices().size()),
                settings(turns, limits)),
      held_(executor_.helm().try_take().value()),
      loop_(executor_.at(held_)),
      backend_(driver(), segment_, executor_),
      replies_(segment_, [this] { read_replies(); }) {}

WorkerSession::~WorkerSession() {
  settle();
  loop_.pump();  // waits for the driver's thread, which may still be at the end of the last command
  const auto roots = static_cast<wire::DeviceIndex>(driver().root_devices().size());
  for (wire::DeviceIndex device = roots; device < driver().devices().size(); ++device) {
    (void)driver().release_sub_device(device);
  }
}

Result<void> WorkerSession::handle(wire::Opcode opcode, std::span<const std::byte> bytes) {
  const auto event = awaited(opcode, bytes);
  if (event) claim_slot(*event);
  const auto done = vgpu::dispatch(backend_, loop_, replies_, opcode, bytes, opcode);
  if (!done) {
    expect(!done.error().message.empty(), "the end of a session has a reason");
    return done;
  }
  read_replies();
  loop_.pump();
  Patience patience(kPatience);
  while (event && !ended(*event)) {
    expect(!patience.is_over(), "a build ends");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return done;
}

void WorkerSession::settle() {
  Patience patience(kPatience);
  // Work that waits for its time of issue counts, too: a later pump would issue it.
  const auto waits_for_a_time = [this] { return loop_.deadline().at != vgpu::TimePoint::max(); };
  do {
    loop_.pump();
    read_replies();
    std::this_thread::yield();
    expect(!patience.is_over(), "the driver ends what it was given");
  } while (executor_.in_flight() || loop_.needs_pump() || waits_for_a_time());
}

void WorkerSession::read_replies() {
  ring::RecordHeader header;
  std::span<const std::byte> payload;
  while (responses_.peek(header, payload) == ring::RingConsumer::Next::record) {
    reply_.insert(reply_.end(), payload.begin(), payload.end());
    responses_.pop();
    if (header.opcode == wire::kPartialReply) continue;
    expect(is_reply_of(header.opcode, reply_, wire::AllCalls{}), "a call is answered by its own reply");
    reply_.clear();
  }
  while (notices_.peek(header, payload) == ring::RingConsumer::Next::record) notices_.pop();
}

/// The front end does this before it names an event.
void WorkerSession::claim_slot(wire::EventId event) {
  if (event.index() >= segment_.slots().size()) return;
  segment_.slots()[event.index()].state.store(ring::SlotState::make(event.generation(), vgpu::kQueued));
}

std::int32_t WorkerSession::status(wire::EventId event) const {
  return ring::SlotState::status(segment_.slots()[event.index()].state.load(std::memory_order_acquire));
}

bool WorkerSession::ended(wire::EventId event) const {
  const std::uint64_t state = segment_.slots()[event.index()].state.load(std::memory_order_acquire);
  return ring::SlotState::generation(state) != event.generation() ||
         ring::SlotState::status(state) <= vgpu::kComplete;
}

Result<void> play(const Record& record, WorkerSession& session) {
  if (record.kind == kScribble) {
    scribble(session.arena(), record.bytes);
    return {};
  }
  if (record.kind == kSettle) {
    session.settle();
    return {};
  }
  std::vector<std::uint64_t> words(record.bytes.size() / 8 + 1);
  auto* const data = reinterpret_cast<std::byte*>(words.data());
  std::copy(record.bytes.begin(), record.bytes.end(), reinterpret_cast<std::uint8_t*>(data));
  const std::span<const std::byte> message(data, record.bytes.size());
  if (beyond_limits(record.kind, message)) return {};
  return session.handle(record.kind, message);
}

}  // namespace fairgv::fuzz
