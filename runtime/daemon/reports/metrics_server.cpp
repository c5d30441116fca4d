#include "runtime/daemon/reports/metrics_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "runtime/daemon/reports/metrics.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMetricsRest{1};
/// So many times as long as a page took to make, no other is made.
constexpr int kRestPerPage = 3;
constexpr std::string_view kMetricsPath = "/metrics";
constexpr const char* kPlain = "text/plain; charset=utf-8";

std::string response_of(std::string_view status, std::string_view type, const std::string& body,
                        bool with_body = true, std::string_view more = "") {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\nContent-Type: ").append(type);
  text.append("\r\nContent-Length: ").append(std::to_string(body.size()));
  text.append("\r\nConnection: close\r\n").append(more).append("\r\n");
  return with_body ? text + body : text;
}

/// The user who connected, of a unix socket.
std::optional<uid_t> user_behind(int fd) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.pid == 0) return std::nullopt;
  return peer.uid;
}

/// Whether making the answer takes long.
bool asks_for_page(std::string_view request) {
  return request.substr(0, request.find("\r\n")).find(kMetricsPath) != std::string_view::npos;
}

}  // namespace

Result<void> MetricsServer::listen(const std::string& address, mode_t mode) {
  if (address == address_) return {};
  close();
  if (address.empty()) return {};
  FAIRGV_TRY(parsed, parse_metrics_address(address));
  FAIRGV_TRY(listener, listen_at(parsed.value(), mode));
  listener_ = std::move(listener).value();
  socket_path_ = parsed->path;
  if (auto watched = watch_listener(); !watched) {
    close();
    return watched;
  }
  address_ = address;
  return {};
}

void MetricsServer::close() {
  clients_.clear();
  accept_again_.reset();
  all_wait_ = false;
  listener_watch_.reset();
  listener_.reset();
  if (!socket_path_.empty()) ::unlink(socket_path_.c_str());
  socket_path_.clear();
  address_.clear();
}

std::uint16_t MetricsServer::port() const {
  sockaddr_in6 name{};  // the port of both families lies at one place
  socklen_t length = sizeof(name);
  void* const into = &name;
  if (!listener_ || !socket_path_.empty() ||
      ::getsockname(listener_.get(), static_cast<sockaddr*>(into), &length) != 0) {
    return 0;
  }
  return ::ntohs(name.sin6_port);
}

Result<void> MetricsServer::watch_listener() {
  auto watch = events_.watch(listener_.get(), [this] { accept_all(); });
  if (!watch) return watch.error();
  listener_watch_ = std::move(watch).value();
  return {};
}

void MetricsServer::accept_all() {
  for (std::size_t left = kMostClients; left > 0; --left) {
    if (count_waiting() >= kMostClients) {
      all_wait_ = true;
      return listener_watch_.reset();
    }
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      listener_watch_.reset();
      accept_again_ = Clock::now() + kMetricsRest;
      return;
    }
    if (!fd) return;  // nobody more, or somebody who has left again
    if (clients_.size() >= kMostClients) make_room();
    const std::uint64_t key = ++last_client_;
    auto watch = events_.watch(fd.get(), [this, key] { on_readable(key); });
    if (!watch) return;
    const auto user = user_behind(fd.get());
    clients_.emplace(key, Client{.fd = std::move(fd),
                                 .user = user,
                                 .give_up = Clock::now() + kPatience,
                                 .request = {},
                                 .response = {},
                                 .watch = std::move(watch).value()});
    on_readable(key);  // its request may be there: then nobody needs its place
  }
}

/// Drops a client of the user who has the most: the oldest client that has not asked, or else the oldest that
/// does not read. Clients that wait for us stay.
void MetricsServer::make_room() {
  std::map<std::optional<uid_t>, std::size_t> held;
  for (const auto& [key, client] : clients_) ++held[client.user];
  const auto rank = [&](const Client& client) {
    return std::pair(held.at(client.user), client.response.empty());
  };
  auto victim = clients_.end();
  for (auto each = clients_.begin(); each != clients_.end(); ++each) {
    if (each->second.awaits_page) continue;
    if (victim == clients_.end() || rank(each->second) > rank(victim->second)) victim = each;
  }
  if (victim != clients_.end()) clients_.erase(victim);
}

void MetricsServer::on_readable(std::uint64_t key) {
  const auto found = clients_.find(key);
  if (found == clients_.end()) return;
  Client& client = found->second;
  std::array<char, 4'096> piece{};
  for (;;) {
    const ssize_t length = ::recv(client.fd.get(), piece.data(), piece.size(), 0);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (length <= 0) return drop(key);
    client.request.append(piece.data(), static_cast<std::size_t>(length));
    const bool complete = client.request.find("\r\n\r\n") != std::string::npos;
    if (!complete && client.request.size() <= kLongestRequest) continue;
    if (complete && asks_for_page(client.request) && Clock::now() < next_page_) {
      client.awaits_page = true;
      client.watch.reset();
      return;
    }
    client.response = complete ? respond(client.request)
                               : response_of("431 Request Header Fields Too Large", kPlain, "too long\n");
    page_.reset();
    return send(key, client);
  }
}

void MetricsServer::on_writable(std::uint64_t key) {
  send(key, clients_.at(key));
}

void MetricsServer::send(std::uint64_t key, Client& client) {
  while (client.sent < client.response.size()) {
    const ssize_t length = ::send(client.fd.get(), client.response.data() + client.sent,
                                  client.response.size() - client.sent, MSG_NOSIGNAL);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno != EAGAIN) return drop(key);
    if (length < 0) {
      if (client.awaits_writing) return;
      client.awaits_writing = true;
      client.watch.reset();
      auto watch = events_.watch(
          client.fd.get(), [this, key] { on_writable(key); }, EventLoop::Ready::write);
      if (!watch) return drop(key);
      client.watch = std::move(watch).value();
      return;
    }
    client.sent += static_cast<std::size_t>(length);
  }
  ::shutdown(client.fd.get(), SHUT_WR);
  drop(key);
}

/// The callback that runs now may be the client's own: the event loop keeps it until it returns.
void MetricsServer::drop(std::uint64_t key) {
  clients_.erase(key);
}

const std::string& MetricsServer::page() {
  if (!page_) {
    const Time begun = Clock::now();
    page_ = pages_.metrics();
    const Time now = Clock::now();
    next_page_ = now + kRestPerPage * (now - begun);
  }
  return *page_;
}

void MetricsServer::answer_waiting() {
  std::vector<std::uint64_t> waiting;
  for (const auto& [key, client] : clients_) {
    if (client.awaits_page) waiting.push_back(key);
  }
  (void)page();
  for (const std::uint64_t key : waiting) {
    Client& client = clients_.at(key);
    client.awaits_page = false;
    client.response = respond(client.request);
    send(key, client);
  }
  page_.reset();
}

std::size_t MetricsServer::count_waiting() const {
  return static_cast<std::size_t>(std::count_if(clients_.begin(), clients_.end(),
                                                [](const auto& entry) { return entry.second.awaits_page; }));
}

std::string MetricsServer::respond(std::string_view request) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const auto first = line.find(' ');
  const auto second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || !line.substr(second + 1).starts_with("HTTP/1.")) {
    return response_of("400 Bad Request", kPlain, "this is not HTTP\n");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view path = target.substr(0, target.find('?'));
  const bool with_body = method == "GET";
  if (!with_body && method != "HEAD") {
    return response_of("405 Method Not Allowed", kPlain, "only GET and HEAD\n", true, "Allow: GET, HEAD\r\n");
  }
  if (path == kMetricsPath) return response_of("200 OK", kMetricsType, page(), with_body);
  if (path == "/healthz") return response_of("200 OK", kPlain, "ok\n", with_body);
  if (path == "/readyz") {
    const auto reason = pages_.unready();
    if (!reason) return response_of("200 OK", kPlain, "ready\n", with_body);
    return response_of("503 Service Unavailable", kPlain, *reason + "\n", with_body);
  }
  return response_of("404 Not Found", kPlain, "there are /metrics, /healthz and /readyz\n", with_body);
}

std::optional<MetricsServer::Time> MetricsServer::deadline() const {
  std::optional<Time> first = accept_again_;
  for (const auto& [key, client] : clients_) {
    const Time at = client.awaits_page ? std::min(client.give_up, next_page_) : client.give_up;
    if (!first || at < *first) first = at;
  }
  return first;
}

void MetricsServer::expire(Time now) {
  if (accept_again_ && now >= *accept_again_) {
    accept_again_.reset();
    (void)watch_listener();
  }
  if (now >= next_page_ && count_waiting() != 0) answer_waiting();
  std::vector<std::uint64_t> late;
  for (const auto& [key, client] : clients_) {
    if (now >= client.give_up) late.push_back(key);
  }
  for (const std::uint64_t key : late) drop(key);
  if (all_wait_ && count_waiting() < kMostClients) {
    all_wait_ = false;
    (void)watch_listener();
  }
}

}  // namespace fairgv::daemon
