#include "runtime/session/client/arena_remark.hpp"

#include "runtime/base/memory_size.hpp"

namespace fairgv::session {

std::optional<std::string> arena_remark(const ring::Segment& segment) {
  if (!arena_is_cut(segment)) return std::nullopt;
  return "the limit of this process' address space (ulimit -v) leaves room for " +
         readable_bytes(segment.arena().size()) + " of the " + readable_bytes(segment.whole_arena_bytes()) +
         " that it could share with its worker: buffers and transfers are kept that small; raise the limit "
         "for more";
}

}  // namespace fairgv::session
