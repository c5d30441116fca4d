#include "runtime/vgpu/move/make_again.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "runtime/session/move/image.hpp"
#include "runtime/wire/call_names.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::vgpu {
namespace {

using session::bad_image;
using session::item_as;

}  // namespace

Result<void> SessionMaker::make(const UniqueFd& file, const session::MakeAgain& order) {
  FAIRGV_CHECK(begin(order));
  FAIRGV_TRY(image, session::ImageReader::open(file, order.bytes));
  replies_.mute(true);
  const auto made = [&]() -> Result<void> {
    FAIRGV_CHECK(take_head(image.value(), order.ahead));
    FAIRGV_TRY(first, take_state(image.value(), order.ahead));
    if (memory_ != nullptr) FAIRGV_CHECK(memory_->inherit(order.granted, order.ahead));
    return order.ahead ? make_ahead(image.value(), first.value()) : make_last(image.value(), first.value());
  }();
  replies_.mute(false);
  return made;
}

Result<void> SessionMaker::begin(const session::MakeAgain& order) {
  if (std::exchange(has_begun_, true)) {
    if (moves_ != order.moves || forced_ != order.forced)
      return Error{"the daemon has the session made on other devices than before"};
    return {};
  }
  moves_ = order.moves;
  forced_ = order.forced;
  FAIRGV_CHECK(objects_.move_devices(order.moves, order.forced));
  loop_.begin_restoring();
  return {};
}

Result<void> SessionMaker::make_ahead(session::ImageReader& image, session::ImageReader::Item item) {
  while (item.kind != session::ItemKind::end) {
    FAIRGV_CHECK(take_ahead(item));
    FAIRGV_TRY(next, image.next());
    item = next.value();
  }
  return {};
}

Result<void> SessionMaker::make_last(session::ImageReader& image, session::ImageReader::Item item) {
  FAIRGV_TRY(first, take_events(image, item));
  FAIRGV_CHECK(loop_.restore(events_));
  item = first.value();
  while (item.kind != session::ItemKind::end) {
    FAIRGV_CHECK(take(item));
    FAIRGV_TRY(next, image.next());
    item = next.value();
  }
  // In the order in which the program has let go of them.
  for (const auto& [number, object] : releases_) FAIRGV_CHECK(objects_.release(number, object));
  loop_.end_restoring();
  return {};
}

Result<void> SessionMaker::take_head(session::ImageReader& image, bool ahead) {
  FAIRGV_TRY(head, session::read_head(image));
  if (head->api != static_cast<std::uint32_t>(api_)) return bad_image("the calls of another API");
  if ((head->ahead != 0) != ahead) return bad_image("another place in the order of images");
  next_number_ = head->next_number;
  return {};
}

/// The item behind them.
Result<session::ImageReader::Item> SessionMaker::take_state(session::ImageReader& image, bool ahead) {
  FAIRGV_TRY(state, image.next());
  if (ahead && state->kind == session::ItemKind::end)
    return state.value();  // a back end that copies nothing ahead
  if (state->kind != session::ItemKind::state) return bad_image("no state");
  FAIRGV_CHECK(objects_.put_state(state->bytes));
  for (;;) {
    FAIRGV_TRY(item, image.next());
    if (item->kind != session::ItemKind::gone) return item.value();
    FAIRGV_TRY(gone, item_as<session::ImageGone>(item->bytes, "an object gone that is none"));
    FAIRGV_CHECK(objects_.release(next_number_, gone->object));
  }
}

/// The item behind the events and histories.
Result<session::ImageReader::Item> SessionMaker::take_events(session::ImageReader& image,
                                                             session::ImageReader::Item item) {
  for (;;) {
    switch (item.kind) {
      case session::ItemKind::event: {
        FAIRGV_TRY(event, item_as<session::ImageEvent>(item.bytes, "an event that is none"));
        events_.events.push_back({event->event,
                                  event->status,
                                  static_cast<wire::Opcode>(event->made_by),
                                  nullptr,
                                  {event->watched.begin(), event->watched.end()}});
        break;
      }
      case session::ItemKind::user_event: {
        FAIRGV_TRY(event, item_as<session::ImageUserEvent>(item.bytes, "a user event that is none"));
        events_.user_events.push_back(event->event);
        break;
      }
      case session::ItemKind::notice: {
        FAIRGV_TRY(notice, item_as<session::ImageNotice>(item.bytes, "a notice that is none"));
        events_.notices.push_back({notice->event, notice->watched, notice->status});
        break;
      }
      case session::ItemKind::history: {
        FAIRGV_TRY(history, item_as<session::ImageHistory>(item.bytes, "a history that is none"));
        take(history.value());
        break;
      }
      default:
        return item;
    }
    FAIRGV_TRY(next, image.next());
    item = next.value();
  }
}

void SessionMaker::take(const session::ImageHistory& history) {
  constexpr std::chrono::nanoseconds kLongestTime = std::chrono::hours(1);
  const auto time_ns = std::min(history.time_ns, static_cast<std::uint64_t>(kLongestTime.count()));
  events_.histories.push_back(
      {history.device, {history.commands, std::chrono::nanoseconds(time_ns), history.samples}});
}

Result<void> SessionMaker::take_ahead(const session::ImageReader::Item& item) {
  switch (item.kind) {
    case session::ItemKind::call: {
      FAIRGV_TRY(call, item_as<session::ImageCall>(item.bytes, "a call that is none"));
      made_.insert(call->number);
      return make(call.value());
    }
    case session::ItemKind::release: {
      FAIRGV_TRY(release, item_as<session::ImageRelease>(item.bytes, "a release that is none"));
      released_ahead_.insert(release->object.raw);
      return objects_.release(release->number, release->object);
    }
    case session::ItemKind::subject: {
      FAIRGV_TRY(subject, item_as<session::ImageSubject>(item.bytes, "a subject that is none"));
      latest_ = subject->object;
      return {};
    }
    case session::ItemKind::contents:
      return objects_.write_contents(latest_, item.bytes);
    default:
      return bad_image("an item in the wrong place");
  }
}

Result<void> SessionMaker::take(const session::ImageReader::Item& item) {
  switch (item.kind) {
    case session::ItemKind::call: {
      FAIRGV_TRY(call, item_as<session::ImageCall>(item.bytes, "a call that is none"));
      return take(call.value());
    }
    case session::ItemKind::contents:
      return objects_.write_contents(latest_, item.bytes);
    case session::ItemKind::arguments:
      return objects_.put_arguments(item.bytes);
    case session::ItemKind::command: {
      FAIRGV_TRY(command, item_as<session::ImageCommand>(item.bytes, "a command that is none"));
      return take(command.value());
    }
    case session::ItemKind::release: {
      FAIRGV_TRY(release, item_as<session::ImageRelease>(item.bytes, "a release that is none"));
      if (released_ahead_.contains(release->object.raw)) return {};
      // Only now if something needs the place: arguments may still name the object.
      releases_.emplace(release->number, release->object);
      return {};
    }
    case session::ItemKind::error: {
      FAIRGV_TRY(error, item_as<session::ImageError>(item.bytes, "an error that is none"));
      return objects_.check_error(error->object, error->error);
    }
    default:
      return bad_image("an item in the wrong place");
  }
}

Result<void> SessionMaker::take(const session::ImageCall& call) {
  latest_ = call.object;
  if (made_.contains(call.number)) return {};
  if (call.call.empty()) return bad_image("a call of a copy ahead that is not here");
  if (call.makes != 0) FAIRGV_CHECK(make_room(call.object));
  return make(call);
}

Result<void> SessionMaker::make(const session::ImageCall& call) {
  FAIRGV_CHECK(handle(call.number, call.opcode, call.call));
  objects_.finish_builds();
  if (calls_.journal().latest() == call.number) return {};
  return Error{fmt::format("{} does not do there what it did here",
                           wire::call_name(static_cast<wire::Opcode>(call.opcode)))};
}

Result<void> SessionMaker::take(const session::ImageCommand& command) {
  const RestoredCommand restored{command.event,
                                 command.part,
                                 command.error,
                                 command.failed_wait,
                                 {command.waits.begin(), command.waits.end()},
                                 command.begun,
                                 {command.groups.x, command.groups.y, command.groups.z}};
  loop_.restore_next(&restored);
  auto handled = handle(command.number, command.opcode, command.call);
  loop_.restore_next(nullptr);
  if (handled && command.begun > 0) handled = loop_.prepare_begun([this] { objects_.finish_builds(); });
  return handled;
}

Result<void> SessionMaker::handle(std::uint64_t number, std::uint32_t opcode,
                                  std::span<const std::byte> call) {
  const auto known = static_cast<wire::Opcode>(opcode);
  // Bytes of an item lie anywhere in it.
  call_.resize((call.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  if (!call.empty()) std::memcpy(call_.data(), call.data(), call.size());
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(call_.data()), call.size());
  loop_.reading({.opcode = known, .number = number, .call = bytes});
  return calls_.handle_call(loop_, replies_, known, bytes, 0);
}

/// A released object in the place of one to be made goes now.
Result<void> SessionMaker::make_room(wire::ObjectId object) {
  for (auto release = releases_.begin(); release != releases_.end(); ++release) {
    if (release->second.index() != object.index()) continue;
    FAIRGV_CHECK(objects_.release(release->first, release->second));
    releases_.erase(release);
    break;
  }
  return {};
}

}  // namespace fairgv::vgpu
