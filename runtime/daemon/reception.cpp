#include "runtime/daemon/reception.hpp"

#include <linux/sockios.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

#include "runtime/daemon/service/deadlines.hpp"
#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {
namespace {

/// An answer of any length, or a short one with two files.
Result<void> send_with(const Socket& socket, const std::string& text, const std::vector<UniqueFd>& files) {
  if (files.size() != 2) return control::send_answer(socket, text);
  return socket.send(text, {files[0].get(), files[1].get()});
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAcceptRest{1};
constexpr std::size_t kRememberedRefusals = 1'024;
/// At once, so that a user who connects without end does not keep the daemon from its sessions.
constexpr int kMostAccepted = 64;
/// Requests of users that are answered between two looks at everything else take so long, and one more.
constexpr std::chrono::milliseconds kServedAtOnce{2};
/// Bytes of answers that the peer has not read when it asks again, as the kernel counts them: some short
/// ones, or a long one's file.
constexpr int kMostUnread = 8'192;

Reception::Time::duration rounded(std::chrono::duration<double> time) {
  return std::chrono::ceil<Reception::Time::duration>(time);
}

bool reads_its_answers(const Socket& socket) {
  int unread = 0;
  return ::ioctl(socket.fd(), SIOCOUTQ, &unread) != 0 || unread <= kMostUnread;
}

std::string in_seconds(std::chrono::duration<double> time) {
  std::string text = std::to_string(time.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

}  // namespace

Result<void> Reception::open() {
  auto watch = needs_.events.watch(needs_.listener.fd(), [this] { accept_all(); });
  if (!watch) {
    open_again_ = Clock::now() + kAcceptRest;
    return watch.error();
  }
  listener_watch_ = std::move(watch).value();
  open_again_.reset();
  return {};
}

void Reception::close() {
  listener_watch_.reset();
  open_again_.reset();
}

void Reception::hang_up() {
  while (!connections_.empty()) drop(connections_.begin()->first);
}

void Reception::accept_all() {
  for (int left = kMostAccepted; left > 0; --left) {
    auto accepted = needs_.listener.accept();
    if (!accepted) {
      if (!std::exchange(told_exhausted_, true)) spdlog::error("{}", accepted.error().message);
      listener_watch_.reset();
      open_again_ = Clock::now() + kAcceptRest;
      return;
    }
    told_exhausted_ = false;
    if (!accepted.value()) return;
    admit(std::move(accepted).value());
  }
}

void Reception::admit(Socket socket) {
  const auto peer = socket.peer();
  if (!peer) return;
  const Account account = needs_.entrance.account_of(peer.value(), socket.fd());
  if (auto place = find_place(account, peer->uid); !place) {
    tell_refused(peer.value(), account, place.error().message);
    (void)socket.send(to_text(session::Refused{place.error().message}));
    return;
  }
  const std::uint64_t key = ++last_key_;
  const Time now = Clock::now();
  connections_.emplace(key, Connection{.socket = std::move(socket),
                                       .peer = peer.value(),
                                       .account = account,
                                       .hello_by = now + rounded(needs_.config.hello_timeout),
                                       .heard = now,
                                       .watch = {}});
  listen_to(key);
  // Its hello may be there: then it takes no room in the crowd of a program start.
  on_connection(key);
}

Result<void> Reception::find_place(const Account& account, uid_t uid) {
  const auto has = std::count_if(connections_.begin(), connections_.end(), [&](const auto& entry) {
    return entry.second.account.owner == account.owner;
  });
  if (!is_administrator(uid) && static_cast<std::uint64_t>(has) >= needs_.config.user_connection_limit) {
    return Error{"user " + std::to_string(account.owner) +
                 " has too many connections to fairgvd that are no sessions"};
  }
  const std::size_t all = needs_.entrance.descriptors().connections;
  const std::size_t kept = account.administrator ? 0 : kept_for_administrators(all);
  if (connections_.size() + kept < all) return {};
  std::vector<Seat> seats;
  for (const auto& [key, connection] : connections_) {
    seats.push_back({key, connection.account, connection.heard, connection.awaits || connection.queued});
  }
  const auto cleared = seat_to_clear(seats, account);
  if (!cleared) {
    return Error{"all " + std::to_string(all) +
                 " places for connections to fairgvd that are no sessions are taken: try again later"};
  }
  end(*cleared, "fairgvd has hung up: others needed the place of this connection; try again");
  return {};
}

void Reception::listen_to(std::uint64_t key) {
  Connection& connection = connections_.at(key);
  auto watch = needs_.events.watch(connection.socket.fd(), [this, key] { on_connection(key); });
  if (!watch) return drop(key);
  connection.watch = std::move(watch).value();
}

/// A user's request is not read before its turn: what a peer sends beyond that stays in its own socket.
void Reception::on_connection(std::uint64_t key) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const Account& account = connection.account;
  const bool at_once =
      account.administrator || (connection.hello_by && queue_.has_time(account.owner, Clock::now()));
  if (at_once) return hear(key);
  connection.watch.reset();
  connection.queued = true;
  queue_.add(account.owner, key);
}

void Reception::serve(Time now) {
  const Time until = now + kServedAtOnce;
  while (now < until) {
    const auto key = queue_.next(now);
    if (!key) return;
    connections_.at(*key).queued = false;
    listen_to(*key);
    hear(*key);
    now = Clock::now();
  }
}

void Reception::hear(std::uint64_t key) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const auto packet = connection.socket.receive_text();
  if (packet && packet->kind == Packet::Kind::nothing) return;
  if (!packet || packet->kind == Packet::Kind::closed) return drop(key);
  const Account account = connection.account;
  const Time begun = Clock::now();
  connection.heard = begun;
  if (connection.hello_by) {
    greet(key, packet->text);
  } else {
    answer_request(key, packet->text);
  }
  const Time now = Clock::now();
  if (!account.administrator) queue_.charge(account.owner, now - begun, now);
}

void Reception::greet(std::uint64_t key, const std::string& text) {
  Connection& connection = connections_.at(key);
  const auto hello = session::parse_hello(text);
  if (!hello) return refuse(key, hello.error().message);
  if (hello->role == session::Hello::Role::control) {
    connection.hello_by.reset();
    if (!connection.socket.send(to_text(session::Welcome{}))) drop(key);
    return;
  }
  connection.watch.reset();  // the session watches the socket from now on
  if (auto started = needs_.sessions.start(hello.value(), connection.peer, connection.socket); !started) {
    return refuse(key, started.error().message);
  }
  drop(key);
}

void Reception::answer_request(std::uint64_t key, const std::string& text) {
  Connection& connection = connections_.at(key);
  if (!reads_its_answers(connection.socket)) return drop(key);
  const ControlAnswer answer =
      needs_.control.answer(text, {connection.peer, connection.socket.fd(), connection.account, key});
  if (answer.awaits_more) {
    connection.awaits = true;
    connection.watch.reset();
  }
  if (answer.text && !send_with(connection.socket, *answer.text, answer.files)) drop(key);
}

void Reception::answer(std::uint64_t key, const std::string& text, const std::vector<UniqueFd>& files) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  found->second.awaits = false;
  found->second.heard = Clock::now();
  if (!send_with(found->second.socket, text, files)) return drop(key);
  listen_to(key);
}

bool Reception::expects_hello() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& entry) { return entry.second.hello_by.has_value(); });
}

/// When the connection has been silent for too long; nothing while it waits for us. `fairgv run` keeps a
/// daemon that would end without connections by one over which it says nothing.
std::optional<Reception::Time> Reception::time_of_end(const Connection& connection) const {
  if (connection.awaits || connection.queued) return std::nullopt;
  if (connection.hello_by) return connection.hello_by;
  if (connection.account.administrator || ends_when_idle_) return std::nullopt;
  const auto timeout = needs_.config.idle_timeout;
  return timeout.count() <= 0 ? std::nullopt : std::optional(connection.heard + rounded(timeout));
}

std::optional<Reception::Time> Reception::deadline() const {
  std::optional<Time> first = open_again_;
  keep_earlier(first, queue_.deadline());
  for (const auto& [key, connection] : connections_) keep_earlier(first, time_of_end(connection));
  return first;
}

void Reception::expire(Time now) {
  std::vector<std::pair<std::uint64_t, bool>> late;
  for (const auto& [key, connection] : connections_) {
    if (const auto at = time_of_end(connection); at && now >= *at)
      late.emplace_back(key, !connection.hello_by);
  }
  for (const auto& [key, greeted] : late) {
    end(key, greeted ? "fairgvd has hung up: nothing was asked for in " +
                           in_seconds(needs_.config.idle_timeout) + " (idle_timeout_s)"
                     : "fairgvd has hung up: nothing was said in " + in_seconds(needs_.config.hello_timeout) +
                           " (hello_timeout_s)");
  }
  if (open_again_ && now >= *open_again_) (void)open();
}

/// Sends the peer the reason, which it finds when it looks for an answer, and hangs up.
void Reception::end(std::uint64_t key, const std::string& reason) {
  const Connection& connection = connections_.at(key);
  (void)connection.socket.send(connection.hello_by ? to_text(session::Refused{reason})
                                                   : control::failure_text(reason));
  drop(key);
}

void Reception::refuse(std::uint64_t key, const std::string& reason) {
  const Connection& connection = connections_.at(key);
  tell_refused(connection.peer, connection.account, reason);
  (void)connection.socket.send(to_text(session::Refused{reason}));
  drop(key);
}

/// A program that tries again and again does not fill the log.
void Reception::tell_refused(const PeerCredentials& peer, const Account& account, const std::string& reason) {
  if (last_refusals_.size() >= kRememberedRefusals) last_refusals_.clear();
  if (std::exchange(last_refusals_[account.owner], reason) == reason) {
    spdlog::debug("refused process {} of {}: {}", peer.pid, account_text(peer.uid, account.owner), reason);
    return;
  }
  needs_.log.warn(account, "refused process {} of {}: {}", peer.pid, account_text(peer.uid, account.owner),
                  reason);
}

void Reception::drop(std::uint64_t key) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  if (found->second.queued) queue_.forget(found->second.account.owner, key);
  connections_.erase(found);
  needs_.control.leave(key);
}

}  // namespace fairgv::daemon
