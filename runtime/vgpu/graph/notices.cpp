#include "runtime/vgpu/graph/notices.hpp"

namespace fairgv::vgpu {

void Notices::post(const wire::EventReached& notice) {
  flush();
  if (!backlog_.empty() || !send(notice)) backlog_.push_back(notice);
}

void Notices::flush() {
  while (!backlog_.empty() && send(backlog_.front())) backlog_.pop_front();
}

bool Notices::send(const wire::EventReached& notice) {
  const std::size_t size = wire::encoded_size(notice);
  std::byte* to = ring_.reserve(size);
  if (to == nullptr) return false;
  wire::encode(notice, to);
  ring_.publish(wire::EventReached::opcode, 0, size);
  sent_ = true;
  return true;
}

}  // namespace fairgv::vgpu
