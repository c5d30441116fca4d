#include "runtime/base/exchange/exchange.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/base/signals_blocked.hpp"

namespace fairgv {
namespace {

namespace fs = std::filesystem;

using Bytes = std::array<std::uint8_t, 16>;

/// Connections at a time; more are sent away. They are all the user's own.
constexpr std::size_t kMostVisitors = 4096;
constexpr timeval kPatience{5, 0};

/// Names that are not yet listened at begin so, and nobody takes them for those of the dead.
constexpr char kUnfinished = '+';

bool fill_randomly(Bytes& bytes) {
  return ::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
}

std::string name_of(const Bytes& bytes) {
  std::string name;
  char digits[3];
  for (const std::uint8_t byte : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    name += digits;
  }
  return name;
}

/// However deep the folder lies: the path of a socket is short.
std::string path_in(const UniqueFd& folder, const std::string& name) {
  return "/proc/self/fd/" + std::to_string(folder.get()) + "/" + name;
}

sockaddr_un exchange_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// The folder, if it is this user's alone.
Result<UniqueFd> open_folder(const fs::path& folder, bool makes) {
  if (folder.empty()) return Error{"neither XDG_CACHE_HOME nor HOME says where processes can meet"};
  if (makes) {
    std::error_code failed;
    fs::create_directories(folder.parent_path(), failed);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      return system_error("cannot make " + folder.string());
  }
  UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return system_error("cannot open " + folder.string());
  struct stat facts {};
  if (::fstat(opened.get(), &facts) != 0) return system_error("cannot examine " + folder.string());
  if (facts.st_uid != ::geteuid() || (facts.st_mode & 077U) != 0)
    return Error{folder.string() + " is not its user's alone"};
  return opened;
}

/// `type`: SOCK_NONBLOCK, or nothing.
Result<UniqueFd> connect_in(const UniqueFd& folder, const std::string& name, int type, int& code) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | type, 0));
  if (!socket) return system_error("cannot make a socket");
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  const sockaddr_un address = exchange_address(path_in(folder, name));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    code = errno;
    return system_error("cannot connect");
  }
  return socket;
}

/// Removes the sockets of processes that have died.
void sweep(const UniqueFd& folder) {
  constexpr int kMost = 64;
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const names = copy < 0 ? nullptr : ::fdopendir(copy);
  if (names == nullptr) {
    if (copy >= 0) ::close(copy);
    return;
  }
  int looked_at = 0;
  for (const dirent* entry = ::readdir(names); entry != nullptr && looked_at < kMost;
       entry = ::readdir(names)) {
    if (entry->d_name[0] == '.' || entry->d_name[0] == kUnfinished) continue;
    ++looked_at;
    int code = 0;
    if (!connect_in(folder, entry->d_name, SOCK_NONBLOCK, code) && code == ECONNREFUSED)
      ::unlinkat(folder.get(), entry->d_name, 0);
  }
  ::closedir(names);
}

/// Nobody finds the socket before it listens: by its name alone the living are told from the dead.
Result<UniqueFd> listen_in(const UniqueFd& folder, const std::string& name) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error("cannot make a socket");
  const std::string unfinished = kUnfinished + name;
  const sockaddr_un address = exchange_address(path_in(folder, unfinished));
  constexpr int kBacklog = 64;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error("cannot make a socket in a folder of caches");
  if (::listen(socket.get(), kBacklog) != 0 ||
      ::renameat(folder.get(), unfinished.c_str(), folder.get(), name.c_str()) != 0) {
    const Error error = system_error("cannot listen in a folder of caches");
    ::unlinkat(folder.get(), unfinished.c_str(), 0);
    return error;
  }
  return socket;
}

bool is_same_user(const Socket& socket) {
  const auto peer = socket.peer();
  return peer && peer.value().uid == ::geteuid();
}

}  // namespace

fs::path Exchange::folder_of_environment() {
  if (const char* said = std::getenv("XDG_CACHE_HOME"); said != nullptr && *said == '/')
    return fs::path(said) / "fairgv" / "exchange";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "fairgv" / "exchange";
  return {};
}

Result<std::unique_ptr<Exchange>> Exchange::open(const fs::path& folder, std::function<void()> let_go) {
  FAIRGV_TRY(opened, open_folder(folder, true));
  sweep(opened.value());
  Bytes place;
  if (!fill_randomly(place)) return system_error("there are no random numbers");
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return system_error("cannot make an eventfd");
  FAIRGV_TRY(socket, listen_in(opened.value(), name_of(place)));
  std::unique_ptr<Exchange> made(new Exchange(std::move(opened).value(),
                                              Listener::borrow(std::move(socket).value()), std::move(wake),
                                              place, std::move(let_go)));
  const SignalsBlocked blocked;
  try {
    made->thread_ = std::thread([exchange = made.get()] { exchange->serve(); });
  } catch (const std::system_error&) {
    return Error{"no thread can be started"};
  }
  return made;
}

Exchange::Exchange(UniqueFd folder, Listener listener, UniqueFd wake, Bytes place,
                   std::function<void()> let_go)
    : folder_(std::move(folder)),
      listener_(std::move(listener)),
      wake_(std::move(wake)),
      place_(place),
      let_go_(std::move(let_go)) {}

void Exchange::close() {
  ::unlinkat(folder_.get(), name_of(place_).c_str(), 0);
}

Exchange::~Exchange() {
  close();
  if (!thread_.joinable()) return;
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

Result<Ticket> Exchange::offer(std::string text, UniqueFd file) {
  auto made = std::make_shared<Offer>();
  made->ticket.place = place_;
  if (!fill_randomly(made->ticket.key)) return system_error("there are no random numbers");
  made->text = std::move(text);
  made->file = std::move(file);
  const std::lock_guard guard(mutex_);
  offers_.push_back(made);
  return made->ticket;
}

void Exchange::withdraw(const Ticket& ticket) {
  const std::lock_guard guard(mutex_);
  const auto found = find(ticket);
  if (!found) return;
  found->is_withdrawn = true;
  found->file.reset();
  if (found->holders == 0) std::erase(offers_, found);
}

std::size_t Exchange::holders(const Ticket& ticket) const {
  const std::lock_guard guard(mutex_);
  const auto found = find(ticket);
  return found ? found->holders : 0;
}

/// With the lock.
std::shared_ptr<Exchange::Offer> Exchange::find(const Ticket& ticket) const {
  const auto found = std::find_if(offers_.begin(), offers_.end(),
                                  [&](const auto& offer) { return offer->ticket == ticket; });
  return found == offers_.end() ? nullptr : *found;
}

void Exchange::serve() {
  std::vector<pollfd> watched;
  for (;;) {
    watched = {{wake_.get(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    for (const Visitor& visitor : visitors_) watched.push_back({visitor.socket.fd(), POLLIN, 0});
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    bool has_left = false;
    for (std::size_t at = visitors_.size(); at > 0; --at) {
      if (watched[at + 1].revents == 0 || hear(visitors_[at - 1])) continue;
      const auto offer = std::move(visitors_[at - 1].offer);
      visitors_.erase(visitors_.begin() + static_cast<std::ptrdiff_t>(at - 1));
      if (!offer) continue;
      has_left = true;
      const std::lock_guard guard(mutex_);
      if (--offer->holders == 0 && offer->is_withdrawn) std::erase(offers_, offer);
    }
    if (has_left && let_go_) let_go_();
    if (watched[1].revents != 0) admit();
  }
}

void Exchange::admit() {
  auto accepted = listener_.accept();
  if (!accepted || !accepted.value()) return;
  if (visitors_.size() < kMostVisitors && is_same_user(accepted.value()))
    visitors_.push_back({std::move(accepted).value(), nullptr});
}

bool Exchange::hear(Visitor& visitor) {
  const auto heard = visitor.socket.receive_text();
  if (!heard || heard.value().kind == Packet::Kind::closed) return false;
  if (heard.value().kind == Packet::Kind::nothing) return true;
  const std::string& text = heard.value().text;
  // One question each: its answer is held until the connection ends.
  if (visitor.offer || text.size() != sizeof(Bytes)) return false;
  Ticket asked{place_, {}};
  std::memcpy(asked.key.data(), text.data(), text.size());
  const std::lock_guard guard(mutex_);
  const auto offer = find(asked);
  if (!offer || offer->is_withdrawn) return false;
  const auto sent =
      offer->file ? visitor.socket.send(offer->text, {offer->file.get()}) : visitor.socket.send(offer->text);
  if (!sent) return false;
  ++offer->holders;
  visitor.offer = offer;
  return true;
}

Result<Taken> Exchange::take(const fs::path& folder, const Ticket& ticket) {
  FAIRGV_TRY(opened, open_folder(folder, false));
  int code = 0;
  FAIRGV_TRY(connected, connect_in(opened.value(), name_of(ticket.place), 0, code));
  Socket socket(std::move(connected).value());
  if (!is_same_user(socket)) return Error{"the offer is another user's"};
  FAIRGV_CHECK(socket.send({reinterpret_cast<const char*>(ticket.key.data()), ticket.key.size()}));
  FAIRGV_TRY(answer, socket.receive());
  Packet& packet = answer.value();
  if (packet.kind != Packet::Kind::message || packet.fds.size() > 1) return Error{"there is no such offer"};
  Taken taken{std::move(packet.text), {}, std::move(socket)};
  if (!packet.fds.empty()) taken.file = std::move(packet.fds.front());
  return taken;
}

}  // namespace fairgv
