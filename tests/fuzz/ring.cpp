// Both ends of a ring, each against a peer that writes any indices and headers: everything that an end hands
// out lies in the ring, whatever the shared memory says.
#include <algorithm>
#include <cstring>

#include "runtime/ring/spsc_ring.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {
namespace {

constexpr std::uint64_t kSlots = 16;

/// The other end moves in steps: it sets the two indices, or overwrites slots.
enum Step : std::uint16_t { kProduced, kConsumed, kSlot, kReserve };
constexpr std::uint16_t kSteps = 4;

struct alignas(64) SharedRing {
  ring::RingHeader header;
  std::array<std::byte, kSlots * ring::kSlotBytes> slots{};

  ring::RingMemory memory() { return {&header, slots.data(), kSlots}; }
};

std::uint64_t number_of(const Bytes& bytes) {
  std::uint64_t number = 0;
  std::copy_n(bytes.begin(), std::min(bytes.size(), sizeof(number)),
              reinterpret_cast<std::uint8_t*>(&number));
  return number;
}

/// Reads as long as there are messages; a corrupt ring is read no further.
bool read_all(ring::RingConsumer& consumer, SharedRing& shared) {
  for (std::uint64_t read = 0; read <= kSlots; ++read) {
    ring::RecordHeader header;
    std::span<const std::byte> payload;
    const auto next = consumer.peek(header, payload);
    if (next == ring::RingConsumer::Next::empty) return true;
    if (next == ring::RingConsumer::Next::corrupt) return false;
    expect(header.opcode != ring::kPadOpcode, "a pad is no record");
    expect(payload.size() == header.bytes, "a payload is as long as its header says");
    expect(payload.data() >= shared.slots.data() &&
               payload.data() + payload.size() <= shared.slots.data() + shared.slots.size(),
           "a payload lies in the ring");
    consumer.pop();
  }
  expect(false, "a ring has no more records than slots");
  return false;
}

void write(ring::RingProducer& producer, SharedRing& shared, std::uint64_t bytes) {
  std::byte* const to = producer.reserve(bytes);
  if (to == nullptr) return;
  expect(bytes <= producer.max_payload(), "no payload is longer than the longest");
  expect(to >= shared.slots.data() && to + bytes <= shared.slots.data() + shared.slots.size(),
         "what is reserved lies in the ring");
  std::memset(to, 0x5A, bytes);
  producer.publish(1, 2, bytes);
  expect(producer.consumed() <= producer.produced(), "nothing is consumed before it is produced");
}

void run_ring(Input input) {
  SharedRing shared;
  SharedRing written;
  ring::RingConsumer consumer(shared.memory());
  ring::RingProducer producer(written.memory());
  bool readable = true;
  for (const Record& record : split(input)) {
    const std::uint64_t number = number_of(record.bytes);
    switch (record.kind % kSteps) {
      case kProduced:
        shared.header.produced = number;
        break;
      case kConsumed:
        written.header.consumed = number;
        break;
      case kSlot: {
        const std::size_t at = record.kind / kSteps % kSlots * ring::kSlotBytes;
        std::copy_n(record.bytes.begin(), std::min(record.bytes.size(), shared.slots.size() - at),
                    reinterpret_cast<std::uint8_t*>(&shared.slots.at(at)));
        break;
      }
      default:
        write(producer, written, number % 2048);
        break;
    }
    readable = readable && read_all(consumer, shared);
  }
}

std::vector<Bytes> ring_seeds() {
  const auto number = [](std::uint16_t kind, std::uint8_t value) {
    return Record{kind, {value, 0, 0, 0, 0, 0, 0, 0}};
  };
  const Bytes header{40, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0};
  const Bytes pad{0xB0, 3, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  return {joined({{kSlot, header}, number(kProduced, 1)}),
          joined({{kSlot, pad}, number(kProduced, 15), {kSlot, header}, number(kProduced, 17)}),
          joined({number(kReserve, 40), number(kReserve, 200), number(kConsumed, 1), number(kReserve, 240)})};
}

}  // namespace

const Target kRing{"ring", &run_ring, &ring_seeds, &mutate_records};

}  // namespace fairgv::fuzz
