// Where metrics are told: "127.0.0.1:9477", "[::1]:9477" (any address of the loopback), or "unix:/path".
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::daemon {

struct MetricsAddress {
  std::string path;        // of a unix socket; empty: TCP
  std::string host;        // an address, without brackets
  std::uint16_t port = 0;  // 0: the system chooses, for tests
  bool ipv6 = false;
};

/// An Error says what is wrong, and why no other addresses than the loopback's are taken.
Result<MetricsAddress> parse_metrics_address(const std::string& text);

/// A non-blocking socket that listens there; `mode`: the permissions of a unix socket. Replaces a socket that
/// is there already.
Result<UniqueFd> listen_at(const MetricsAddress& address, mode_t mode);

}  // namespace fairgv::daemon
