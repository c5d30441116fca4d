// A client process' claim of who it is, taken from its environment (README, table of FAIRGV_* variables).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/memory_size.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/wish/slicing_wish.hpp"
#include "runtime/session/wish/tenant_wish.hpp"

namespace fairgv::session {

struct ClientIdentity {
  std::string socket_path;
  std::optional<std::string> tenant;  // none: the daemon takes the user's name
  TenantWish wish;
  SlicingWish slicing;
  std::optional<MemorySize> memory;  // none: the configuration decides
  std::string program;               // for people to read, as in `fairgv ps`
  bool driver_messages = true;       // print what the driver says
};

/// FAIRGV_SOCKET, FAIRGV_TENANT, FAIRGV_WEIGHT, FAIRGV_MIN, FAIRGV_MAX, FAIRGV_CLASS, FAIRGV_SLICE,
/// FAIRGV_MEM, FAIRGV_DRIVER_MESSAGES and the name of the running program. An empty variable counts as not
/// set.
Result<ClientIdentity> identity_from_environment();

}  // namespace fairgv::session
