// CUDA's objects as they move to another worker.
//
// Programs know addresses, and kernels store them anywhere: everything that has one must lie there again. The
// memory of a context is made and filled with the contents of the context (memory_book.hpp); modules, texture
// and surface objects are made by their calls, at their places (places.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/backend/movable_objects.hpp"
#include "runtime/vgpu/backend/object_table.hpp"
#include "runtime/vgpu/backend/slow_lane.hpp"
#include "runtime/vgpu/cuda/address_ranges.hpp"
#include "runtime/vgpu/cuda/allocations.hpp"
#include "runtime/vgpu/cuda/driver.hpp"
#include "runtime/vgpu/cuda/late_errors.hpp"
#include "runtime/vgpu/cuda/move/memory_book.hpp"
#include "runtime/vgpu/cuda/objects.hpp"
#include "runtime/vgpu/cuda/places.hpp"
#include "runtime/vgpu/cuda/word_watcher.hpp"
#include "runtime/vgpu/journal/journal.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/vgpu/memory/memory_waits.hpp"

namespace fairgv::vgpu::cuda {

class MovingObjects final : public MovableObjects {
 public:
  /// The parts of the back end that a move concerns; all outlive this.
  struct Parts {
    Driver& driver;
    const ring::Segment& segment;
    ObjectTable<Object>& objects;
    Journal& journal;
    SlowLane& slow_lane;
    MemoryWaits& memory_waits;
    MemoryAccount* memory;  // may be null
    Allocations& allocations;
    PinnedParts& pinned;
    AddressRanges& ranges;
    Places& places;
    LateErrors& late_errors;
    const WordWatcher& words;
  };
  explicit MovingObjects(const Parts& parts)
      : parts_(parts),
        book_({parts.driver, parts.segment, parts.memory, parts.allocations, parts.pinned, parts.ranges}) {}

  Result<void> may_move() override;
  bool at_rest() override;
  /// Of a context: the first time since state(), under whichever of its names.
  std::uint64_t contents_bytes(const void* object) override;
  Result<void> read_contents(const void* object, std::span<std::byte> to) override;
  std::vector<std::byte> state() override;
  void each_object(
      const std::function<void(wire::ObjectId, const void* object, std::int32_t error)>& visit) override;
  /// Launches have their parameters with them.
  std::optional<Arguments> arguments_of(const Node&) override { return std::nullopt; }
  std::vector<Arguments> arguments_of_kernels() override { return {}; }

  Result<void> move_devices(std::span<const std::pair<std::uint32_t, std::uint32_t>> moves,
                            std::span<const std::uint32_t> forced) override;
  Result<void> put_state(std::span<const std::byte> state) override;
  void finish_builds() override { parts_.slow_lane.wait_until_idle(); }
  Result<void> write_contents(wire::ObjectId object, std::span<const std::byte> from) override;
  Result<void> put_arguments(std::span<const std::byte> encoded) override;
  Result<void> check_error(wire::ObjectId object, std::int32_t error) override;
  Result<void> release(std::uint64_t number, wire::ObjectId object) override;

 private:
  Result<void> may_be_mapped() const;

  const Parts parts_;
  MemoryBook book_;
  std::set<const void*> told_;  // contexts whose memory the image has
};

}  // namespace fairgv::vgpu::cuda
