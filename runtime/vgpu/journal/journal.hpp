// The calls that have made the session's objects what they are: a worker that takes the session over handles
// them again. One for both APIs: it knows nothing of a call but its bytes, its object, and what lasts of it.
//
// A record needs the records that made what its call names, as these were then: they stay as long as it does,
// whatever the program has released or built anew meanwhile. The helm's holder's alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

class Journal {
 public:
  struct Record {
    std::uint64_t number = 0;  // among all calls of the session, in their order
    wire::Opcode opcode = 0;
    wire::Lasting lasting = wire::Lasting::makes;
    wire::ObjectId object;        // that it makes or changes
    std::uint32_t slot = 0;       // of a call that sets
    std::vector<std::byte> call;  // encoded
    std::vector<std::shared_ptr<Record>> needs;
    std::uint64_t released = 0;  // number of the call that released the object; 0: none has
  };

  /// `most_bytes`: beyond that many the journal gives up.
  explicit Journal(std::uint64_t most_bytes = std::uint64_t{256} << 20) : most_bytes_(most_bytes) {}
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// For who makes a call ready for keep(): used again each time, and of no meaning between.
  struct Room {
    std::vector<wire::ObjectId> names;
    std::vector<std::byte> call;
  };
  Room& room() { return room_; }

  /// Keeps the call of that number; numbers grow. `names`: the objects in it, in any order, the one that it
  /// makes or changes included; those that the journal does not know count as none.
  void keep(std::uint64_t number, wire::Opcode opcode, wire::Lasting lasting, wire::ObjectId object,
            std::uint32_t slot, std::span<const std::byte> call, std::span<const wire::ObjectId> names);
  /// The program has let go of the object by the call of that number. Its records stay as long as `used`,
  /// which is the object itself, is somebody else's, too: commands may name it that have not ended.
  void release(std::uint64_t number, wire::ObjectId object, std::weak_ptr<const void> used = {});

  /// An object that the program has released, and that is still used.
  struct Used {
    wire::ObjectId object;
    std::shared_ptr<const void> it;
  };
  std::vector<Used> used() const;

  /// The number of the call that was kept last; 0: none.
  std::uint64_t latest() const { return latest_; }
  /// Of all records. They are there as long as an object needs them.
  std::uint64_t bytes() const { return bytes_; }
  /// The journal has been too long: it is empty, and keeps nothing any more.
  bool gave_up() const { return gave_up_; }
  /// All that is needed for the objects which are there, in the order of the calls.
  std::vector<std::shared_ptr<const Record>> records() const;

 private:
  using Records = std::vector<std::shared_ptr<Record>>;
  /// Of an object that the program has.
  struct Entry {
    std::uint32_t generation = 0;  // of the id; 0: there is none
    Records records;
    Records prepared;  // that the next call which sets will use up
  };
  struct Lingering {
    wire::ObjectId object;
    std::weak_ptr<const void> used;
    Records records;
  };
  static constexpr std::size_t kFewLinger = 64;
  // Records that nothing needs any more, for the next: a program that makes objects and releases them all the
  // time pays for no memory.
  static constexpr std::size_t kMostSpare = 64;
  static constexpr std::size_t kLargestSpare = 512;  // bytes of the call
  static constexpr std::size_t kFewRecords = 16;

  Entry* find(wire::ObjectId object);
  Entry& entry(wire::ObjectId object);
  void sweep();

  std::shared_ptr<Record> make_record();
  /// Those of the records that nothing else needs go, and what they alone needed: none is left. No recursion:
  /// the chain may be as long as a program likes.
  void drop(Records& records);
  void drop(Records&& records) { drop(records); }
  void give_up();

  const std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t latest_ = 0;
  bool gave_up_ = false;
  Room room_;
  Records spare_;
  std::vector<Entry> entries_;        // by the id's index; those without an object keep their room
  std::vector<Lingering> lingering_;  // those that nobody uses any more are swept out now and then
  std::size_t sweep_at_ = kFewLinger;
};

}  // namespace fairgv::vgpu
