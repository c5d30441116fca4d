// The records of workers for `fairgv trace`, and the ring that has them.
//
// The ring lies in the session's turn file, behind the turn page, so that no session needs a descriptor more;
// its pages are not there before the first trace. The worker alone writes it, while DeviceTurn::tracing says
// so; the daemon reads it. A full ring loses the newest records, and `lost` counts them. The daemon believes
// nothing in it: records are copied, then checked (daemon/trace/trace.hpp).
//
//   TurnPage | to a multiple of 4096 | TraceHeader | kTraceSlots slots of a ring (ring/spsc_ring.hpp) | to a
//   multiple of 4096 | TurnPromises
//
// Records of the ring: kCommandRecord with a TracedCommand and kCallRecord with a TracedCall, their tag the
// number of a name; kNameRecord with the text of the name whose number is the tag. A name comes before the
// first record that has it, and anew in each trace. A reader passes over kinds that it does not know. Times
// are CLOCK_MONOTONIC in nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/ring/spsc_ring.hpp"

namespace fairgv::session {

inline constexpr std::uint16_t kCommandRecord = 1;
inline constexpr std::uint16_t kNameRecord = 2;
inline constexpr std::uint16_t kCallRecord = 3;

/// Names are numbered from 1 on; 0 stands for all further ones.
inline constexpr std::uint32_t kMostTracedNames = 4096;
/// A record fills a slot: some tenths of a second of the shortest commands that there are.
inline constexpr std::uint64_t kTraceSlots = 16'384;

struct TracedCommand {
  enum Kind : std::uint8_t {
    kLaunch = 1,
    kTransfer = 2,  // and whatever else is no launch
    kPart = 3,      // of a launch
    kInParts = 4,   // a launch from its first part's beginning to its last one's end
  };
  std::uint64_t began_ns;  // when it was handed to the driver, or when the one before it ended
  std::uint64_t ended_ns;  // when the worker heard of its end
  std::uint64_t amount;    // work-groups of a launch or part, 0: unknown; bytes of a transfer
  std::uint32_t delay_us;  // from handing it to the driver to `began_ns`
  std::uint32_t part;      // the number of a part, from 1; of kInParts how many there were; else 0
  std::uint32_t grid[3];   // work-groups by dimension, 0: unknown
  std::uint16_t together;  // so many ends were heard of at once, and share their time evenly
  std::uint8_t device;
  std::uint8_t kind : 4;
  std::uint8_t waited_for : 4;  // a TurnWait: the last reason why it waited, if any
};
static_assert(sizeof(TracedCommand) == 48, "with its header a record fills a slot");

/// A call of the program that had to wait.
struct TracedCall {
  enum Kind : std::uint32_t {
    kAnswered = 1,  // for a reply of the worker's
    kWaited = 2,    // for the end of a command
  };
  std::uint64_t began_ns;  // by the program's own clock
  std::uint64_t ended_ns;  // when the worker had the reply, or heard of the command's end
  std::uint32_t kind;
  std::uint32_t unused;
};
static_assert(sizeof(TracedCall) == 24, "no padding");

struct TraceHeader {
  ring::RingHeader ring;
  alignas(64) std::atomic<std::uint64_t> lost{0};  // worker writes, relaxed: only counted
};

/// Where both lie in this process.
struct TraceMemory {
  ring::RingMemory ring;
  std::atomic<std::uint64_t>* lost = nullptr;
};

}  // namespace fairgv::session
