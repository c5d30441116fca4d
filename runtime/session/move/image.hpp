// The image of a session: all that another worker needs to go on with it, in one file. The same for both
// APIs. Workers write it and make sessions of it (runtime/vgpu/move); `fairgv session show` prints it.
//
//   item   := ItemHeader, so many bytes, zeros up to the next 8
//   image  := head state gone* event* user_event* notice* history* then, in the order of their numbers,
//             ( call contents? | arguments* command | release )*, then arguments* error* end
//
// Before it there may be images that were copied ahead, while the session went on:
//
//   ahead  := head ( state gone* ( call | release )* ( subject contents )* )? end
//
// Each has the calls since the one before, and contents that may have changed since; gone are objects of an
// earlier one that are no more. The last image names the calls of earlier ones, without their bytes, and has
// the contents that were written since. Releases ahead are of objects in whose places others are made. A call
// makes or changes an object (runtime/vgpu/journal/journal.hpp); a command had not ended; contents are of the
// object that the call before them makes; arguments are those of a kernel from there on. Numbers are those of
// the session's calls. The writer is the session's own worker, which its program may have taken over: a
// reader copies, then checks, and what it makes is made by the handlers of calls, which check, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::session {

/// Counted up with each change to an item, or to a call that lasts.
inline constexpr std::uint32_t kImageVersion = 3;

enum class ItemKind : std::uint32_t {
  head = 1,
  state,
  event,
  user_event,
  notice,
  call,
  contents,
  arguments,
  command,
  release,
  error,
  end,
  gone,
  subject,
  history,
};

struct ItemHeader {
  ItemKind kind{};
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;
};

/// Of an item, with the zeros behind it.
constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 7) & ~std::uint64_t{7};
}

struct ImageHead {
  static constexpr ItemKind kind = ItemKind::head;
  std::uint32_t version = kImageVersion;
  std::uint32_t protocol = 0;  // of the calls
  std::uint32_t api = 0;
  std::uint32_t ahead = 0;        // 1: another image follows
  std::uint64_t next_number = 0;  // of calls
  FAIRGV_FIELDS(version, protocol, api, ahead, next_number)
};

struct ImageEvent {
  static constexpr ItemKind kind = ItemKind::event;
  wire::EventId event;
  std::int32_t status = 0;
  std::uint32_t made_by = 0;
  std::span<const std::int32_t> watched;
  FAIRGV_FIELDS(event, status, made_by, watched)
};

/// One that the program has not set.
struct ImageUserEvent {
  static constexpr ItemKind kind = ItemKind::user_event;
  wire::EventId event;
  FAIRGV_FIELDS(event)
};

struct ImageNotice {
  static constexpr ItemKind kind = ItemKind::notice;
  wire::EventId event;
  std::int32_t watched = 0;
  std::int32_t status = 0;
  FAIRGV_FIELDS(event, watched, status)
};

/// The time that the session's commands of a kind take on a device (sched::CommandHistory), which the worker
/// expects by itself; the daemon is told nothing of it. The kinds unused for longest come first.
struct ImageHistory {
  static constexpr ItemKind kind = ItemKind::history;
  std::uint64_t commands = 0;  // the kind
  std::uint64_t time_ns = 0;
  std::uint32_t device = 0;  // of the worker's
  std::uint32_t samples = 0;
  FAIRGV_FIELDS(commands, time_ns, device, samples)
};

struct ImageCall {
  static constexpr ItemKind kind = ItemKind::call;
  std::uint64_t number = 0;
  std::uint32_t opcode = 0;
  wire::ObjectId object;
  std::uint32_t makes = 0;          // 1: it makes the object
  std::span<const std::byte> call;  // empty: an image before has it
  FAIRGV_FIELDS(number, opcode, object, makes, call)
};

struct ImageCommand {
  static constexpr ItemKind kind = ItemKind::command;
  std::uint64_t number = 0;
  std::uint32_t opcode = 0;
  std::uint32_t part = 0;
  wire::EventId event;
  std::int32_t error = 0;
  std::int32_t failed_wait = 0;
  std::uint64_t begun = 0;  // of the launch's first work-groups: they have been run in parts
  wire::Extent3 groups;     // of such a launch
  std::span<const std::uint32_t> waits;
  std::span<const std::byte> call;
  FAIRGV_FIELDS(number, opcode, part, event, error, failed_wait, begun, groups, waits, call)
};

struct ImageRelease {
  static constexpr ItemKind kind = ItemKind::release;
  std::uint64_t number = 0;
  wire::ObjectId object;
  FAIRGV_FIELDS(number, object)
};

struct ImageGone {
  static constexpr ItemKind kind = ItemKind::gone;
  wire::ObjectId object;
  FAIRGV_FIELDS(object)
};

/// The contents that follow are of this object.
struct ImageSubject {
  static constexpr ItemKind kind = ItemKind::subject;
  wire::ObjectId object;
  FAIRGV_FIELDS(object)
};

struct ImageError {
  static constexpr ItemKind kind = ItemKind::error;
  wire::ObjectId object;
  std::int32_t error = 0;
  FAIRGV_FIELDS(object, error)
};

/// Reads the items of an image. Bytes may change while they are read: each item is a copy, but contents.
class ImageReader {
 public:
  /// An image of so many bytes, which begins `at` a byte of the file at which a page may begin.
  static Result<ImageReader> open(const UniqueFd& file, std::uint64_t bytes, std::uint64_t at = 0);
  ImageReader(ImageReader&& other) noexcept;
  ImageReader(const ImageReader&) = delete;
  ImageReader& operator=(const ImageReader&) = delete;
  ImageReader& operator=(ImageReader&&) = delete;
  ~ImageReader();

  struct Item {
    ItemKind kind{};
    std::span<const std::byte> bytes;  // until the next item is asked for; aligned to 8
  };
  /// The next item. An Error at the end of the file, or if it is longer than the file.
  Result<Item> next();

 private:
  ImageReader(const std::byte* image, std::uint64_t bytes) : image_(image), bytes_(bytes) {}

  const std::byte* image_;
  std::uint64_t bytes_;
  std::uint64_t at_ = 0;
  std::vector<std::uint64_t> copy_;
};

inline Error bad_image(const std::string& what) {
  return Error{"an image with " + what};
}

/// The bytes of an item as a T, whose spans are in them; an Error about an image with `what`.
template <wire::Message T>
Result<T> item_as(std::span<const std::byte> bytes, const char* what) {
  T item;
  if (!wire::decode(bytes, item)) return bad_image(what);
  return item;
}

/// The first item, of a version and a protocol that this FairGV reads.
Result<ImageHead> read_head(ImageReader& image);

}  // namespace fairgv::session
