#include "runtime/vgpu/move/make_again.hpp"

#include <fmt/core.h>

#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "runtime/vgpu/move/image.hpp"
#include "runtime/wire/call_names.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::vgpu {
namespace {

Error bad_image(const char* what) {
  return Error{fmt::format("an image with {}", what)};
}

template <wire::Message T>
Result<T> decoded(std::span<const std::byte> bytes, const char* what) {
  T item;
  if (!wire::decode(bytes, item)) return bad_image(what);
  return item;
}

class Making {
 public:
  Making(ImageReader& image, CallHandler& calls, Executor::Loop& loop, Replies& replies)
      : image_(image), calls_(calls), objects_(*calls.movable()), loop_(loop), replies_(replies) {}

  Result<std::uint64_t> run(session::Api api) {
    FAIRGV_CHECK(take_head(api));
    FAIRGV_TRY(first, take_events());
    FAIRGV_CHECK(loop_.restore(events_));
    for (ImageReader::Item item = first.value();;) {
      if (item.kind == ItemKind::end) break;
      FAIRGV_CHECK(take(item));
      FAIRGV_TRY(next, image_.next());
      item = next.value();
    }
    // In the order in which the program has let go of them.
    for (const auto& [number, object] : releases_) FAIRGV_CHECK(objects_.release(number, object));
    loop_.end_restoring();
    return next_number_;
  }

 private:
  Result<void> take_head(session::Api api) {
    FAIRGV_TRY(first, image_.next());
    if (first->kind != ItemKind::head) return bad_image("no head");
    FAIRGV_TRY(head, decoded<ImageHead>(first->bytes, "a head that is none"));
    if (head->version != kImageVersion || head->protocol != wire::kProtocolVersion) {
      return Error{fmt::format("the image has version {}.{}, and this FairGV reads {}.{}", head->version,
                               head->protocol, kImageVersion, wire::kProtocolVersion)};
    }
    if (head->api != static_cast<std::uint32_t>(api)) return bad_image("the calls of another API");
    next_number_ = head->next_number;
    FAIRGV_TRY(state, image_.next());
    if (state->kind != ItemKind::state) return bad_image("no state");
    return objects_.put_state(state->bytes);
  }

  /// The item behind the events.
  Result<ImageReader::Item> take_events() {
    for (;;) {
      FAIRGV_TRY(item, image_.next());
      switch (item->kind) {
        case ItemKind::event: {
          FAIRGV_TRY(event, decoded<ImageEvent>(item->bytes, "an event that is none"));
          events_.events.push_back({event->event,
                                    event->status,
                                    static_cast<wire::Opcode>(event->made_by),
                                    nullptr,
                                    {event->watched.begin(), event->watched.end()}});
          break;
        }
        case ItemKind::user_event: {
          FAIRGV_TRY(event, decoded<ImageUserEvent>(item->bytes, "a user event that is none"));
          events_.user_events.push_back(event->event);
          break;
        }
        case ItemKind::notice: {
          FAIRGV_TRY(notice, decoded<ImageNotice>(item->bytes, "a notice that is none"));
          events_.notices.push_back({notice->event, notice->watched, notice->status});
          break;
        }
        default:
          return item.value();
      }
    }
  }

  Result<void> take(const ImageReader::Item& item) {
    switch (item.kind) {
      case ItemKind::call: {
        FAIRGV_TRY(call, decoded<ImageCall>(item.bytes, "a call that is none"));
        return take(call.value());
      }
      case ItemKind::contents:
        return objects_.write_contents(latest_, item.bytes);
      case ItemKind::arguments:
        return objects_.put_arguments(item.bytes);
      case ItemKind::command: {
        FAIRGV_TRY(command, decoded<ImageCommand>(item.bytes, "a command that is none"));
        return take(command.value());
      }
      case ItemKind::release: {
        FAIRGV_TRY(release, decoded<ImageRelease>(item.bytes, "a release that is none"));
        // Only now if something needs the place: arguments may still name the object.
        releases_.emplace(release->number, release->object);
        return {};
      }
      case ItemKind::error: {
        FAIRGV_TRY(error, decoded<ImageError>(item.bytes, "an error that is none"));
        return objects_.check_error(error->object, error->error);
      }
      default:
        return bad_image("an item in the wrong place");
    }
  }

  Result<void> take(const ImageCall& call) {
    latest_ = call.object;
    if (call.makes != 0) FAIRGV_CHECK(make_room(call.object));
    FAIRGV_CHECK(handle(call.number, call.opcode, call.call));
    objects_.finish_builds();
    if (calls_.journal().latest() == call.number) return {};
    return Error{fmt::format("{} does not do there what it did here",
                             wire::call_name(static_cast<wire::Opcode>(call.opcode)))};
  }

  Result<void> take(const ImageCommand& command) {
    const RestoredCommand restored{command.event,
                                   command.part,
                                   command.error,
                                   command.failed_wait,
                                   {command.waits.begin(), command.waits.end()}};
    loop_.restore_next(&restored);
    auto handled = handle(command.number, command.opcode, command.call);
    loop_.restore_next(nullptr);
    return handled;
  }

  Result<void> handle(std::uint64_t number, std::uint32_t opcode, std::span<const std::byte> call) {
    const auto known = static_cast<wire::Opcode>(opcode);
    // Bytes of an item lie anywhere in it.
    call_.resize((call.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    if (!call.empty()) std::memcpy(call_.data(), call.data(), call.size());
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(call_.data()), call.size());
    loop_.reading({.opcode = known, .number = number, .call = bytes});
    return calls_.handle_call(loop_, replies_, known, bytes, 0);
  }

  /// A released object in the place of one to be made goes now.
  Result<void> make_room(wire::ObjectId object) {
    for (auto release = releases_.begin(); release != releases_.end(); ++release) {
      if (release->second.index() != object.index()) continue;
      FAIRGV_CHECK(objects_.release(release->first, release->second));
      releases_.erase(release);
      break;
    }
    return {};
  }

  ImageReader& image_;
  CallHandler& calls_;
  MovableObjects& objects_;
  Executor::Loop& loop_;
  Replies& replies_;
  std::uint64_t next_number_ = 1;
  RestoredEvents events_;
  wire::ObjectId latest_;                             // that a call has made or changed
  std::map<std::uint64_t, wire::ObjectId> releases_;  // to be done, by their numbers
  std::vector<std::uint64_t> call_;
};

}  // namespace

Result<std::uint64_t> make_again(const UniqueFd& file, const session::MakeAgain& order, session::Api api,
                                 CallHandler& calls, Executor::Loop& loop, Replies& replies) {
  if (calls.movable() == nullptr) return Error{"its API has no sessions that move"};
  FAIRGV_CHECK(calls.movable()->move_devices(order.moves));
  FAIRGV_TRY(image, ImageReader::open(file, order.bytes));
  replies.mute(true);
  auto made = Making(image.value(), calls, loop, replies).run(api);
  replies.mute(false);
  return made;
}

}  // namespace fairgv::vgpu
