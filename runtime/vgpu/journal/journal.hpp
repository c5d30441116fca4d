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
#include <unordered_map>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

class Journal {
 public:
  struct Record {
    std::uint64_t number = 0;  // in the order of the calls
    wire::Opcode opcode = 0;
    wire::Lasting lasting = wire::Lasting::makes;
    wire::ObjectId object;        // that it makes or changes
    std::uint32_t slot = 0;       // of a call that sets
    std::vector<std::byte> call;  // encoded
    std::vector<std::shared_ptr<Record>> needs;
    std::uint64_t released = 0;  // of a call that makes: when the program released the object; 0: not yet
  };

  /// `most_bytes`: beyond that many the journal gives up.
  explicit Journal(std::uint64_t most_bytes = std::uint64_t{256} << 20) : most_bytes_(most_bytes) {}
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Keeps a call. `names`: the objects in it, in any order, the one that it makes or changes included; those
  /// that the journal does not know count as none.
  void keep(wire::Opcode opcode, wire::Lasting lasting, wire::ObjectId object, std::uint32_t slot,
            std::span<const std::byte> call, std::span<const wire::ObjectId> names);
  /// The program has let go of the object.
  void release(wire::ObjectId object);

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
    Records records;
    Records prepared;  // that the next call which sets will use up
  };

  /// Those of the records that nothing else needs go, and what they alone needed. No recursion: the chain may
  /// be as long as a program likes.
  void drop(Records records);
  void give_up();

  const std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_ = 1;
  bool gave_up_ = false;
  std::unordered_map<std::uint64_t, Entry> entries_;  // by the object's raw id
};

}  // namespace fairgv::vgpu
