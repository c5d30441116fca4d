// The building blocks of a call's declaration; calls.hpp has the rules of the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

using Opcode = std::uint16_t;

/// Opens a call's struct: its name for logs and traces, its opcode, and the type of its reply (`void`:
/// one-way, nobody waits).
#define FAIRGV_CALL(Name, number, ReplyType)      \
  static constexpr Opcode opcode = number;        \
  static constexpr std::string_view name = #Name; \
  using Reply = ReplyType;

/// The effect of a call that is left once it has been handled. A worker that takes over a session has to
/// handle these calls again, so the session's journal keeps them (runtime/vgpu/journal).
enum class Lasting {
  makes,     // it makes the object
  extends,   // it adds to the object, for good
  prepares,  // it adds to what the next call of the object that `sets` will use up
  sets,      // it replaces what the call before it, of the same object and slot, has done
};

/// In a call's struct: what lasts, and the object that the call makes or changes. Of those that set: the
/// slot.
#define FAIRGV_LASTS(what, object)                  \
  static constexpr Lasting lasting = Lasting::what; \
  ObjectId lasting_object() const {                 \
    return object;                                  \
  }                                                 \
  static std::uint32_t lasting_slot() {             \
    return 0;                                       \
  }
#define FAIRGV_SETS(object, slot)                   \
  static constexpr Lasting lasting = Lasting::sets; \
  ObjectId lasting_object() const {                 \
    return object;                                  \
  }                                                 \
  std::uint32_t lasting_slot() const {              \
    return slot;                                    \
  }

template <class Call>
concept LastingCall = requires {
  Call::lasting;
};

template <class... T>
struct TypeList {};

/// Bytes of the session's arena.
struct ArenaRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Extent3 {
  std::uint64_t x = 0, y = 0, z = 0;
};

// ---- replies that several calls share

struct Empty {
  std::uint32_t unused = 0;
  FAIRGV_FIELDS(unused)
};

/// Answer of every query: `error` is a CL code; `value` is what the driver would have written.
struct InfoReply {
  std::int32_t error = 0;
  std::vector<std::byte> value;
  FAIRGV_FIELDS(error, value)
};

/// Answer of a call that may fail in an honest program and has nothing else to tell: a CL code. The id of an
/// object that the call was to make then names a poisoned object, which the front end releases.
struct StatusReply {
  std::int32_t error = 0;
  FAIRGV_FIELDS(error)
};

}  // namespace fairgv::wire
