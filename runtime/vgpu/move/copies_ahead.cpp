#include "runtime/vgpu/move/copies_ahead.hpp"

#include <algorithm>
#include <utility>

#include "runtime/wire/calls.hpp"

namespace fairgv::vgpu {

using Records = std::vector<std::shared_ptr<const Journal::Record>>;

/// One copy: kept by the commands that make it, so that it ends with the last of them.
struct CopiesAhead::Round {
  struct Contents {
    wire::ObjectId object;
    std::uint64_t offset = 0;  // in the file
  };

  Round(CopiesAhead& of, UniqueFd to, Done tell) : owner(&of), file(std::move(to)), done(std::move(tell)) {}
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  ~Round() {
    if (owner != nullptr) owner->end(*this);
  }

  CopiesAhead* owner;  // null: it was abandoned
  const UniqueFd file;
  const Done done;
  std::uint64_t bytes = 0;
  std::vector<Contents> contents;
  std::vector<wire::ObjectId> copied;
};

Result<void> CopiesAhead::begin(std::uint64_t number, UniqueFd file, Executor::Loop& loop,
                                std::uint64_t next_number, Done done) {
  abandon();
  MovableObjects& objects = *calls_.movable();
  if (objects.copies_ahead()) {
    if (!std::exchange(prepares_, true)) objects.prepare_to_leave(true);
    for (const std::uint64_t object : objects.take_written(loop.under_way())) now_.copied.erase(object);
  }
  before_ = now_;
  now_.latest = number;
  const auto round = std::make_shared<Round>(*this, std::move(file), std::move(done));
  ImageWriter image(round->file.get());
  image.put(session::ImageHead{session::kImageVersion, wire::kProtocolVersion,
                               static_cast<std::uint32_t>(api_), 1, next_number});
  auto written = objects.copies_ahead() ? tell_all(image, *round) : Result<void>();
  image.put(session::ItemKind::end, {});
  auto bytes = image.finish();
  if (written && !bytes) written = bytes.error();
  if (!written) {
    round->owner = nullptr;
    return written;
  }
  round->bytes = bytes.value();
  under_way_ = round;
  for (const Round::Contents& each : round->contents) {
    const auto copy = std::make_shared<ContentsCopy>([round, object = each.object](bool copied) {
      if (copied) round->copied.push_back(object);
    });
    objects.copy_contents(each.object, round->file.get(), each.offset, copy, loop);
  }
  return {};
}

Result<void> CopiesAhead::tell_all(ImageWriter& image, Round& round) {
  image.put(session::ItemKind::state, calls_.movable()->state());
  const Records records = calls_.journal().records();
  forget_gone(image, records);
  tell_calls(image, records);
  return tell_contents(image, round);
}

/// The first thing in an image: what is no more makes room there.
void CopiesAhead::forget_gone(ImageWriter& image, const Records& records) {
  for (const wire::ObjectId object : gone(records)) {
    image.put(session::ImageGone{object});
    const auto place = now_.by_index.find(object.index());
    if (place != now_.by_index.end() && place->second.raw == object.raw) now_.by_index.erase(place);
    now_.objects.erase(object.raw);
    now_.copied.erase(object.raw);
  }
}

std::vector<wire::ObjectId> CopiesAhead::gone(const Records& records) const {
  std::unordered_set<std::uint64_t> there;
  for (const auto& record : records) {
    if (record->lasting == wire::Lasting::makes) there.insert(record->object.raw);
  }
  std::vector<wire::ObjectId> gone;
  for (const auto& [index, object] : now_.by_index) {
    if (!there.contains(object.raw)) gone.push_back(object);
  }
  return gone;
}

void CopiesAhead::tell_calls(ImageWriter& image, const Records& records) {
  for (const auto& record : records) {
    if (record->number <= now_.told_until) continue;
    const bool makes = record->lasting == wire::Lasting::makes;
    if (makes && !make_room(image, *record, records)) return;
    image.put(
        session::ImageCall{record->number, record->opcode, record->object, makes ? 1U : 0U, record->call});
    now_.told.insert(record->number);
    now_.told_until = record->number;
    if (!makes) continue;
    now_.objects[record->object.raw] = {record->number, record->opcode};
    now_.by_index[record->object.index()] = record->object;
  }
}

/// The program has released the object whose place this one takes, but something needs it. False if that may
/// be a command or an argument, which will name it: then the rest is left to the last image.
bool CopiesAhead::make_room(ImageWriter& image, const Journal::Record& record, const Records& records) {
  const auto place = now_.by_index.find(record.object.index());
  if (place == now_.by_index.end()) return true;
  const Told& before = now_.objects.at(place->second.raw);
  if (!calls_.movable()->only_makes(before.opcode)) return false;
  const auto released = std::find_if(records.begin(), records.end(),
                                     [&](const auto& each) { return each->number == before.number; });
  if (released == records.end()) return false;
  image.put(session::ImageRelease{(*released)->released, place->second});
  now_.by_index.erase(place);
  return true;
}

Result<void> CopiesAhead::tell_contents(ImageWriter& image, Round& round) const {
  MovableObjects& objects = *calls_.movable();
  Result<void> outcome;
  objects.each_object([&](wire::ObjectId id, const void* object, std::int32_t error) {
    if (!outcome || error != 0 || !now_.objects.contains(id.raw) || now_.copied.contains(id.raw)) return;
    const std::uint64_t bytes = objects.contents_bytes(object);
    if (bytes == 0) return;
    image.put(session::ImageSubject{id});
    const auto offset = image.leave_room_for_contents(bytes);
    if (!offset) {
      outcome = offset.error();
    } else {
      round.contents.push_back({id, offset.value()});
    }
  });
  return outcome;
}

void CopiesAhead::end(const Round& round) {
  for (const wire::ObjectId object : round.copied) now_.copied.insert(object.raw);
  round.done({round.bytes, left()});
}

std::uint64_t CopiesAhead::left() const {
  const MovableObjects& objects = *calls_.movable();
  std::uint64_t bytes = 0;
  if (!objects.copies_ahead()) return 0;
  calls_.movable()->each_object([&](wire::ObjectId id, const void* object, std::int32_t) {
    if (now_.copied.contains(id.raw) && !objects.is_written(id)) return;
    bytes += calls_.movable()->contents_bytes(object);
  });
  return bytes;
}

/// The calls and contents of a copy are known since it began, whether or not it arrives.
Result<void> CopiesAhead::keep(std::uint64_t number) {
  abandon();
  if (number == now_.latest) return {};
  if (number != before_.latest) return Error{"the daemon counts other copies than were made"};
  now_ = std::exchange(before_, {});
  return {};
}

void CopiesAhead::abandon() {
  if (const auto round = under_way_.lock()) round->owner = nullptr;
  under_way_.reset();
}

void CopiesAhead::close() {
  abandon();
  if (!prepares_) return;
  MovableObjects& objects = *calls_.movable();
  for (const std::uint64_t object : objects.take_written({})) now_.copied.erase(object);
  objects.prepare_to_leave(false);
  prepares_ = false;
}

void CopiesAhead::forget() {
  close();
  now_ = {};
  before_ = {};
}

}  // namespace fairgv::vgpu
