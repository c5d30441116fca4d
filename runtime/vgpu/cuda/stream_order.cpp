#include "runtime/vgpu/cuda/stream_order.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// Appends `latest` unless `seen` has it already. A stream is in order, so all its later commands wait for
/// everything that it once waited for.
void wait_for(const std::weak_ptr<Node>& latest, std::weak_ptr<Node>& seen, std::vector<NodePtr>& after) {
  NodePtr node = latest.lock();
  if (!node || node == seen.lock()) return;
  seen = node;
  after.push_back(std::move(node));
}

}  // namespace

std::vector<NodePtr> order_of(Stream& stream) {
  std::vector<NodePtr> after;
  Context& context = *stream.context;
  switch (stream.stream_kind) {
    case wire::cuda::StreamKind::non_blocking:
      break;
    case wire::cuda::StreamKind::blocking:
      if (const auto legacy = context.legacy.lock()) wait_for(legacy->last, stream.legacy_seen, after);
      break;
    case wire::cuda::StreamKind::legacy:
      for (const auto& weak : context.blocking) {
        if (const auto other = weak.lock()) wait_for(other->last, other->seen_by_legacy, after);
      }
      break;
  }
  return after;
}

}  // namespace fairgv::vgpu::cuda
