#include "runtime/vgpu/ends/replies.hpp"

#include <algorithm>
#include <cstring>

namespace fairgv::vgpu {

void Replies::send_pieces(wire::Opcode opcode, std::uint64_t tag, std::span<const std::byte> reply) {
  constexpr auto kPatience = std::chrono::milliseconds(1);
  ring::SegmentHeader& header = segment_.header();
  for (;;) {
    const std::size_t piece = std::min<std::size_t>(reply.size(), ring_.max_payload());
    while (!ring_.has_room(piece)) {
      if (segment_.closed()) return;
      ring::wait(
          header.room_bell, room_budget_, [&] { return ring_.has_room(piece) || segment_.closed(); },
          std::chrono::steady_clock::now() + kPatience);
      meanwhile_();
    }
    const bool last = piece == reply.size();
    std::memcpy(ring_.reserve(piece), reply.data(), piece);
    ring_.publish(last ? opcode : wire::kPartialReply, tag, piece);
    ring::ring(header.reply_bell);
    if (last) return;
    reply = reply.subspan(piece);
  }
}

}  // namespace fairgv::vgpu
