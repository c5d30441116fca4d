// RingProducer and RingConsumer within one process: format, wrap-around, room, and hostile far ends.
#include <algorithm>
#include <cstring>

#include "tests/unit/ring/support.hpp"

namespace fairgv::ring {
namespace {

using Next = RingConsumer::Next;

/// One ring with both ends, and shorthand for whole records.
class SpscRing : public testing::Test {
 protected:
  bool send(uint64_t bytes, uint64_t tag = 0) {
    std::byte* room = producer.reserve(bytes);
    if (room == nullptr) return false;
    std::memset(room, static_cast<int>(tag & 0xFF), bytes);
    producer.publish(1, tag, bytes);
    return true;
  }
  bool receive() {
    if (consumer.peek(header, payload) != Next::record) return false;
    consumer.pop();
    return true;
  }

  GuardedRing ring_memory;
  RingMemory memory = ring_memory.memory();
  RingProducer producer{memory};
  RingConsumer consumer{memory};
  RecordHeader header{};
  std::span<const std::byte> payload;
};

TEST_F(SpscRing, AnEmptyRingHasNoRecord) {
  EXPECT_FALSE(consumer.has_record());
  EXPECT_EQ(consumer.peek(header, payload), Next::empty);
}

TEST_F(SpscRing, ARecordArrivesAsItWasSent) {
  std::byte* room = producer.reserve(5);
  ASSERT_NE(room, nullptr);
  std::memcpy(room, "hello", 5);
  EXPECT_FALSE(consumer.has_record()) << "reserved is not published";
  producer.publish(42, 0x1122334455667788, 5);

  EXPECT_TRUE(consumer.has_record());
  ASSERT_EQ(consumer.peek(header, payload), Next::record);
  EXPECT_EQ(header.opcode, 42);
  EXPECT_EQ(header.tag, 0x1122334455667788U);
  EXPECT_EQ(header.bytes, 5U);
  EXPECT_LT(header.cpu, sysconf(_SC_NPROCESSORS_CONF));
  ASSERT_EQ(payload.size(), 5U);
  EXPECT_EQ(std::memcmp(payload.data(), "hello", 5), 0);
}

TEST_F(SpscRing, PeekingAgainShowsTheSameRecordUntilItIsPopped) {
  ASSERT_TRUE(send(8, 1));
  ASSERT_TRUE(send(8, 2));
  ASSERT_EQ(consumer.peek(header, payload), Next::record);
  ASSERT_EQ(consumer.peek(header, payload), Next::record);
  EXPECT_EQ(header.tag, 1U);
  consumer.pop();
  ASSERT_EQ(consumer.peek(header, payload), Next::record);
  EXPECT_EQ(header.tag, 2U);
}

TEST_F(SpscRing, FortyEightBytesOfPayloadFitTheFirstSlot) {
  ASSERT_TRUE(send(48));
  EXPECT_EQ(producer.produced(), 1U);
  ASSERT_TRUE(send(49));
  EXPECT_EQ(producer.produced(), 3U);
}

TEST_F(SpscRing, FewerBytesThanReservedMayBePublished) {
  ASSERT_NE(producer.reserve(500), nullptr);
  producer.publish(1, 7, 3);
  EXPECT_EQ(producer.produced(), 1U);
  ASSERT_TRUE(receive());
  EXPECT_EQ(header.bytes, 3U);
}

TEST_F(SpscRing, AFullRingTakesNothingUntilTheConsumerPops) {
  uint64_t sent = 0;
  while (send(48, sent)) ++sent;
  EXPECT_EQ(sent, memory.slot_count);
  EXPECT_FALSE(producer.has_room(0));
  ASSERT_TRUE(receive());
  EXPECT_TRUE(producer.has_room(48));
  EXPECT_FALSE(producer.has_room(49));
  EXPECT_TRUE(send(48));
}

TEST_F(SpscRing, ALongerRecordThanAQuarterOfTheRingIsNeverReserved) {
  EXPECT_EQ(producer.max_payload(), memory.slot_count / 4 * kSlotBytes - sizeof(RecordHeader));
  EXPECT_NE(producer.reserve(producer.max_payload()), nullptr);
  EXPECT_EQ(producer.reserve(producer.max_payload() + 1), nullptr);
  EXPECT_EQ(producer.reserve(UINT64_MAX), nullptr);
}

TEST_F(SpscRing, TheLongestRecordFitsAnEmptyRingWhereverItStands) {
  for (uint64_t position = 0; position < memory.slot_count; ++position) {
    ASSERT_TRUE(send(producer.max_payload(), position)) << "at slot " << position;
    ASSERT_TRUE(receive());
    ASSERT_EQ(payload.size(), producer.max_payload());
    EXPECT_EQ(std::ranges::count(payload, static_cast<std::byte>(position & 0xFF)), std::ssize(payload));
    // Bring both ends to the start of the array, then one slot further than last time.
    while (producer.produced() % memory.slot_count != (position + 1) % memory.slot_count) {
      ASSERT_TRUE(send(0));
      ASSERT_TRUE(receive());
    }
  }
}

TEST_F(SpscRing, TheConsumedPositionFollowsThePops) {
  ASSERT_TRUE(send(100));
  const uint64_t first = producer.produced();
  ASSERT_TRUE(send(10));
  EXPECT_EQ(producer.consumed(), 0U);
  ASSERT_TRUE(receive());
  EXPECT_EQ(producer.consumed(), first);
  ASSERT_TRUE(receive());
  EXPECT_EQ(producer.consumed(), producer.produced());
}

TEST_F(SpscRing, NewEndsContinueWhereTheOldOnesStood) {
  ASSERT_TRUE(send(48, 1));
  ASSERT_TRUE(send(48, 2));
  ASSERT_TRUE(receive());
  producer = RingProducer(memory);
  consumer = RingConsumer(memory);
  ASSERT_TRUE(send(48, 3));
  EXPECT_EQ(producer.produced(), 3U);
  ASSERT_TRUE(receive());
  EXPECT_EQ(header.tag, 2U);
  ASSERT_TRUE(receive());
  EXPECT_EQ(header.tag, 3U);
}

TEST(SpscRingThreads, RecordsOfRandomSizesArriveInOrderAndIntact) {
  const RecordStream stream(harness::printed_seed(), 20'000);
  GuardedRing ring_memory;
  Doorbell record_bell;
  Doorbell room_bell;
  SpinBudget spinning;
  SpinBudget sleeping{std::chrono::nanoseconds(0)};
  for (SpinBudget* budget : {&spinning, &sleeping}) {
    bool sent = false;
    std::thread sender([&] { sent = stream.send(ring_memory.memory(), record_bell, room_bell, *budget); });
    EXPECT_TRUE(stream.receive(ring_memory.memory(), record_bell, room_bell, *budget));
    sender.join();
    EXPECT_TRUE(sent);
  }
}

TEST(SpscRingThreads, AProducerSleepsOnAFullRingUntilThereIsRoom) {
  GuardedRing ring_memory;
  Doorbell room_bell;
  bool got_room = false;
  std::thread sender([&] {
    RingProducer producer(ring_memory.memory());
    while (producer.reserve(48) != nullptr) producer.publish(1, 0, 48);
    SpinBudget budget{std::chrono::nanoseconds(0)};
    got_room = wait(
                   room_bell, budget, [&] { return producer.has_room(48); }, lost_by()) &&
               producer.reserve(48) != nullptr;
  });
  await_sleeper(room_bell);
  RingConsumer consumer(ring_memory.memory());
  RecordHeader header;
  std::span<const std::byte> payload;
  EXPECT_EQ(consumer.peek(header, payload), Next::record);
  consumer.pop();
  ring(room_bell);
  sender.join();
  EXPECT_TRUE(got_room);
}

// ---- Hostile far ends ----

TEST_F(SpscRing, MoreProducedThanTheRingHoldsIsCorrupt) {
  for (const uint64_t produced : {memory.slot_count + 1, uint64_t{1} << 40, UINT64_MAX}) {
    memory.header->produced = produced;
    EXPECT_TRUE(consumer.has_record()) << "so that a sleeping consumer wakes and finds out";
    EXPECT_EQ(consumer.peek(header, payload), Next::corrupt) << produced;
  }
}

TEST_F(SpscRing, AProducedIndexThatGoesBackIsCorrupt) {
  ASSERT_TRUE(send(100));
  ASSERT_TRUE(receive());
  memory.header->produced = 1;
  EXPECT_EQ(consumer.peek(header, payload), Next::corrupt);
}

TEST_F(SpscRing, ASizeBeyondWhatIsProducedIsCorrupt) {
  ASSERT_TRUE(send(48));
  ASSERT_TRUE(send(48));
  for (const uint32_t bytes : {48U + 64 + 1, UINT32_MAX}) {
    detail::store_header(memory.slots, RecordHeader{bytes, 1, 0, 0});
    EXPECT_EQ(consumer.peek(header, payload), Next::corrupt) << bytes;
  }
}

TEST_F(SpscRing, ASizeBeyondTheLongestRecordIsCorrupt) {
  memory.header->produced = memory.slot_count;
  detail::store_header(memory.slots, {static_cast<uint32_t>(producer.max_payload()), 1, 0, 0});
  EXPECT_EQ(consumer.peek(header, payload), Next::record);
  detail::store_header(memory.slots, {static_cast<uint32_t>(producer.max_payload() + 1), 1, 0, 0});
  EXPECT_EQ(consumer.peek(header, payload), Next::corrupt);
}

TEST_F(SpscRing, ARecordThatWouldRunOverTheEndOfTheArrayIsCorrupt) {
  for (uint64_t i = 0; i < memory.slot_count - 1; ++i) {
    ASSERT_TRUE(send(0));
    ASSERT_TRUE(receive());
  }
  memory.header->produced = memory.slot_count + 10;
  detail::store_header(memory.slots + (memory.slot_count - 1) * kSlotBytes, RecordHeader{49, 1, 0, 0});
  EXPECT_EQ(consumer.peek(header, payload), Next::corrupt);
}

TEST_F(SpscRing, APadThatIsNotExactlyTheRestOfTheArrayIsCorrupt) {
  constexpr uint64_t kAt = GuardedRing::kSlots - 4;
  for (uint64_t i = 0; i < kAt; ++i) {
    ASSERT_TRUE(send(0));
    ASSERT_TRUE(receive());
  }
  std::byte* pad = memory.slots + kAt * kSlotBytes;
  memory.header->produced = kAt + 5;
  detail::store_header(memory.slots, RecordHeader{0, 1, 0, 0});
  for (const uint32_t bytes : {0U, 3 * 64U - 16, 5 * 64U - 16, UINT32_MAX}) {
    detail::store_header(pad, RecordHeader{bytes, kPadOpcode, 0, 0});
    EXPECT_EQ(consumer.peek(header, payload), Next::corrupt) << bytes;
  }
  detail::store_header(pad, RecordHeader{4 * 64U - 16, kPadOpcode, 0, 0});
  EXPECT_EQ(consumer.peek(header, payload), Next::record);
}

TEST_F(SpscRing, APadWithoutARecordBehindItIsCorrupt) {
  ASSERT_TRUE(send(0));
  ASSERT_TRUE(receive());
  detail::store_header(
      memory.slots + kSlotBytes,
      RecordHeader{static_cast<uint32_t>((memory.slot_count - 1) * kSlotBytes - 16), kPadOpcode, 0, 0});
  memory.header->produced = memory.slot_count;
  EXPECT_EQ(consumer.peek(header, payload), Next::corrupt);
}

TEST_F(SpscRing, PadsAllTheWayRoundAreCorrupt) {
  memory.header->produced = memory.slot_count;
  detail::store_header(memory.slots, RecordHeader{static_cast<uint32_t>(memory.slot_count * kSlotBytes - 16),
                                                  kPadOpcode, 0, 0});
  EXPECT_EQ(consumer.peek(header, payload), Next::corrupt);
}

TEST_F(SpscRing, AnImpossibleConsumedIndexGivesTheProducerNoRoom) {
  while (send(48)) {
  }
  for (const uint64_t consumed : {producer.produced() + 1, uint64_t{1} << 40, UINT64_MAX}) {
    memory.header->consumed = consumed;
    EXPECT_EQ(producer.consumed(), 0U) << consumed;
    EXPECT_FALSE(producer.has_room(0)) << consumed;
  }
}

TEST_F(SpscRing, AConsumedIndexNeverGoesBack) {
  ASSERT_TRUE(send(48));
  ASSERT_TRUE(send(48));
  ASSERT_TRUE(receive());
  ASSERT_EQ(producer.consumed(), 1U);
  memory.header->consumed = 0;
  EXPECT_EQ(producer.consumed(), 1U);
}

TEST_F(SpscRing, RandomIndicesAndHeadersNeverLeadOutsideTheRing) {
  std::mt19937_64 random(harness::printed_seed());
  std::byte* const end = memory.slots + memory.slot_count * kSlotBytes;
  uint64_t records = 0;
  uint64_t corrupt = 0;
  for (int round = 0; round < 200'000; ++round) {
    const uint64_t start = random();
    memory.header->consumed = start;
    memory.header->produced = start + (random() % 4 == 0 ? random() : random() % (memory.slot_count + 2));
    for (uint64_t slot = 0; slot < memory.slot_count; ++slot) {
      const auto opcode = random() % 4 == 0 ? kPadOpcode : uint16_t{1};
      const auto bytes = static_cast<uint32_t>(random() % 4 == 0 ? random() : random() % 1100);
      detail::store_header(memory.slots + slot * kSlotBytes, RecordHeader{bytes, opcode, 0, 0});
    }
    consumer = RingConsumer(memory);
    Next next = Next::empty;
    for (uint64_t taken = 0; (next = consumer.peek(header, payload)) == Next::record; ++taken) {
      ++records;
      ASSERT_LE(taken, memory.slot_count);
      ASSERT_GE(payload.data(), memory.slots);
      ASSERT_LE(payload.data() + payload.size(), end);
      consumer.pop();
    }
    if (next == Next::corrupt) ++corrupt;
  }
  EXPECT_GT(records, 0U);
  EXPECT_GT(corrupt, 0U);
}

}  // namespace
}  // namespace fairgv::ring
