// A client process' claim of who it is, taken from its environment (README, table of FAIRGV_* variables).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/memory_size.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/slicing_wish.hpp"

namespace fairgv::session {

inline constexpr std::uint32_t kMinWeight = 1;
inline constexpr std::uint32_t kMaxWeight = 10'000;

struct ClientIdentity {
  std::string socket_path;
  std::optional<std::string> tenant;    // none: the daemon takes the user's name
  std::optional<std::uint32_t> weight;  // none: the configuration decides
  SlicingWish slicing;
  std::optional<MemorySize> memory;  // none: the configuration decides
  std::string program;               // for people to read, as in `fairgv ps`
  bool driver_messages = true;       // print what the driver says
};

/// A weight as people write it: an integer from kMinWeight to kMaxWeight. `source` names where it came from,
/// for the error's text.
Result<std::uint32_t> parse_weight(const std::string& text, const std::string& source);

/// FAIRGV_SOCKET, FAIRGV_TENANT, FAIRGV_WEIGHT, FAIRGV_SLICE, FAIRGV_MEM, FAIRGV_DRIVER_MESSAGES and the name
/// of the running program. An empty variable counts as not set.
Result<ClientIdentity> identity_from_environment();

}  // namespace fairgv::session
