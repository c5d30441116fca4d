// An arena of which only the beginning is mapped, because the address space had no room for more (ulimit -v).
#pragma once

#include <optional>
#include <string>

#include "runtime/ring/segment.hpp"

namespace fairgv::session {

inline bool arena_is_cut(const ring::Segment& segment) {
  return segment.arena().size() < segment.whole_arena_bytes();
}

/// The same as a line for people, if it is so.
std::optional<std::string> arena_remark(const ring::Segment& segment);

}  // namespace fairgv::session
