#include "runtime/session/client/client.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "runtime/base/socket.hpp"
#include "runtime/session/client/quiet_thread.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/trust/trusted_daemon.hpp"

namespace fairgv::session {
namespace {

/// The daemon's answer to our hello, with all that came with it.
struct Reception {
  ring::Segment segment;
  UniqueFd output;  // if the daemon has such a pipe
  bool quiet_slots = false;
  bool memory_quota = false;
  bool memory_waits = false;
  std::vector<std::uint64_t> memory_limits;
  Names names = Names::fairgv;
  bool includes = false;
  bool driver_messages = false;
  std::uint64_t hidden_devices = 0;
  bool marks = false;
};

Result<Reception> receive_welcome(const Socket& socket, Api api) {
  FAIRGV_TRY(packet, socket.receive());
  if (packet->kind != Packet::Kind::message) return Error{"the daemon hung up without an answer"};
  FAIRGV_TRY(answer, parse_hello_answer(packet->text));
  if (const auto* refused = std::get_if<Refused>(&answer.value())) return Error{refused->reason};
  auto& welcome = std::get<Welcome>(answer.value());
  const std::uint64_t features = welcome.features;
  if (api == Api::cuda && (features & kCuda) == 0) {
    return Error{"this fairgvd serves no CUDA programs: install a newer release and run `fairgv restart`"};
  }
  const bool has_output = (features & kKernelOutput) != 0;
  if (packet->fds.size() != (has_output ? 2 : 1)) {
    return Error{"the daemon's welcome came without its descriptors"};
  }
  FAIRGV_TRY(segment, ring::Segment::attach_what_fits(std::move(packet->fds[0])));
  return Reception{std::move(segment).value(),
                   has_output ? std::move(packet->fds[1]) : UniqueFd(),
                   (features & kQuietSlots) != 0,
                   (features & kMemoryQuota) != 0,
                   (features & kMemoryWaits) != 0,
                   std::move(welcome.memory_limits),
                   welcome.names,
                   (features & kIncludes) != 0,
                   (features & kDriverMessages) != 0,
                   (features & kChosenDevices) != 0 ? welcome.hidden_devices : 0,
                   (features & kMarks) != 0};
}

std::uint32_t object_limit(const ring::Segment& segment) {
  const std::uint32_t told = segment.header().limits.objects.load(std::memory_order_relaxed);
  return told != 0 ? told : std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

Result<std::unique_ptr<ClientSession>> ClientSession::connect(const ClientIdentity& identity, Api api) {
  FAIRGV_TRY(socket, connect_to_daemon(identity.socket_path));
  Hello hello;
  hello.tenant = identity.tenant;
  hello.wish = identity.wish;
  hello.slicing = identity.slicing;
  hello.memory = identity.memory;
  hello.program = identity.program.substr(0, kLongestProgramName);
  hello.pid = ::getpid();
  hello.api = api;
  if (!identity.driver_messages) hello.features &= ~std::uint64_t{kDriverMessages};
  FAIRGV_CHECK(socket->send(to_text(hello)));
  FAIRGV_TRY(received, receive_welcome(socket.value(), api));
  auto session = std::make_unique<ClientSession>(std::move(received->segment), socket->release(),
                                                 std::move(received->output), received->driver_messages);
  if (received->quiet_slots) session->board_.use_quiet_slots();
  session->facts_.takes_includes = received->includes;
  session->facts_.takes_marks = received->marks;
  if (received->memory_quota) session->facts_.memory_limits = std::move(received->memory_limits);
  session->facts_.memory_waits = received->memory_waits;
  session->facts_.names = received->names;
  session->facts_.hidden_devices = received->hidden_devices;
  return session;
}

ClientSession::ClientSession(ring::Segment segment, UniqueFd socket, UniqueFd output, bool driver_messages)
    : segment_(std::move(segment)),
      socket_(std::move(socket)),
      driver_messages_(driver_messages),
      output_(std::move(output)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      arena_(segment_.arena()),
      board_(segment_),
      objects_(object_limit(segment_)),
      requests_(segment_.requests()),
      responses_(segment_.responses()) {
  // Relaxed: written before the session began.
  board_.suit(segment_.header().coscheduling.device_apart.load(std::memory_order_relaxed) != 0);
  watcher_ = quiet_thread([this] { watch_socket(); });
}

ClientSession::~ClientSession() {
  stopping_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof(one));
  segment_.close();
  watcher_.join();
  if (notifier_.joinable()) notifier_.join();
}

void ClientSession::release_object(wire::ObjectId id) {
  send(wire::ReleaseObject{id});
  objects_.release(id);
}

bool ClientSession::await_memory(wire::AwaitMemory call) {
  if (!facts_.memory_waits) return false;
  call.answer = board_.acquire();
  if (!call.answer) return false;
  const bool came = send(call) && wait(call.answer) == kComplete;
  release_event(call.answer);
  return came;
}

void ClientSession::release_event(wire::EventId event) {
  send(wire::ReleaseEvent{event});
  board_.release(event);
}

std::optional<wire::ArenaRange> ClientSession::allocate(std::uint64_t bytes) {
  {
    const std::lock_guard lock(request_mutex_);
    reclaim();
  }
  const auto offset = arena_.allocate(std::max<std::uint64_t>(bytes, 1));
  if (!offset) return std::nullopt;
  return wire::ArenaRange{*offset, bytes};
}

void ClientSession::free_when_consumed(wire::ArenaRange range) {
  const std::lock_guard lock(request_mutex_);
  consumables_.push_back({requests_.produced(), range.offset});
}

void ClientSession::reclaim() {
  if (consumables_.empty()) return;
  const std::uint64_t consumed = requests_.consumed();
  while (!consumables_.empty() && consumables_.front().position <= consumed) {
    arena_.free(consumables_.front().offset);
    consumables_.pop_front();
  }
}

std::byte* ClientSession::wait_for_room(std::size_t size) {
  ring::wait(segment_.header().reply_bell, room_budget_, [&] { return requests_.has_room(size) || lost(); });
  return lost() ? nullptr : requests_.reserve(size);
}

bool ClientSession::receive(wire::Opcode opcode, std::uint64_t tag) {
  reply_.clear();
  for (;;) {
    ring::wait(segment_.header().reply_bell, reply_budget_,
               [&] { return responses_.has_record() || lost(); });
    if (!responses_.has_record()) return false;
    ring::RecordHeader header;
    std::span<const std::byte> payload;
    if (responses_.peek(header, payload) != ring::RingConsumer::Next::record || header.tag != tag) {
      abandon();
      return false;
    }
    reply_.insert(reply_.end(), payload.begin(), payload.end());
    responses_.pop();
    if (header.opcode == opcode) return true;
    if (header.opcode != wire::kPartialReply) {
      abandon();
      return false;
    }
    ring::ring(segment_.header().room_bell);  // the worker may wait for room for the next piece
  }
}

void ClientSession::abandon() {
  segment_.close();
}

void ClientSession::set_notice_handler(std::function<void(const wire::EventReached&)> handler,
                                       std::function<void()> on_loss) {
  notice_handler_ = std::move(handler);
  loss_handler_ = std::move(on_loss);
  notifier_ = quiet_thread([this] { deliver_notices(); });
}

void ClientSession::watch_socket() {
  // poll() passes over negative descriptors.
  pollfd descriptors[] = {
      {socket_ ? socket_.fd() : -1, POLLIN, 0}, {stop_.get(), POLLIN, 0}, {output_.fd(), POLLIN, 0}};
  auto& [socket, stop, output] = descriptors;
  for (;;) {
    if (::poll(descriptors, std::size(descriptors), -1) < 0) continue;  // EINTR
    if (output.revents != 0 && !output_.copy()) output.fd = -1;
    if (stop.revents != 0) return;
    // The daemon sends nothing else after its welcome: any other event here is the end.
    if (socket.revents != 0 && !take_driver_message()) {
      segment_.close();
      messages_.end();
      socket.fd = -1;  // the thread stays until it is joined
    }
  }
}

bool ClientSession::take_driver_message() {
  if (!driver_messages_) return false;
  const auto packet = socket_.receive_text();
  if (!packet || packet->kind != Packet::Kind::message) return false;
  const auto message = parse_driver_says(packet->text);
  if (message) messages_.take(message.value());
  return static_cast<bool>(message);
}

void ClientSession::hear_driver(std::chrono::milliseconds patience) {
  if (!driver_messages_ || lost()) return;
  const Hear question{messages_.next_question()};
  if (socket_.offer(to_text(question))) messages_.await(question.number, patience);
}

void ClientSession::deliver_notices() {
  ring::RingConsumer notices(segment_.notices());
  ring::SpinBudget budget;
  const auto stopping = [this] { return stopping_.load(std::memory_order_acquire); };
  std::vector<std::byte> copy;
  std::uint64_t since_bell = 0;
  for (;;) {
    ring::wait(segment_.header().notice_bell, budget,
               [&] { return notices.has_record() || lost() || stopping(); });
    // Notices that were posted before the session ended are still delivered; then this thread only says so
    // and is joined.
    if (!notices.has_record()) {
      if (loss_handler_ && !stopping()) loss_handler_();
      ring::wait(segment_.header().notice_bell, budget, stopping);
    }
    if (stopping()) return;
    ring::RecordHeader header;
    std::span<const std::byte> payload;
    wire::EventReached notice;
    const bool record = notices.peek(header, payload) == ring::RingConsumer::Next::record;
    if (record) copy.assign(payload.begin(), payload.end());
    if (!record || header.opcode != wire::EventReached::opcode ||
        !wire::decode(std::span<const std::byte>(copy), notice)) {
      abandon();
      return;
    }
    notices.pop();
    // A worker that found the ring full keeps a backlog. It hears of room once per quarter ring, not per
    // notice.
    if (++since_bell >= segment_.notices().slot_count / 4) {
      ring::ring(segment_.header().worker_bell);
      since_bell = 0;
    }
    notice_handler_(notice);
  }
}

}  // namespace fairgv::session
