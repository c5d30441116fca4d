#include "runtime/vgpu/move/write_image.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/vgpu/move/image_writer.hpp"

namespace fairgv::vgpu {
namespace {

using RecordPtr = std::shared_ptr<const Journal::Record>;

/// The parts of an image in the order of their numbers: calls, commands, releases.
class Story {
 public:
  Story(ImageWriter& image, MovableObjects& objects, const Journal& journal, const Standing& standing,
        const CopiesAhead& ahead)
      : image_(image), objects_(objects), ahead_(ahead), standing_(standing), records_(journal.records()) {
    objects.each_object(
        [this](wire::ObjectId id, const void* object, std::int32_t) { there_.emplace(id.raw, object); });
    for (Journal::Used& used : journal.used()) {
      there_.emplace(used.object.raw, used.it.get());
      kept_.push_back(std::move(used.it));
    }
    for (const RecordPtr& record : records_) {
      if (record->released != 0 && record->lasting == wire::Lasting::makes) releases_.push_back(record.get());
    }
    std::sort(releases_.begin(), releases_.end(),
              [](const auto* a, const auto* b) { return a->released < b->released; });
  }

  void tell_gone() {
    for (const wire::ObjectId object : ahead_.gone(records_)) image_.put(session::ImageGone{object});
  }

  Result<void> tell() {
    auto release = releases_.begin();
    auto record = records_.begin();
    std::size_t place = standing_.user_events.size();
    const auto& nodes = standing_.nodes;
    for (;;) {
      const std::uint64_t next_release = release == releases_.end() ? kNone : (*release)->released;
      const std::uint64_t next_call = record == records_.end() ? kNone : (*record)->number;
      const std::uint64_t next_command = place == nodes.size() ? kNone : nodes[place].node->made_by.number();
      const std::uint64_t next = std::min({next_release, next_call, next_command});
      if (next == kNone) return {};
      if (next == next_call) {
        FAIRGV_CHECK(tell_call(**record++));
      } else if (next == next_command) {
        tell_command(nodes[place++]);
      } else {
        image_.put(session::ImageRelease{next, (*release++)->object});
      }
    }
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  Result<void> tell_call(const Journal::Record& record) {
    const bool makes = record.lasting == wire::Lasting::makes;
    const std::span<const std::byte> call =
        ahead_.has_call(record.number) ? std::span<const std::byte>() : std::span(record.call);
    image_.put(session::ImageCall{record.number, record.opcode, record.object, makes ? 1U : 0U, call});
    const auto object = there_.find(record.object.raw);
    if (!makes || object == there_.end()) return {};
    const std::uint64_t bytes = objects_.contents_bytes(object->second);
    if (bytes == 0 || ahead_.has_contents(record.object)) return {};
    return image_.put_contents(
        bytes, [&](std::span<std::byte> to) { return objects_.read_contents(object->second, to); });
  }

  void tell_command(const CommandGraph::Standing& standing) {
    const Node& node = *standing.node;
    if (const auto arguments = objects_.arguments_of(node)) {
      const void*& told = told_[arguments->kernel.raw];
      if (std::exchange(told, arguments->identity) != arguments->identity)
        image_.put(session::ItemKind::arguments, arguments->encoded);
    }
    std::uint64_t begun = 0;
    wire::Extent3 groups;
    if (node.work() == Work::device) {
      const auto& command = static_cast<const DeviceCommand&>(node);
      begun = command.begun;
      if (begun > 0) {
        const auto [x, y, z] = const_cast<DeviceCommand&>(command).sliceable()->grid().groups();
        groups = {x, y, z};
      }
    }
    image_.put(session::ImageCommand{node.made_by.number(), node.made_by.opcode(), node.place_in_call,
                                     node.event, standing.error, standing.failed_wait, begun, groups,
                                     standing.waits, node.made_by.bytes()});
  }

  ImageWriter& image_;
  MovableObjects& objects_;
  const CopiesAhead& ahead_;
  const Standing& standing_;
  const std::vector<RecordPtr> records_;
  std::vector<const Journal::Record*> releases_;
  std::unordered_map<std::uint64_t, const void*> there_;  // objects by their ids
  std::vector<std::shared_ptr<const void>> kept_;
  std::unordered_map<std::uint64_t, const void*> told_;  // the arguments of kernels, by their identities
};

void put_events(ImageWriter& image, const Standing& standing) {
  for (const EventTable::State& event : standing.events) {
    image.put(session::ImageEvent{event.event, event.status, event.made_by, event.watched});
  }
  for (const NodePtr& node : standing.user_events) image.put(session::ImageUserEvent{node->event});
  for (const wire::EventReached& notice : standing.notices) {
    image.put(session::ImageNotice{notice.event, notice.watched, notice.status});
  }
}

void put_histories(ImageWriter& image, const Standing& standing) {
  std::uint32_t device = 0;
  for (const auto& history : standing.histories) {
    for (const sched::CommandHistory::Known& known : history) {
      image.put(session::ImageHistory{known.kind, static_cast<std::uint64_t>(known.time.count()), device,
                                      known.samples});
    }
    ++device;
  }
}

}  // namespace

Result<void> may_move(CallHandler& calls) {
  MovableObjects* const objects = calls.movable();
  if (objects == nullptr) return Error{"its API has no sessions that move"};
  if (calls.journal().gave_up())
    return Error{"it has made more objects than its journal has room for, so nobody can make them again"};
  return objects->may_move();
}

Result<std::uint64_t> write_image(int file, session::Api api, CallHandler& calls, const Executor::Loop& loop,
                                  std::uint64_t next_number, const CopiesAhead& ahead) {
  MovableObjects& objects = *calls.movable();
  const Standing standing = loop.standing();
  const bool strange = std::any_of(
      standing.nodes.begin() + static_cast<std::ptrdiff_t>(standing.user_events.size()), standing.nodes.end(),
      [](const CommandGraph::Standing& each) { return !each.node->made_by; });
  if (strange) return Error{"it waits for memory; try again"};
  ImageWriter image(file);
  image.put(session::ImageHead{session::kImageVersion, wire::kProtocolVersion,
                               static_cast<std::uint32_t>(api), 0, next_number});
  image.put(session::ItemKind::state, objects.state());
  Story story(image, objects, calls.journal(), standing, ahead);
  story.tell_gone();
  put_events(image, standing);
  put_histories(image, standing);
  FAIRGV_CHECK(story.tell());
  for (const auto& arguments : objects.arguments_of_kernels()) {
    image.put(session::ItemKind::arguments, arguments.encoded);
  }
  objects.each_object([&](wire::ObjectId id, const void*, std::int32_t error) {
    image.put(session::ImageError{id, error});
  });
  image.put(session::ItemKind::end, {});
  return image.finish();
}

}  // namespace fairgv::vgpu
