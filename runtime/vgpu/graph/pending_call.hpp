// The encoded calls whose commands have not ended: a worker that takes the session over handles them again.
//
// Calls lie one behind the other in chunks of memory, each of which goes, or is used again, when the last of
// its calls is over: to keep one is a copy of its bytes and no allocation of its own. Beyond kMostChunks,
// which a program fills that has one command in many wait for ever, each call has a chunk to itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/wire/calls/call.hpp"

namespace fairgv::vgpu {

/// A share in a call that is kept: it is there as long as one of them. Any thread may let go of one.
class PendingCall {
 public:
  PendingCall() = default;  // of none
  PendingCall(const PendingCall& other) : chunk_(other.chunk_), at_(other.at_) {
    // Relaxed: whoever copies has a share.
    if (chunk_ != nullptr) chunk_->shares.fetch_add(1, std::memory_order_relaxed);
  }
  PendingCall(PendingCall&& other) noexcept
      : chunk_(std::exchange(other.chunk_, nullptr)), at_(std::exchange(other.at_, nullptr)) {}
  PendingCall& operator=(PendingCall other) noexcept {
    std::swap(chunk_, other.chunk_);
    std::swap(at_, other.at_);
    return *this;
  }
  ~PendingCall() {
    if (chunk_ != nullptr) let_go(*chunk_);
  }

  explicit operator bool() const { return chunk_ != nullptr; }
  /// Among all calls of the session, in their order.
  std::uint64_t number() const { return at_->number; }
  wire::Opcode opcode() const { return at_->opcode; }
  /// Aligned to 8 bytes.
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(at_ + 1), at_->bytes};
  }

 private:
  friend class PendingCalls;
  /// Its bytes follow.
  struct alignas(8) Header {
    std::uint64_t number;
    std::uint32_t bytes;
    wire::Opcode opcode;
  };
  /// Room for calls follows.
  struct alignas(8) Chunk {
    std::atomic<std::uint32_t> shares;        // also one of PendingCalls, while it fills the chunk
    std::atomic<std::uint32_t>* chunk_count;  // to be counted down with it; null: it is not counted
  };

  PendingCall(Chunk& chunk, const Header& at) : chunk_(&chunk), at_(&at) {}
  static void let_go(Chunk& chunk);

  Chunk* chunk_ = nullptr;
  const Header* at_ = nullptr;
};

/// Externally synchronised. It goes after all of its calls.
class PendingCalls {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{64} << 10;
  static constexpr std::uint32_t kMostChunks = 64;

  PendingCalls() = default;
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;
  ~PendingCalls();

  PendingCall keep(std::uint64_t number, wire::Opcode opcode, std::span<const std::byte> call);

  /// That are there and shared by calls.
  std::uint32_t chunks() const { return chunk_count_.load(std::memory_order_relaxed); }

 private:
  std::byte* room(std::size_t bytes);
  PendingCall keep_alone(std::uint64_t number, wire::Opcode opcode, std::span<const std::byte> call);

  PendingCall::Chunk* chunk_ = nullptr;  // being filled
  std::size_t used_ = 0;                 // bytes of it
  std::atomic<std::uint32_t> chunk_count_{0};
};

}  // namespace fairgv::vgpu
