#include "cuda-shim/api/code/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "cuda-shim/softcuda/driver/code/module.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/launch/begun.hpp"
#include "cuda-shim/softcuda/driver/launch/device_printf.hpp"
#include "cuda-shim/softcuda/driver/launch/held_launch.hpp"
#include "cuda-shim/softcuda/driver/launch/launch_frame.hpp"

namespace fairgv::cuda::soft {

using softcuda::TrapKind;
namespace {

struct Launch {
  Engine& engine;
  std::shared_ptr<Function> function;
  LaunchShape shape;
  std::vector<std::uint64_t> parameters;
  std::shared_ptr<HeldLaunch> held;  // null: it runs as soon as it can
};

const char* text_at(std::uint64_t address) {
  return address == 0 ? "" : reinterpret_cast<const char*>(address);
}

/// The result that a trap record stands for. An assertion is reported as NVIDIA's driver reports it.
CUresult verdict(const RuntimeBlock& block) {
  switch (static_cast<TrapKind>(block.trap_kind)) {
    case TrapKind::kNone:
      return CUDA_SUCCESS;
    case TrapKind::kAssert:
      std::fflush(stdout);
      std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                   text_at(block.trap_file), block.trap_line, text_at(block.trap_function),
                   block.trap_block[0], block.trap_block[1], block.trap_block[2], block.trap_thread[0],
                   block.trap_thread[1], block.trap_thread[2], text_at(block.trap_message));
      return CUDA_ERROR_ASSERT;
    case TrapKind::kTrap:
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case TrapKind::kDeadlock:
      return CUDA_ERROR_LAUNCH_TIMEOUT;  // a GPU would wait for ever, or until its watchdog
    case TrapKind::kStack:
      return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case TrapKind::kNoFunction:
      return CUDA_ERROR_INVALID_PC;
    case TrapKind::kRefused:
      std::fprintf(stderr, "%s: %s\n", kEngineName, text_at(block.trap_message));
      return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case TrapKind::kNotAllocated:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case TrapKind::kScratch:
    case TrapKind::kSurface:
      break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

/// Of a launch that the OpenCL driver beneath has refused, or ended with this error. A device that has failed
/// is not the kernel's fault.
CUresult error_of_launch(cl_int status) {
  return status == CL_DEVICE_NOT_AVAILABLE ? CUDA_ERROR_DEVICE_UNAVAILABLE : CUDA_ERROR_LAUNCH_FAILED;
}

void print_ring(const LaunchFrame& frame, const RuntimeBlock& block) {
  if (block.printf_used == 0) return;
  const std::string text = text_of_ring(frame.ring(), block.printf_used, block.printf_capacity);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// With the lock of the arguments.
bool set_arguments(const Launch& launch, const LaunchFrame& frame) {
  const cl_kernel kernel = launch.function->kernel();
  Function::Arguments& set = launch.function->arguments();
  const std::uint64_t shared = launch.function->info().shared_bytes(launch.shape.dynamic_shared);
  if (shared != set.shared_bytes) {
    if (clSetKernelArg(kernel, 1, shared, nullptr) != CL_SUCCESS) return false;
    set.shared_bytes = shared;
  }
  if (!set.has_data_address) {
    const cl_ulong data = launch.function->own_module().data_address();
    if (clSetKernelArg(kernel, 2, sizeof data, &data) != CL_SUCCESS) return false;
    set.has_data_address = true;
  }
  const cl_ulong runtime = frame.address();
  return clSetKernelArg(kernel, 0, launch.parameters.size() * sizeof(std::uint64_t),
                        launch.parameters.data()) == CL_SUCCESS &&
         clSetKernelArg(kernel, 3, sizeof runtime, &runtime) == CL_SUCCESS;
}

class BegunLaunch : public Begun {
 public:
  BegunLaunch(std::shared_ptr<Launch> launch, std::shared_ptr<Operation> operation,
              std::unique_ptr<LaunchFrame> frame)
      : Begun(launch->engine.operations, std::move(operation)),
        launch_(std::move(launch)),
        frame_(std::move(frame)) {}
  ~BegunLaunch() override {
    if (frame_) launch_->engine.frames.give_back(std::move(frame_));
  }
  bool has_frame() const { return frame_ != nullptr; }
  const LaunchFrame& frame() const { return *frame_; }

 private:
  CUresult finish(cl_int status) override {
    if (launch_->held) launch_->held->ended(status);
    print_ring(*frame_, frame_->block());
    return status == CL_COMPLETE ? verdict(frame_->block()) : error_of_launch(status);
  }

  const std::shared_ptr<Launch> launch_;
  std::unique_ptr<LaunchFrame> frame_;
};

std::uint64_t blocks_of(const LaunchShape& shape) {
  return std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
}

/// A frame that is ready for the launch; null: the device has no memory.
std::unique_ptr<LaunchFrame> make_frame(const Launch& launch, ContextResources& resources) {
  const KernelInfo& info = launch.function->info();
  const OpenClDevice& device = *launch.engine.opencl;
  auto frame = launch.engine.frames.take(device);
  if (!frame) return nullptr;
  const std::uint64_t threads =
      std::uint64_t{launch.shape.block[0]} * launch.shape.block[1] * launch.shape.block[2];
  const std::uint32_t stack = info.uses_stack ? resources.stack_bytes() : 0;
  std::uint64_t slot = info.stepped ? info.scratch_bytes_fixed +
                                          threads * (info.scratch_bytes_per_thread + std::uint64_t{stack})
                                    : 0;
  // As many blocks at once as the device has units, and one more for the thread that waits.
  std::uint64_t slots = info.stepped ? device.facts().compute_units + 1 : 0;
  if (info.cooperates) {
    slots = blocks_of(launch.shape);
    slot += info.shared_bytes(launch.shape.dynamic_shared) + 16;
  }
  constexpr std::uint64_t kMostSlots = 0x7fffffff;
  if (slots <= kMostSlots &&
      frame->prepare(device, launch.shape.dynamic_shared, slot, static_cast<std::uint32_t>(slots))) {
    RuntimeBlock& block = frame->block();
    block.stack_bytes = stack;
    if (info.uses_heap) block.heap = resources.heap(device);
    std::copy(std::begin(launch.shape.grid), std::end(launch.shape.grid), std::begin(block.grid));
    block.cooperative = launch.shape.cooperative ? 1 : 0;
    return frame;
  }
  launch.engine.frames.give_back(std::move(frame));
  return nullptr;
}

/// Enqueues the kernel behind `start`, if that is not null.
CUresult enqueue_kernel(const Launch& launch, const LaunchFrame& frame, cl_command_queue queue,
                        cl_event start, cl_event& event) {
  std::size_t global[3];
  std::size_t local[3];
  for (std::size_t at = 0; at < 3; ++at) {
    local[at] = launch.shape.block[at];
    global[at] = std::size_t{launch.shape.grid[at]} * local[at];
  }
  if (launch.function->info().cooperates) {
    // Each work-group looks after all blocks: as many as run at once are enough.
    const std::uint64_t units = std::max(1U, launch.engine.opencl->facts().compute_units);
    global[0] = std::min(units, blocks_of(launch.shape)) * local[0];
    global[1] = local[1];
    global[2] = local[2];
  }
  const std::lock_guard guard(launch.function->arguments().lock);
  if (!set_arguments(launch, frame)) return CUDA_ERROR_LAUNCH_FAILED;
  const cl_uint waits = start != nullptr ? 1 : 0;
  const cl_int status = clEnqueueNDRangeKernel(queue, launch.function->kernel(), 3, nullptr, global, local,
                                               waits, waits != 0 ? &start : nullptr, &event);
  if (status == CL_SUCCESS) return CUDA_SUCCESS;
  say_if_verbose("OpenCL refuses a launch of '" + launch.function->info().name + "' (" +
                 std::to_string(status) + ")");
  return status == CL_OUT_OF_RESOURCES || status == CL_MEM_OBJECT_ALLOCATION_FAILURE
             ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
             : error_of_launch(status);
}

/// Puts the launch on its stream's own queue, behind earlier launches, and returns.
CUresult begin_launch(const std::shared_ptr<Launch>& launch, Stream& stream,
                      const std::shared_ptr<Operation>& operation) {
  const cl_command_queue queue = device_queue(*launch->engine.opencl, stream);
  if (queue == nullptr) return CUDA_ERROR_LAUNCH_FAILED;
  auto begun =
      std::make_unique<BegunLaunch>(launch, operation, make_frame(*launch, stream.own_group().resources()));
  if (!begun->has_frame()) return CUDA_ERROR_OUT_OF_MEMORY;
  HeldLaunch* const held = launch->held.get();
  const cl_event start = held != nullptr ? held->start(launch->engine.opencl->context()) : nullptr;
  if (held != nullptr && start == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  cl_event event = nullptr;
  const CUresult code = enqueue_kernel(*launch, begun->frame(), queue, start, event);
  if (code != CUDA_SUCCESS) {
    if (held != nullptr) held->cancel();
    return code;
  }
  if (held != nullptr) held->stop(event);
  Begun::keep(std::move(begun), queue, event);
  if (held != nullptr) held->begin(queue);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult Commands::launch(const std::shared_ptr<cuda::Stream>& stream,
                          std::shared_ptr<cuda::Function> function, const LaunchShape& shape,
                          std::vector<std::uint64_t> parameters) {
  if (shape.cooperative) {
    std::uint64_t blocks = 0;
    const std::uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
    function->blocks_at_once(threads, shape.dynamic_shared, 0, blocks);
    const std::uint64_t units = std::max(1U, engine_.opencl->facts().compute_units);
    if (blocks_of(shape) > blocks * units) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  }
  const auto held = HeldLaunch::take_next();
  auto launch = std::make_shared<Launch>(Launch{
      engine_, std::static_pointer_cast<Function>(std::move(function)), shape, std::move(parameters), held});
  const auto submitted = engine_.operations.submit(
      share(stream),
      [launch](Stream& to, const std::shared_ptr<Operation>& operation) {
        return begin_launch(launch, to, operation);
      },
      held != nullptr);
  if (held) held->submitted_as(submitted);
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft
