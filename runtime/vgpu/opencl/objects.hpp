// The worker's OpenCL objects, one class per kind, each owning its driver handle and sharing the objects that
// it depends on.
//
// An object that the driver refused to make is poisoned: it has no handle and remembers the error, which
// surfaces in the status of every command that uses it. The loop thread's, except that builds use a Program's
// handle on the slow lane, which nobody moves meanwhile.
#pragma once

#include <CL/cl.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/issue/made_code.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/vgpu/opencl/argument_kinds.hpp"
#include "runtime/vgpu/opencl/arguments.hpp"
#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/vgpu/opencl/gates.hpp"
#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/vgpu/opencl/move/write_log.hpp"
#include "runtime/vgpu/opencl/programs/recipe.hpp"
#include "runtime/vgpu/opencl/programs/sliced_program.hpp"
#include "runtime/vgpu/residency/residencies.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu::opencl {

class BufferBlock;

/// The flags that need a client's pointer. Never passed on from a client: the front end turns it into copies
/// or shared memory.
constexpr cl_mem_flags kHostPointerFlags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// The properties that the driver's queue must share with the application's.
constexpr cl_command_queue_properties kQueueProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

enum class ObjectKind { context, queue, buffer, program, kernel, image, sampler, pipe, command_buffer };

class Object {
 public:
  virtual ~Object() = default;
  virtual ObjectKind kind() const = 0;
  /// The front end has let go of it, which commands may still use.
  virtual void release() { is_released = true; }

  wire::ObjectId id{};  // the front end's name for it
  /// CL_SUCCESS, or why the object is poisoned.
  cl_int error = CL_SUCCESS;
  bool is_released = false;
};

/// Gives an object class its place in the table of objects.
template <class Self, ObjectKind kind_of>
class ObjectOf : public Object {
 public:
  static constexpr ObjectKind kKind = kind_of;
  ObjectKind kind() const final { return kKind; }
  void release() final {
    Object::release();
    if constexpr (requires(Self & self) { self.charge.expect(); }) static_cast<Self&>(*this).charge.expect();
  }
};

struct Context final : ObjectOf<Context, ObjectKind::context> {
  static constexpr std::string_view kName = "context";
  ContextHandle handle;
  std::vector<wire::DeviceIndex> devices;
  std::uint64_t charged = 0;  // bit d: the program's device d, whose memory one of them has
  std::uint64_t roots = 0;    // bit d: device d, which has one of them or is it
  /// Counts handles of memory that were made anew (residency/buffer_block.hpp).
  std::atomic<std::uint64_t> memory_made{0};
  std::vector<std::shared_ptr<const void>> sub_devices;  // that the driver's context uses
};

struct Queue final : ObjectOf<Queue, ObjectKind::queue> {
  static constexpr std::string_view kName = "queue";
  std::shared_ptr<Context> context;
  std::shared_ptr<Lane> lane;
  Device on;                      // as it was when the queue was made
  cl_device_id device = nullptr;  // the driver's, that it is on
  cl_uint address_bits = 0;       // of that device
  bool is_lent = false;           // the memory of its device is (residency/)
  bool is_pocl = false;           // its driver is, some of whose checks are assertions
  WriteLog* writes = nullptr;     // the session's; may be null
  Gates* gates = nullptr;         // the session's
  /// Of local memory that it has, where the driver does not look by itself.
  std::uint64_t local_bytes = std::numeric_limits<std::uint64_t>::max();
  QueueHandle handle;
};

/// The lane of a queue, which keeps the queue: a command that never reaches the driver can be queued again by
/// its call as long as it has not ended.
inline std::shared_ptr<Lane> lane_of(std::shared_ptr<Queue> queue) {
  Lane* const lane = queue->lane.get();
  return {std::move(queue), lane};
}

struct Buffer final : ObjectOf<Buffer, ObjectKind::buffer> {
  static constexpr std::string_view kName = "buffer";
  std::shared_ptr<Context> context;
  std::shared_ptr<Buffer> parent;  // owns the memory, unless this has its own
  bool is_part = false;            // it is a sub-buffer; others with a parent lie in shared virtual memory
  wire::ArenaRange backing;        // of a direct buffer
  MemoryCharge charge;
  std::uint64_t bytes = 0;
  std::shared_ptr<BufferBlock> block;  // its memory, which may be out; null: it has a handle
  MemoryHandle handle;
  /// Called once the driver's buffer is gone and its memory is free again, or empty. `is_headroom`: the bytes
  /// that it was charged for are the front end's again.
  std::function<void(bool is_headroom)> when_gone;

  ~Buffer() override;
};

struct Image final : ObjectOf<Image, ObjectKind::image> {
  static constexpr std::string_view kName = "image";
  std::shared_ptr<Context> context;
  std::shared_ptr<const Object> memory;  // owns the memory, unless this has its own
  std::uint32_t depth = 0;               // images below it, in whose memory it is
  std::shared_ptr<const Buffer> buffer;  // the same, of an image that is a buffer's row of elements
  MemoryCharge charge;                   // outlives the handle
  std::unique_ptr<Residency::Pin> pin;   // keeps the memory of a buffer on the device
  MemoryHandle handle;
  cl_mem_object_type type = 0;
  std::size_t element_bytes = 0;
  wire::Extent3 extent;  // in elements, in the driver's coordinates
};

struct Sampler final : ObjectOf<Sampler, ObjectKind::sampler> {
  static constexpr std::string_view kName = "sampler";
  std::shared_ptr<Context> context;
  SamplerHandle handle;
};

struct Pipe final : ObjectOf<Pipe, ObjectKind::pipe> {
  static constexpr std::string_view kName = "pipe";
  std::shared_ptr<Context> context;
  MemoryCharge charge;  // outlives the handle
  MemoryHandle handle;
};

/// The result of a link on the slow lane.
struct Linked {
  ProgramHandle handle;
  cl_int error = CL_SUCCESS;
  std::atomic<bool> done{false};  // release on the slow lane, acquire in Program::settle()
};

struct Program final : ObjectOf<Program, ObjectKind::program> {
  static constexpr std::string_view kName = "program";
  std::shared_ptr<Context> context;
  ProgramHandle handle;
  std::shared_ptr<Linked> linking;  // until the loop thread has taken the result over
  SourceText source;                // null: it was made from something else
  bool is_intermediate = false;     // it was made from an intermediate language
  /// The files that the next build or compilation may include; null: none.
  std::shared_ptr<IncludeFiles> includes;
  std::shared_ptr<IncludeFailure> include_failure;  // of the latest; null: it had nothing to include
  /// How it was last built, compiled or linked; null if not from sources alone.
  std::shared_ptr<const Recipe> recipe;
  std::shared_ptr<SlicedProgram> sliced;             // null without a recipe
  std::unordered_map<std::uint64_t, MadeCode> code;  // by what the driver tells apart; the loop thread's

  /// Takes over the result of a link, once it is there.
  void settle() {
    if (!linking || !linking->done.load(std::memory_order_acquire)) return;
    handle = std::move(linking->handle);
    error = linking->error;
    linking.reset();
  }
};

struct Kernel final : ObjectOf<Kernel, ObjectKind::kernel> {
  static constexpr std::string_view kName = "kernel";
  std::string name;  // of the function
  std::shared_ptr<Program> program;
  KernelHandle handle;
  /// Tells functions apart: the same for all kernel objects of one function of one program.
  std::uint64_t function = 0;
  std::uint32_t argument_count = 0;
  std::vector<Takes> takes;  // by argument
  /// Whether the kernel may write the memory of an argument: asked of the driver when it is of interest.
  bool may_write(std::uint32_t argument);
  std::uint64_t local_bytes =
      0;  // of local memory, beside what arguments ask for; 0 also if the driver does not say
  std::vector<std::uint8_t> only_reads;  // by argument; empty: not known yet
  /// The arguments of the next launch.
  std::shared_ptr<const ArgumentSet> arguments = std::make_shared<ArgumentSet>();
  /// The arguments that the driver's kernel has been given.
  DriverArguments on_driver;

  /// Makes the kernels that run this one's launches in parts; null: they run whole, for this reason.
  std::shared_ptr<SlicedProgram> sliced_program;
  std::string_view why_whole;
  /// One for each number of dimensions, made when the first part is issued.
  struct Sliced {
    KernelHandle handle;
    DriverArguments on_driver;
    bool refused = false;  // with the executor's lock
  };
  std::array<Sliced, slicing::kMaxDimensions> sliced;
  /// The last answer of choose_local_size().
  struct LocalSize {
    cl_device_id device = nullptr;
    slicing::Extent global{}, local{};
  } chosen;

  /// Of the last launch.
  struct Code {
    std::uint64_t key = 0;
    MadeCode* made = nullptr;  // in the program
  } code;

  /// Gives the driver's kernel the arguments of the next launch. CL_SUCCESS or the driver's error.
  cl_int apply_arguments() { return on_driver.apply(handle.get(), arguments, memory_made()); }
  std::uint64_t memory_made() const { return program->context->memory_made.load(std::memory_order_relaxed); }
  /// Lets go of arguments that the program has released; a launch that would use one fails.
  void forget_released_arguments();
};

/// The first error among objects that a command uses, or CL_SUCCESS.
template <class... Objects>
cl_int first_error(const Objects&... objects) {
  cl_int error = CL_SUCCESS;
  ((error = error != CL_SUCCESS ? error : objects.error), ...);
  return error;
}

/// CL_OUT_OF_RESOURCES if a launch would use more local memory than there is and the driver would not notice.
inline cl_int local_memory_error(const Kernel& kernel, const ArgumentSet& arguments, const Queue& queue) {
  const bool fits = kernel.local_bytes + arguments.local_bytes <= queue.local_bytes;
  return fits || arguments.local_bytes == 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

}  // namespace fairgv::vgpu::opencl
