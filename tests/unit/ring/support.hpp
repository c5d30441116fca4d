// Shared by the tests of runtime/ring: rings with guard pages, child processes, and one stream of random
// records with its two ends.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "runtime/ring/doorbell.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/ring/spsc_ring.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::ring {

/// The spin budget of a wait that sleeps at once.
inline constexpr std::chrono::nanoseconds kNever{0};

/// Long enough for any machine: a wait that reaches it has lost its wake-up.
inline std::chrono::steady_clock::time_point lost_by() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}

/// Waits until a thread sleeps on the bell, or is about to: then ringing must wake it.
inline void await_sleeper(const Doorbell& bell) {
  while ((bell.word.load(std::memory_order_acquire) & Doorbell::kSleeper) == 0) std::this_thread::yield();
}

/// Runs `body` in a forked child, whose exit status is 0 if it returns true. Call await_child for the
/// verdict.
template <class Body>
pid_t start_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  return child;
}

/// The exit status of the child, or -signal if a signal ended it.
inline int await_child(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// A small segment: rings of 4 KiB, so that they are full and wrap often.
inline SegmentSizes small_sizes() {
  SegmentSizes sizes;
  sizes.request_bytes = sizes.response_bytes = sizes.notice_bytes = 4096;
  sizes.completion_slots = 64;
  sizes.arena_bytes = uint64_t{1} << 20;
  return sizes;
}

/// A ring in private memory whose slots lie between two inaccessible pages.
class GuardedRing {
 public:
  static constexpr uint64_t kSlots = 64;  // exactly one page

  GuardedRing()
      : pages_(static_cast<std::byte*>(
            mmap(nullptr, 3 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(pages_, kPageBytes, PROT_NONE);
    mprotect(pages_ + 2 * kPageBytes, kPageBytes, PROT_NONE);
  }
  GuardedRing(const GuardedRing&) = delete;
  GuardedRing& operator=(const GuardedRing&) = delete;
  ~GuardedRing() { munmap(pages_, 3 * kPageBytes); }

  RingMemory memory() { return {&header_, pages_ + kPageBytes, kSlots}; }

 private:
  RingHeader header_;
  std::byte* pages_;
};

/// A reproducible stream of records of random sizes and contents, sent through a ring with sleeping at both
/// ends: the producer sleeps for room, the consumer for records.
class RecordStream {
 public:
  RecordStream(uint64_t seed, uint64_t records) : seed_(seed), records_(records) {}

  /// Sends all records; false if a wake-up was lost.
  bool send(RingMemory memory, Doorbell& record_bell, Doorbell& room_bell, SpinBudget& budget) const {
    RingProducer producer(memory);
    std::mt19937_64 random(seed_);
    for (uint64_t tag = 0; tag < records_; ++tag) {
      const uint64_t bytes = size_of_next(random, producer.max_payload());
      std::byte* payload = producer.reserve(bytes);
      if (payload == nullptr) {
        if (!wait(
                room_bell, budget, [&] { return producer.has_room(bytes); }, lost_by()))
          return false;
        payload = producer.reserve(bytes);
      }
      fill(payload, bytes, tag);
      producer.publish(opcode_of(tag), tag, bytes);
      ring(record_bell);
    }
    return true;
  }

  /// Receives and checks all records; false if a record is wrong or a wake-up was lost.
  bool receive(RingMemory memory, Doorbell& record_bell, Doorbell& room_bell, SpinBudget& budget) const {
    RingConsumer consumer(memory);
    std::mt19937_64 random(seed_);
    const uint64_t longest = RingProducer(memory).max_payload();
    for (uint64_t tag = 0; tag < records_; ++tag) {
      if (!wait(
              record_bell, budget, [&] { return consumer.has_record(); }, lost_by()))
        return false;
      RecordHeader header;
      std::span<const std::byte> payload;
      if (consumer.peek(header, payload) != RingConsumer::Next::record) return false;
      if (header.tag != tag || header.opcode != opcode_of(tag)) return false;
      if (payload.size() != size_of_next(random, longest) || !is_filled(payload, tag)) return false;
      consumer.pop();
      ring(room_bell);
    }
    return true;
  }

 private:
  /// Mostly calls of a few slots, sometimes up to the longest record.
  static uint64_t size_of_next(std::mt19937_64& random, uint64_t longest) {
    return random() % (random() % 8 == 0 ? longest + 1 : 200);
  }
  static uint16_t opcode_of(uint64_t tag) { return static_cast<uint16_t>(tag % kPadOpcode); }
  static std::byte byte_of(uint64_t tag, uint64_t index) {
    return static_cast<std::byte>((tag * 31 + index * 7) & 0xFF);
  }
  static void fill(std::byte* payload, uint64_t bytes, uint64_t tag) {
    for (uint64_t i = 0; i < bytes; ++i) payload[i] = byte_of(tag, i);
  }
  static bool is_filled(std::span<const std::byte> payload, uint64_t tag) {
    for (uint64_t i = 0; i < payload.size(); ++i) {
      if (payload[i] != byte_of(tag, i)) return false;
    }
    return true;
  }

  uint64_t seed_;
  uint64_t records_;
};

}  // namespace fairgv::ring
