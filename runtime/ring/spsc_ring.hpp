// A single-producer, single-consumer ring of records in shared memory between two processes.
//
// The ring is an array of 64-byte slots and two ever-growing counts, of slots produced and slots consumed. A
// record is a RecordHeader followed by its payload, contiguous; a record that does not fit before the end of
// the array starts at its beginning, and a pad record fills the rest. A call with up to 48 bytes of arguments
// is one cache line, written once and read once.
//
// RingProducer and RingConsumer are each used by one thread at a time (of different processes, usually),
// never block and make no system call: pair them with a Doorbell to wait for records or for room.
//
// The other side is not trusted. Each end keeps its own index in private memory, reads the far index and
// every header exactly once, and checks the copy before using it. Payload bytes are the caller's to copy and
// check: they may change while they are looked at.
#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairgv::ring {

inline constexpr uint64_t kSlotBytes = 64;

/// The shared indices: counts of slots, which never wrap. Each is written by one side only and has a cache
/// line of its own. The slots follow in memory.
struct alignas(64) RingHeader {
  alignas(64) std::atomic<uint64_t> produced{0};
  alignas(64) std::atomic<uint64_t> consumed{0};
};
static_assert(sizeof(RingHeader) == 128);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// The first 16 bytes of a record.
struct RecordHeader {
  uint32_t bytes;   // of payload
  uint16_t opcode;  // the caller's; kPadOpcode is taken
  uint16_t cpu;     // where the producer ran when it published
  uint64_t tag;     // the caller's
};
static_assert(sizeof(RecordHeader) == 16);

inline constexpr uint16_t kPadOpcode = 0xFFFF;

/// Where a ring lies in this process. `slot_count` is a power of two; both pointers are 64-byte aligned.
struct RingMemory {
  RingHeader* header;
  std::byte* slots;
  uint64_t slot_count;
};

namespace detail {

/// Slots that a record with `payload_bytes` occupies; no overflow for what fits a RecordHeader.
constexpr uint64_t slots_for(uint64_t payload_bytes) {
  return (sizeof(RecordHeader) + payload_bytes + kSlotBytes - 1) / kSlotBytes;
}

/// The longest payload a ring takes: with its header it fills a quarter of the ring, so that a record and the
/// pad before it always fit into an empty one.
constexpr uint64_t max_payload(uint64_t slot_count) {
  const uint64_t quarter = slot_count / 4 * kSlotBytes;
  return quarter > sizeof(RecordHeader) ? quarter - sizeof(RecordHeader) : 0;
}

// Headers cross as two relaxed 64-bit atomics, so that a copy is a copy: the compiler may not read a field
// again after it was checked. Order comes from the `produced` index.
using HeaderWords = std::array<uint64_t, 2>;

inline RecordHeader load_header(std::byte* slot) {
  auto* words = reinterpret_cast<uint64_t*>(slot);
  return std::bit_cast<RecordHeader>(
      HeaderWords{std::atomic_ref<uint64_t>(words[0]).load(std::memory_order_relaxed),
                  std::atomic_ref<uint64_t>(words[1]).load(std::memory_order_relaxed)});
}

inline void store_header(std::byte* slot, const RecordHeader& header) {
  auto* words = reinterpret_cast<uint64_t*>(slot);
  const auto values = std::bit_cast<HeaderWords>(header);
  std::atomic_ref<uint64_t>(words[0]).store(values[0], std::memory_order_relaxed);
  std::atomic_ref<uint64_t>(words[1]).store(values[1], std::memory_order_relaxed);
}

}  // namespace detail

/// The writing end. Continues where the ring's `produced` index stands.
class alignas(64) RingProducer {
 public:
  explicit RingProducer(RingMemory memory)
      : memory_(memory),
        // Relaxed: only this side writes it, and there is nothing to see behind it.
        produced_(memory.header->produced.load(std::memory_order_relaxed)),
        consumed_(produced_) {
    const uint64_t far = memory.header->consumed.load(std::memory_order_acquire);
    // Records that the far side has not read yet stay reserved; an impossible index leaves no room at all.
    consumed_ = produced_ - far <= memory.slot_count ? far : produced_ - memory.slot_count;
  }

  /// Another has written since this was made: continues where the index stands now.
  void take_over() { *this = RingProducer(memory_); }

  /// Room for a payload of `payload_bytes`, contiguous and 16 bytes past a 64-byte boundary, or null when the
  /// ring is too full now (or the payload is longer than max_payload(): then waiting does not help). Nothing
  /// is visible to the consumer before publish(); reserving again forgets the earlier reservation.
  std::byte* reserve(uint64_t payload_bytes) {
    if (!has_room(payload_bytes)) return nullptr;
    pad_ = pad_before(detail::slots_for(payload_bytes));
    return slot(produced_ + pad_) + sizeof(RecordHeader);
  }

  /// Hands the reserved record to the consumer. `payload_bytes` is at most what was reserved; `opcode` is not
  /// kPadOpcode.
  void publish(uint16_t opcode, uint64_t tag, uint64_t payload_bytes) {
    if (pad_ != 0) {
      const auto bytes = static_cast<uint32_t>(pad_ * kSlotBytes - sizeof(RecordHeader));
      detail::store_header(slot(produced_), RecordHeader{bytes, kPadOpcode, 0, 0});
    }
    // sched_getcpu reads the thread's rseq area (or the vDSO): no system call.
    const auto cpu = static_cast<uint16_t>(sched_getcpu());
    detail::store_header(slot(produced_ + pad_),
                         RecordHeader{static_cast<uint32_t>(payload_bytes), opcode, cpu, tag});
    produced_ += pad_ + detail::slots_for(payload_bytes);
    pad_ = 0;
    // Release: pairs with the acquire in RingConsumer; the record is complete when the index says so.
    memory_.header->produced.store(produced_, std::memory_order_release);
  }

  /// The position after the last published record, in slots.
  uint64_t produced() const { return produced_; }

  /// How far the consumer has come, in slots, read afresh; at most produced(), and never going back. Records
  /// before it are done with by the consumer.
  uint64_t consumed() {
    // Acquire: pairs with the release in RingConsumer::pop; the slots are ours again.
    const uint64_t far = memory_.header->consumed.load(std::memory_order_acquire);
    // An index outside the records in flight is nonsense or hostile: the last good index stands.
    if (far - consumed_ <= produced_ - consumed_) consumed_ = far;
    return consumed_;
  }

  /// The longest payload that this ring takes, in bytes.
  uint64_t max_payload() const { return detail::max_payload(memory_.slot_count); }

  /// Whether reserve(payload_bytes) would succeed now. Reads the far index only if the last copy says no.
  bool has_room(uint64_t payload_bytes) {
    if (payload_bytes > max_payload()) return false;
    const uint64_t record = detail::slots_for(payload_bytes);
    const uint64_t end = produced_ + pad_before(record) + record;
    return end - consumed_ <= memory_.slot_count || end - consumed() <= memory_.slot_count;
  }

 private:
  std::byte* slot(uint64_t position) const {
    return memory_.slots + (position & (memory_.slot_count - 1)) * kSlotBytes;
  }

  /// Slots to skip so that `record` slots are contiguous.
  uint64_t pad_before(uint64_t record) const {
    const uint64_t to_end = memory_.slot_count - (produced_ & (memory_.slot_count - 1));
    return record <= to_end ? 0 : to_end;
  }

  RingMemory memory_;
  uint64_t produced_;  // ours; the shared one is for the consumer to read
  uint64_t consumed_;  // the last plausible value of the far index
  uint64_t pad_ = 0;   // slots before the reserved record
};

/// The reading end. Continues where the ring's `consumed` index stands.
class alignas(64) RingConsumer {
 public:
  enum class Next { empty, record, corrupt };

  explicit RingConsumer(RingMemory memory)
      : memory_(memory),
        // Relaxed: only this side writes it.
        consumed_(memory.header->consumed.load(std::memory_order_relaxed)),
        produced_(consumed_) {}

  /// Looks at the next record. `header` is a private, checked copy; `payload` lies in shared memory until
  /// pop(): copy before use. `corrupt` means that the far side broke the format: end the session.
  Next peek(RecordHeader& header, std::span<const std::byte>& payload) {
    if (produced_ == consumed_) {
      // Acquire: pairs with the release in RingProducer::publish.
      const uint64_t far = memory_.header->produced.load(std::memory_order_acquire);
      if (far == consumed_) return Next::empty;
      if (far - consumed_ > memory_.slot_count) return Next::corrupt;
      produced_ = far;
    }
    header = detail::load_header(slot(consumed_));
    if (header.opcode == kPadOpcode) [[unlikely]] {
      if (!skip_pad(header)) return Next::corrupt;
      header = detail::load_header(slot(consumed_));
    }
    if (!fits(header)) [[unlikely]] {
      return Next::corrupt;
    }
    peeked_ = detail::slots_for(header.bytes);
    payload = {slot(consumed_) + sizeof(RecordHeader), header.bytes};
    return Next::record;
  }

  /// Gives the peeked record's slots back to the producer; ring its bell if it may wait for room. Without a
  /// record peeked since the last pop, does nothing.
  void pop() {
    consumed_ += peeked_;
    peeked_ = 0;
    // Release: pairs with the acquire in RingProducer::consumed; our reads of the slots are over.
    memory_.header->consumed.store(consumed_, std::memory_order_release);
  }

  /// Whether peek() would find something (a record or corruption). Cheap: one load, for wait().
  bool has_record() const {
    // Acquire: pairs with the release in RingProducer::publish.
    return produced_ != consumed_ || memory_.header->produced.load(std::memory_order_acquire) != consumed_;
  }

 private:
  std::byte* slot(uint64_t position) const {
    return memory_.slots + (position & (memory_.slot_count - 1)) * kSlotBytes;
  }

  uint64_t slots_to_end() const { return memory_.slot_count - (consumed_ & (memory_.slot_count - 1)); }

  /// A record must lie within what is produced, within the array, and within the longest length allowed.
  bool fits(const RecordHeader& header) const {
    const uint64_t record = detail::slots_for(header.bytes);
    return header.opcode != kPadOpcode && header.bytes <= detail::max_payload(memory_.slot_count) &&
           record <= produced_ - consumed_ && record <= slots_to_end();
  }

  /// A pad reaches exactly to the end of the array, is not all of it, and never comes last.
  bool skip_pad(const RecordHeader& header) {
    const uint64_t pad = detail::slots_for(header.bytes);
    if (pad != slots_to_end() || pad >= memory_.slot_count || pad >= produced_ - consumed_) return false;
    consumed_ += pad;
    return true;
  }

  RingMemory memory_;
  uint64_t consumed_;    // ours; the shared one is for the producer to read
  uint64_t produced_;    // the last plausible value of the far index
  uint64_t peeked_ = 0;  // slots of the record that pop() releases
};

}  // namespace fairgv::ring
