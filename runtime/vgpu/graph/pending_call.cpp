#include "runtime/vgpu/graph/pending_call.hpp"

#include <cstring>
#include <new>

namespace fairgv::vgpu {
namespace {

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

}  // namespace

void PendingCall::let_go(Chunk& chunk) {
  // Release: pairs with the acquire of the last share, which makes the chunk anew or frees it.
  if (chunk.shares.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (chunk.chunk_count != nullptr) chunk.chunk_count->fetch_sub(1, std::memory_order_relaxed);
  ::operator delete(&chunk);
}

PendingCalls::~PendingCalls() {
  if (chunk_ != nullptr) PendingCall::let_go(*chunk_);
}

/// So many bytes of a chunk with other calls, or null.
std::byte* PendingCalls::room(std::size_t bytes) {
  if (chunk_ != nullptr && bytes <= kChunkBytes - used_) [[likely]] {
    return reinterpret_cast<std::byte*>(chunk_) + std::exchange(used_, used_ + bytes);
  }
  if (bytes > kChunkBytes / 4) return nullptr;
  // Acquire: pairs with the release of those who let go of its calls.
  if (chunk_ == nullptr || chunk_->shares.load(std::memory_order_acquire) != 1) {
    if (chunk_count_.load(std::memory_order_relaxed) >= kMostChunks) return nullptr;
    if (chunk_ != nullptr) PendingCall::let_go(*chunk_);
    chunk_ = new (::operator new(kChunkBytes)) PendingCall::Chunk{1, &chunk_count_};
    chunk_count_.fetch_add(1, std::memory_order_relaxed);
  }
  used_ = sizeof(PendingCall::Chunk) + bytes;
  return reinterpret_cast<std::byte*>(chunk_ + 1);
}

PendingCall PendingCalls::keep(std::uint64_t number, wire::Opcode opcode, std::span<const std::byte> call) {
  std::byte* const to = room(sizeof(PendingCall::Header) + round_up(call.size()));
  if (to == nullptr) return keep_alone(number, opcode, call);
  const auto* const header =
      new (to) PendingCall::Header{number, static_cast<std::uint32_t>(call.size()), opcode};
  if (!call.empty()) std::memcpy(to + sizeof(*header), call.data(), call.size());
  // Relaxed: this has a share.
  chunk_->shares.fetch_add(1, std::memory_order_relaxed);
  return {*chunk_, *header};
}

PendingCall PendingCalls::keep_alone(std::uint64_t number, wire::Opcode opcode,
                                     std::span<const std::byte> call) {
  auto* const chunk =
      new (::operator new(sizeof(PendingCall::Chunk) + sizeof(PendingCall::Header) + call.size()))
          PendingCall::Chunk{1, nullptr};
  std::byte* const to = reinterpret_cast<std::byte*>(chunk + 1);
  const auto* const header =
      new (to) PendingCall::Header{number, static_cast<std::uint32_t>(call.size()), opcode};
  if (!call.empty()) std::memcpy(to + sizeof(*header), call.data(), call.size());
  return {*chunk, *header};
}

}  // namespace fairgv::vgpu
