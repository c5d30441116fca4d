// The programs that run a program's launches in parts: made from its sources once more, with the prelude
// (slicing/opencl_c.hpp), when a launch is to be sliced for the first time.
//
// The loop thread asks, the slow lane makes; readiness() is any thread's.
#pragma once

#include <CL/cl.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/vgpu/opencl/programs/recipe.hpp"
#include "slicing/launch.hpp"

namespace fairgv::vgpu::opencl {

struct Context;
struct Program;

/// Of a program as it was built; its kernels share it.
class SlicedProgram : public std::enable_shared_from_this<SlicedProgram> {
 public:
  using Readiness = SliceableLaunch::Readiness;
  /// Runs a job on the slow lane and has the executor look again afterwards.
  using RunLater = std::function<void(std::function<void()> job)>;

  SlicedProgram(std::shared_ptr<const Context> context, std::shared_ptr<const Recipe> recipe,
                RunLater run_later)
      : context_(std::move(context)), recipe_(std::move(recipe)), run_later_(std::move(run_later)) {}

  // `dimensions` is that of the launch, 1 to 3: each has a program of its own.

  /// Acquire: pairs with the release in make(), so that the result is seen.
  Readiness readiness(std::uint32_t dimensions) const {
    return variant(dimensions).readiness.load(std::memory_order_acquire);
  }
  /// Starts making it, unless that has begun. `original`: the application's program.
  void prepare(std::uint32_t dimensions, std::shared_ptr<const Program> original);
  /// Once it is ready.
  cl_program handle(std::uint32_t dimensions) const { return variant(dimensions).handle.get(); }
  /// Once it is impossible: why, as a phrase for people.
  std::string_view why_not(std::uint32_t dimensions) const { return variant(dimensions).why_not; }

 private:
  struct Variant {
    std::atomic<Readiness> readiness{Readiness::unprepared};
    ProgramHandle handle;
    std::string_view why_not;
  };

  const Variant& variant(std::uint32_t dimensions) const { return variants_.at(dimensions - 1); }
  void make(std::uint32_t dimensions, const Program& original);

  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const Recipe> recipe_;
  const RunLater run_later_;
  std::array<Variant, slicing::kMaxDimensions> variants_;
};

}  // namespace fairgv::vgpu::opencl
