// A session in the messages about its moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/daemon/sessions/session.hpp"

namespace fairgv::daemon {

inline std::string name_of_session(const Session& session) {
  return "session " + std::to_string(session.id.value);
}

/// The host's devices where it may run.
inline std::vector<std::uint32_t> homes_of(const Session& session) {
  return session.moved.places_in(session.devices).shown();
}

}  // namespace fairgv::daemon
