// Kernel arguments that belong to launches instead of kernels.
//
// In OpenCL a launch takes the arguments that its kernel has when it is enqueued; here it is issued later. So
// each launch holds the immutable set of its time (and with it the buffers), sets share their common
// arguments, and only arguments that differ from those of the driver's kernel are set before a launch is
// issued: nothing at all for a program that launches the same thing again.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/backend/object_table.hpp"
#include "runtime/vgpu/opencl/argument_kinds.hpp"
#include "runtime/wire/calls/kernels.hpp"

namespace fairgv::vgpu::opencl {

class Object;

/// One argument. Immutable: an argument set anew is a new Argument, so that identity means equality.
struct Argument {
  wire::ArgumentKind kind = wire::ArgumentKind::value;
  std::size_t bytes = 0;                 // of the value, or of local memory
  std::vector<std::byte> value;          // kind value
  std::shared_ptr<const Object> object;  // kinds memory, image, sampler, pipe
  const std::byte* address = nullptr;    // kind svm
};

/// Arguments by index; null where never set.
struct ArgumentSet {
  std::vector<std::shared_ptr<const Argument>> arguments;
  cl_int error = CL_SUCCESS;  // of the first poisoned object among them
  /// Bytes of local memory, without the gaps between the pieces: drivers have room for the gaps beyond the
  /// size that they report.
  std::uint64_t local_bytes = 0;
};

/// The objects that updates refer to.
struct ArgumentSources {
  const ObjectTable<Object>& objects;
  std::span<const std::byte> arena;
};

/// A copy of `before` with a call's updates. `takes` has an element for each argument. An Error if the front
/// end should have known better: an index beyond it, something that the argument does not take, a value
/// outside `values`, a pointer outside the arena, an id of the wrong kind.
Result<std::shared_ptr<const ArgumentSet>> updated(const ArgumentSet& before,
                                                   std::span<const wire::ArgumentUpdate> updates,
                                                   std::span<const std::byte> values,
                                                   std::span<const Takes> takes,
                                                   const ArgumentSources& sources);

/// The same arguments without objects that the program has released: launches that use them fail instead,
/// until the program sets other arguments. `before` itself if there is none.
std::shared_ptr<const ArgumentSet> without_released(const std::shared_ptr<const ArgumentSet>& before);

/// The arguments that a driver's kernel has been given.
class DriverArguments {
 public:
  /// Sets those of `wanted` that `kernel` does not have. `memory_made`: of the context; all are set anew when
  /// it has changed. CL_SUCCESS or the driver's error.
  cl_int apply(cl_kernel kernel, const std::shared_ptr<const ArgumentSet>& wanted, std::uint64_t memory_made);
  /// Lets go of objects that the program has released.
  void forget_released();

 private:
  std::shared_ptr<const ArgumentSet> latest_;              // applied last, completely
  std::vector<std::shared_ptr<const Argument>> by_index_;  // in force
  std::uint64_t memory_made_ = 0;                          // then
};

}  // namespace fairgv::vgpu::opencl
