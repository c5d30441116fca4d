// OpenCL's objects as they move to another worker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/backend/movable_objects.hpp"
#include "runtime/vgpu/backend/object_table.hpp"
#include "runtime/vgpu/backend/slow_lane.hpp"
#include "runtime/vgpu/journal/journal.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/vgpu/memory/memory_waits.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/vgpu/opencl/move/contents_reads.hpp"
#include "runtime/vgpu/opencl/move/write_log.hpp"
#include "runtime/vgpu/opencl/objects.hpp"

namespace fairgv::vgpu::opencl {

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
    MemoryAccount* memory;          // may be null
    bool& has_failed_events;        // the program has set one to an error
    const std::string& changed_by;  // the extension's function that has changed something, or empty
  };
  explicit MovingObjects(const Parts& parts) : parts_(parts) {}

  Result<void> may_move() override;
  bool at_rest() override;
  std::uint64_t contents_bytes(const void* object) override;
  Result<void> read_contents(const void* object, std::span<std::byte> to) override;
  std::vector<std::byte> state() override;
  void each_object(
      const std::function<void(wire::ObjectId, const void* object, std::int32_t error)>& visit) override;
  std::optional<Arguments> arguments_of(const Node& command) override;
  std::vector<Arguments> arguments_of_kernels() override;

  bool copies_ahead() const override { return true; }
  void prepare_to_leave(bool prepares) override;
  std::unordered_set<std::uint64_t> take_written(std::span<const NodePtr> under_way) override;
  bool is_written(wire::ObjectId object) const override { return writes_.has(object); }
  void copy_contents(wire::ObjectId object, int file, std::uint64_t offset,
                     std::shared_ptr<ContentsCopy> copy, Executor::Loop& loop) override;
  bool only_makes(wire::Opcode makes) const override;
  /// For the session's queues.
  WriteLog& writes() { return writes_; }

  Result<void> move_devices(std::span<const std::pair<std::uint32_t, std::uint32_t>> moves,
                            std::span<const std::uint32_t> forced) override;
  Result<void> put_state(std::span<const std::byte> state) override;
  void finish_builds() override;
  Result<void> write_contents(wire::ObjectId object, std::span<const std::byte> from) override;
  Result<void> put_arguments(std::span<const std::byte> encoded) override;
  Result<void> check_error(wire::ObjectId object, std::int32_t error) override;
  Result<void> release(std::uint64_t number, wire::ObjectId object) override;

 private:
  Arguments encoded(wire::ObjectId kernel, const ArgumentSet& arguments) const;
  const Device& device_of(const Object& object) const;

  const Parts parts_;
  WriteLog writes_;
  ContentsReads reads_;
};

}  // namespace fairgv::vgpu::opencl
