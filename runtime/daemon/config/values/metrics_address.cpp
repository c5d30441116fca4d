#include "runtime/daemon/config/values/metrics_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>

#include "runtime/session/own_files.hpp"

namespace fairgv::daemon {
namespace {

constexpr const char* kForms = "\"127.0.0.1:9477\", \"[::1]:9477\" or \"unix:/run/fairgv/metrics.sock\"";

bool is_loopback(const MetricsAddress& address) {
  if (address.ipv6) {
    in6_addr parsed{};
    return ::inet_pton(AF_INET6, address.host.c_str(), &parsed) == 1 && IN6_IS_ADDR_LOOPBACK(&parsed);
  }
  in_addr parsed{};
  return ::inet_pton(AF_INET, address.host.c_str(), &parsed) == 1 && (::ntohl(parsed.s_addr) >> 24) == 127;
}

bool is_address(const MetricsAddress& address) {
  in6_addr parsed{};
  return ::inet_pton(address.ipv6 ? AF_INET6 : AF_INET, address.host.c_str(), &parsed) == 1;
}

Result<UniqueFd> listen_on_unix(const std::string& path, mode_t mode) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("cannot make a socket for metrics");
  // Where others may write, chmod() would change a file that they put in the socket's place.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (auto safe = session::check_folder(folder, session::Neighbours::may_be); !safe) {
    return Error{"cannot make the metrics socket: " + safe.error().message};
  }
  struct stat old {};
  if (::lstat(path.c_str(), &old) == 0 && !S_ISSOCK(old.st_mode)) {
    return Error{path + " exists and is not a socket: remove it, or choose another path in [metrics]"};
  }
  ::unlink(path.c_str());
  // Between bind() and chmod() nobody can connect, because nobody listens yet.
  if (::bind(fd.get(), static_cast<const sockaddr*>(static_cast<const void*>(&name)), sizeof(name)) != 0) {
    return system_error("cannot make the metrics socket " + path);
  }
  if (::chmod(path.c_str(), mode) != 0) return system_error("cannot set the permissions of " + path);
  if (::listen(fd.get(), SOMAXCONN) != 0) return system_error("cannot listen at " + path);
  return fd;
}

Result<UniqueFd> listen_on_tcp(const MetricsAddress& address) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = ::htons(address.port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = ::htons(address.port);
  const int family = address.ipv6 ? AF_INET6 : AF_INET;
  const std::string where = address.host + " port " + std::to_string(address.port);
  void* const into = address.ipv6 ? static_cast<void*>(&v6.sin6_addr) : static_cast<void*>(&v4.sin_addr);
  ::inet_pton(family, address.host.c_str(), into);
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("cannot make a socket for metrics");
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const void* const name = address.ipv6 ? static_cast<const void*>(&v6) : static_cast<const void*>(&v4);
  const socklen_t length = address.ipv6 ? sizeof(v6) : sizeof(v4);
  if (::bind(fd.get(), static_cast<const sockaddr*>(name), length) != 0 ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    return system_error("cannot tell metrics at " + where);
  }
  return fd;
}

}  // namespace

Result<MetricsAddress> parse_metrics_address(const std::string& text) {
  const Error wrong{"'" + text + "' is no place for metrics: give " + kForms};
  MetricsAddress address;
  if (text.starts_with("unix:")) {
    address.path = text.substr(5);
    if (!address.path.starts_with('/')) return wrong;
    if (address.path.size() < sizeof(sockaddr_un::sun_path)) return address;
    return Error{"the path of a socket may have " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                 " bytes, and '" + address.path + "' has more"};
  }
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return wrong;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || stop != end) return wrong;
  address.ipv6 = text.front() == '[' && text[colon - 1] == ']';
  address.host = address.ipv6 ? text.substr(1, colon - 2) : text.substr(0, colon);
  if (!is_address(address)) return wrong;
  if (is_loopback(address)) return address;
  return Error{
      "metrics are told on the loopback only, since they name every tenant and nobody is asked who "
      "they are, and '" +
      text +
      "' is another address: give 127.0.0.1, [::1] or unix:/path, and put what checks "
      "identities (a reverse proxy) before it"};
}

Result<UniqueFd> listen_at(const MetricsAddress& address, mode_t mode) {
  return address.path.empty() ? listen_on_tcp(address) : listen_on_unix(address.path, mode);
}

}  // namespace fairgv::daemon
