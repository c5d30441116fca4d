#include "runtime/vgpu/cuda/commands.hpp"

#include <array>
#include <cstring>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/end_watcher.hpp"
#include "runtime/vgpu/graph/command_kind.hpp"

namespace fairgv::vgpu::cuda {
namespace {

slicing::Launch grid_of(const wire::cuda::Grid& grid, const wire::cuda::Grid& block) {
  const auto items = [](std::uint32_t blocks, std::uint32_t threads) {
    return std::uint64_t{blocks} * threads;
  };
  return {.dimensions = 3,
          .size = {items(grid.x, block.x), items(grid.y, block.y), items(grid.z, block.z)},
          .local = {block.x, block.y, block.z}};
}

/// Null where the driver makes code before launches. PoCL makes it for each local size, and for small
/// launches.
MadeCode* code_of(Function& function, const Functions& driver, const slicing::Launch& grid) {
  if (driver.hold_next_launch == nullptr) return nullptr;
  const auto key =
      kind_from({grid.local[0], grid.local[1], grid.local[2], std::uint64_t{is_small_grid(grid.size)}});
  if (function.last_made == nullptr || function.last_code != key) {
    function.last_code = key;
    function.last_made = &function.code[key];
  }
  return function.last_made;
}

}  // namespace

StreamCommand::StreamCommand(std::shared_ptr<Stream> stream, sched::CommandKind kind, LateErrors& late)
    : DeviceCommand(stream->lane, stream->code == CUDA_SUCCESS ? 0 : wire::cuda::status_of(stream->code)),
      stream_(std::move(stream)),
      kind_(kind),
      late_(late) {}

std::int32_t StreamCommand::compile(CompletionSink& sink) {
  if (sink_ != &sink) sink_ = &sink;
  has_code();
  const auto reached = [](void* command) {
    auto& self = *static_cast<StreamCommand*>(command);
    self.sink_->compiled(self);
  };
  CUresult code = use(driver(), stream_->context->handle);
  if (code == CUDA_SUCCESS) code = driver().hold_next_launch(reached, this, &held_);
  if (code == CUDA_SUCCESS) code = send(stream_->handle);
  if (code == CUDA_SUCCESS) return 0;
  if (held_ != nullptr) driver().let_launch_go(std::exchange(held_, nullptr));
  return wire::cuda::status_of(code);
}

std::int32_t StreamCommand::issue() {
  if (auto* const issued = stream_->context->issued) issued->fetch_add(1, std::memory_order_release);
  if (held_ != nullptr) {
    driver().let_launch_go(std::exchange(held_, nullptr));
    return 0;
  }
  CUresult code = use(driver(), stream_->context->handle);
  if (code == CUDA_SUCCESS) code = wait_for_others();
  if (code == CUDA_SUCCESS) code = send(stream_->handle);
  return status(code);
}

/// Waits for all commands that the other stream has by now: a little more than necessary, never less.
CUresult StreamCommand::wait_for_others() {
  for (const NodePtr& wait : driver_waits()) {
    Stream& other = static_cast<const StreamCommand&>(*wait).stream();
    if (&other == stream_.get()) continue;
    CUresult code = CUDA_SUCCESS;
    if (other.reached == nullptr) code = driver().cuEventCreate(&other.reached, CU_EVENT_DISABLE_TIMING);
    if (code == CUDA_SUCCESS) code = driver().cuEventRecord(other.reached, other.handle);
    if (code == CUDA_SUCCESS) code = driver().cuStreamWaitEvent(stream_->handle, other.reached, 0);
    if (code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}

void StreamCommand::watch(CompletionSink& sink) {
  // Not written again while the part before may be reporting.
  if (sink_ != &sink) sink_ = &sink;
  EndWatcher* const ends = stream_->context->ends;
  const CUstream stream = stream_->handle;
  const CUresult code = ends != nullptr ? ends->watch(*stream_, &StreamCommand::ended, this)
                                        : driver().add_callback(stream, &StreamCommand::ended, this);
  if (code != CUDA_SUCCESS) ended(stream, code, this);
}

void CUDA_CB StreamCommand::ended(CUstream, CUresult code, void* command) {
  auto& self = *static_cast<StreamCommand*>(command);
  self.sink_->completed(self, self.status(code));
}

std::int32_t StreamCommand::status(CUresult code) {
  if (code == CUDA_SUCCESS) return kComplete;
  late_.report(code);
  return wire::cuda::status_of(code);
}

// ---- launches

sched::CommandKind Launch::kind_of(const Function& function, const wire::cuda::Launch& call) {
  return kind_from({function.kind_number, call.grid.x, call.grid.y, call.grid.z, call.block.x, call.block.y,
                    call.block.z});
}

Launch::Launch(std::shared_ptr<Stream> stream, std::shared_ptr<Function> function,
               const wire::cuda::Launch& call, LateErrors& late)
    : StreamCommand(std::move(stream), kind_of(*function, call), late),
      function_(std::move(function)),
      parameters_(call.parameters.begin(), call.parameters.end()),
      block_(call.block),
      cluster_(call.cluster),
      shared_bytes_(call.shared_bytes),
      is_cooperative_(call.is_cooperative != 0),
      grid_(grid_of(call.grid, call.block)),
      is_sliceable_(function_->is_sliceable && !is_cooperative_ && cluster_ == wire::cuda::Grid{} &&
                    grid_.is_valid()),
      code_(code_of(*function_, driver(), grid_)) {}

std::string_view Launch::why_whole() const {
  if (!function_->is_sliceable) return function_->why_whole;
  if (is_cooperative_) return "it is a cooperative launch, whose blocks may wait for each other";
  if (cluster_ != wire::cuda::Grid{}) return "its blocks run in clusters";
  return is_refused_ ? "the driver does not take its parts" : "its grid is too large to be cut";
}

CUresult Launch::send(CUstream stream) {
  const slicing::Box box = part_.value_or(grid_.whole());
  std::array<CUlaunchAttribute, 2> attributes{};
  unsigned attribute_count = 0;
  if (is_cooperative_) {
    attributes[attribute_count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[attribute_count++].value.cooperative = 1;
  }
  if (cluster_ != wire::cuda::Grid{}) {
    attributes[attribute_count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[attribute_count++].value.clusterDim = {cluster_.x, cluster_.y, cluster_.z};
  }
  const auto number = [](std::uint64_t blocks) { return static_cast<unsigned>(blocks); };
  CUlaunchConfig config{};
  config.gridDimX = number(box.groups[0]);
  config.gridDimY = number(box.groups[1]);
  config.gridDimZ = number(box.groups[2]);
  config.blockDimX = block_.x;
  config.blockDimY = block_.y;
  config.blockDimZ = block_.z;
  config.sharedMemBytes = shared_bytes_;
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = attribute_count;

  slicing::HiddenParameter hidden;
  std::vector<void*> pointers;
  pointers.reserve(function_->parameters.size() + 1);
  for (const ParameterPlace& place : function_->parameters)
    pointers.push_back(parameters_.data() + place.offset);
  if (part_ && function_->hidden) {
    hidden = slicing::hidden_parameter(grid_.groups(), box);
    pointers.push_back(&hidden);
  }
  return driver().cuLaunchKernelEx(&config, part_ ? function_->part_handle : function_->handle,
                                   pointers.data(), nullptr);
}

}  // namespace fairgv::vgpu::cuda
