// A back end's objects as they move to another worker: beside the calls that make them (journal/journal.hpp),
// their contents, their errors, and the arguments of kernels. One interface for both APIs.
//
// The loop thread's, while the session is at rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

/// The copy of one object's contents, by commands that share it: its end, when the last of them is gone,
/// calls `done`. The loop thread's.
class ContentsCopy {
 public:
  explicit ContentsCopy(std::function<void(bool copied)> done) : done_(std::move(done)) {}
  ContentsCopy(const ContentsCopy&) = delete;
  ContentsCopy& operator=(const ContentsCopy&) = delete;
  ~ContentsCopy() { done_(copied_); }

  void fail() { copied_ = false; }

 private:
  const std::function<void(bool)> done_;
  bool copied_ = true;
};

class MovableObjects {
 public:
  // ---- the worker that leaves

  /// An Error, as one line, if something cannot be made again.
  virtual Result<void> may_move() = 0;
  /// Whether nothing of the back end's own is under way: builds, waits for memory. Asked until it is so.
  virtual bool at_rest() = 0;
  /// The bytes of contents that the object has and that lie nowhere else; 0: none.
  virtual std::uint64_t contents_bytes(const void* object) = 0;
  /// Copies them. An Error if the driver refuses.
  virtual Result<void> read_contents(const void* object, std::span<std::byte> to) = 0;
  /// The state of the back end that belongs to no object, encoded.
  virtual std::vector<std::byte> state() = 0;
  /// Calls visit(id, object, error) for each object that the program has.
  virtual void each_object(
      const std::function<void(wire::ObjectId, const void* object, std::int32_t error)>& visit) = 0;
  /// The arguments with which the kernel of a command would be launched; of kernels: as the next launch has
  /// them. `identity` is the same for the same arguments. Nothing where there are none.
  struct Arguments {
    wire::ObjectId kernel;
    const void* identity = nullptr;
    std::vector<std::byte> encoded;
  };
  virtual std::optional<Arguments> arguments_of(const Node& command) = 0;
  virtual std::vector<Arguments> arguments_of_kernels() = 0;

  // ---- the same, while it serves

  /// Whether the back end's objects are copied while it serves. One whose are not leaves all to the end, and
  /// the functions below are not called.
  virtual bool copies_ahead() const { return false; }
  /// From now on, or no longer: notes the objects that commands may write, and gives no memory back to the
  /// daemon.
  virtual void prepare_to_leave(bool /*prepares*/) {}
  /// The objects, by their ids, that commands may have written since the latest call, or that are under way
  /// and may still write.
  virtual std::unordered_set<std::uint64_t> take_written(std::span<const NodePtr> /*under_way*/) {
    return {};
  }
  /// Whether a command may have written the object since.
  virtual bool is_written(wire::ObjectId /*object*/) const { return true; }
  /// Queues commands that copy the object's contents to the file, from `offset` on. The file outlives them.
  virtual void copy_contents(wire::ObjectId /*object*/, int /*file*/, std::uint64_t /*offset*/,
                             std::shared_ptr<ContentsCopy> copy, Executor::Loop& /*loop*/) {
    copy->fail();
  }
  /// Of objects that calls of this kind make: whether no command and no argument of a kernel names them, only
  /// calls that make other objects.
  virtual bool only_makes(wire::Opcode /*makes*/) const { return false; }

  // ---- the worker that takes over, before anything is made

  /// Pairs: the first of the two devices is the second from now on. An Error, as one line, if the program
  /// could tell the difference; of those that are `forced` only if it could not go on there at all.
  virtual Result<void> move_devices(std::span<const std::pair<std::uint32_t, std::uint32_t>> moves,
                                    std::span<const std::uint32_t> forced) = 0;
  /// An Error if it is no such state.
  virtual Result<void> put_state(std::span<const std::byte> state) = 0;

  // ---- and while all is made again

  /// Waits for builds.
  virtual void finish_builds() = 0;
  virtual Result<void> write_contents(wire::ObjectId object, std::span<const std::byte> from) = 0;
  virtual Result<void> put_arguments(std::span<const std::byte> encoded) = 0;
  /// An Error if the object is poisoned here and was not there.
  virtual Result<void> check_error(wire::ObjectId object, std::int32_t error) = 0;
  /// The program has released the object by the call of that number.
  virtual Result<void> release(std::uint64_t number, wire::ObjectId object) = 0;

 protected:
  ~MovableObjects() = default;
};

}  // namespace fairgv::vgpu
