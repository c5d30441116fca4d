#include "runtime/vgpu/opencl/commands.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "runtime/vgpu/opencl/command_kind.hpp"
#include "slicing/driver_launch.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// As many work-items in a group as drivers of GPUs choose: enough for any device, and many groups to cut.
constexpr std::size_t kLargestChosenGroup = 256;

/// Where the application leaves the choice of a local size to the driver, the parts of a launch need one and
/// the same: divisors of the global size, the larger ones in the faster dimensions.
slicing::Extent choose_local_size(Kernel& kernel, cl_device_id device, const slicing::Extent& global) {
  Kernel::LocalSize& chosen = kernel.chosen;
  if (chosen.device == device && chosen.global == global) return chosen.local;
  std::size_t limit = 1;
  clGetKernelWorkGroupInfo(kernel.handle.get(), device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(limit), &limit,
                           nullptr);
  std::uint64_t left = std::clamp<std::size_t>(limit, 1, kLargestChosenGroup);
  chosen = {.device = device, .global = global};
  for (std::size_t d = 0; d < global.size(); ++d) {
    std::uint64_t divisor = std::min(left, global[d]);
    while (global[d] % divisor != 0) --divisor;
    chosen.local[d] = divisor;
    left /= divisor;
  }
  return chosen.local;
}

/// The launch in a form that can be cut, unless its kernel, its driver or its size forbids that.
std::optional<slicing::Launch> grid_of(Kernel& kernel, const Queue& queue, const Launch::Range& range) {
  if (!kernel.sliced_program || kernel.error != CL_SUCCESS) return std::nullopt;
  slicing::Launch grid{.dimensions = range.dimensions};
  for (std::size_t d = 0; d < range.dimensions; ++d) {
    if (range.global[d] == 0 || (range.has_local && range.local[d] == 0)) return std::nullopt;
    grid.size[d] = range.global[d];
    if (range.has_offset) grid.offset[d] = range.offset[d];
    if (range.has_local) grid.local[d] = range.local[d];
  }
  if (!range.has_local) grid.local = choose_local_size(kernel, queue.device, grid.size);
  if (!slicing::fits(grid, queue.address_bits)) return std::nullopt;
  return grid;
}

/// The event for which this thread asks a driver for a callback.
thread_local cl_event asked_for = nullptr;

/// The status with which a callback comes. PoCL (3.1) gives the one that was asked for, CL_COMPLETE, if the
/// command had failed by then; it comes within the call that asks.
cl_int status_of_end(cl_event event, cl_int told) {
  if (told != CL_COMPLETE || event != asked_for) return told;
  cl_int status = told;
  clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
  return status < 0 ? status : told;
}

}  // namespace

cl_int launch_error(const Queue& queue, const Kernel& kernel, const ArgumentSet& arguments,
                    const Launch::Range& range) {
  const cl_int error = first_error(queue, kernel, arguments, range);
  return error != CL_SUCCESS ? error : local_memory_error(kernel, arguments, queue);
}

/// PoCL makes code for each local size, for launches without an offset, and for small ones.
MadeCode* code_of(Kernel& kernel, Queue& queue, const Launch::Range& range) {
  if (!kernel.program || kernel.error != CL_SUCCESS || range.error != CL_SUCCESS) return nullptr;
  if (queue.error != CL_SUCCESS) return nullptr;
  if (!queue.gates->hold(queue.lane->device(), queue.context->handle.get(), queue.device)) return nullptr;
  const auto& sizes = range.has_local ? range.local : range.global;
  const std::array<std::size_t, 3> nowhere{};
  const auto* const build = kernel.program->recipe.get();
  const auto key =
      kind_from({kernel.function, reinterpret_cast<std::uintptr_t>(build), std::uint64_t{range.has_local},
                 sizes[0], sizes[1], sizes[2], std::uint64_t{range.has_offset && range.offset != nowhere},
                 std::uint64_t{is_small_grid(range.global)}, reinterpret_cast<std::uintptr_t>(queue.device)});
  if (kernel.code.made == nullptr || kernel.code.key != key) kernel.code = {key, &kernel.program->code[key]};
  return kernel.code.made;
}

bool Kernel::may_write(std::uint32_t argument) {
  for (auto index = static_cast<std::uint32_t>(only_reads.size()); index < argument_count; ++index)
    only_reads.push_back(opencl::only_reads(handle.get(), index) ? 1 : 0);
  return argument >= only_reads.size() || only_reads[argument] == 0;
}

void Launch::note_writes(WriteLog& log) const {
  const auto& given = arguments_->arguments;
  for (std::uint32_t index = 0; index < given.size(); ++index) {
    if (given[index] && given[index]->object && kernel_->may_write(index)) log.note(*given[index]->object);
  }
}

void Launch::blocks(std::vector<Block*>& to) const {
  for (const auto& argument : arguments_->arguments) {
    if (argument && argument->object) add_block_of(*argument->object, to);
  }
}

cl_int QueueCommand::enqueue_after(cl_event start) {
  std::vector<cl_event> list;
  for (const NodePtr& wait : driver_waits()) {
    list.push_back(static_cast<const QueueCommand&>(*wait).event_.get());
  }
  if (start != nullptr) list.push_back(start);
  const Waits waits{static_cast<cl_uint>(list.size()), list.empty() ? nullptr : list.data(),
                    event_.receive()};
  return enqueue(queue_->handle.get(), waits);
}

std::int32_t QueueCommand::compile(CompletionSink& sink) {
  if (sink_ != &sink) sink_ = &sink;
  gate_ = std::make_unique<CodeGate>();
  cl_int error = CL_SUCCESS;
  const cl_event start = gate_->start(queue_->context->handle.get(), error);
  if (error == CL_SUCCESS) error = enqueue_after(start);
  if (error == CL_SUCCESS && !gate_->close(event_.get(), [this] { sink_->compiled(*this); })) {
    error = CL_OUT_OF_RESOURCES;
  }
  if (error == CL_SUCCESS) error = clSetEventCallback(event_.get(), CL_COMPLETE, &QueueCommand::ended, this);
  has_code();
  if (error != CL_SUCCESS) {
    gate_->cancel();
    return error;
  }
  at_gate_ = true;
  queue_->gates->close();
  gate_->begin(queue_->handle.get());
  return CL_SUCCESS;
}

std::int32_t QueueCommand::issue() {
  if (queue_->writes != nullptr && (queue_->writes->on() || queue_->is_lent)) note_writes(*queue_->writes);
  if (!at_gate_) return enqueue_after(nullptr);
  queue_->gates->open();
  gate_->open();
  return CL_SUCCESS;
}

void QueueCommand::watch(CompletionSink& sink) {
  if (std::exchange(at_gate_, false)) {
    // ended() has been asked for, but it has told only the gate of the end, not the sink.
    if (const auto status = gate_->missed_with()) sink.completed(*this, *status < 0 ? *status : kComplete);
    return;
  }
  // Not written again while the part before may be reporting.
  if (sink_ != &sink) sink_ = &sink;
  const cl_event handle = event_.get();
  const cl_event before = std::exchange(asked_for, handle);
  const cl_int asked = clSetEventCallback(handle, CL_COMPLETE, &QueueCommand::ended, this);
  asked_for = before;  // this command may be gone
  if (asked == CL_SUCCESS) return;
  // No driver should refuse; waiting here is slow but right.
  const cl_int error = clWaitForEvents(1, &handle);
  ended(handle, error == CL_SUCCESS ? CL_COMPLETE : error, this);
}

void CL_CALLBACK QueueCommand::ended(cl_event handle, cl_int status, void* command) {
  auto& self = *static_cast<QueueCommand*>(command);
  status = status_of_end(handle, status);
  if (self.gate_ && self.gate_->ended(status)) return;
  if (status == CL_COMPLETE && self.lane()->clock() == Clock::device) self.read_times(handle);
  self.sink_->completed(self, status < 0 ? status : kComplete);
}

void QueueCommand::read_times(cl_event handle) {
  const auto read = [handle](cl_profiling_info what, std::uint64_t otherwise) {
    cl_ulong time = 0;
    const cl_int error = clGetEventProfilingInfo(handle, what, sizeof(time), &time, nullptr);
    return error == CL_SUCCESS ? std::uint64_t{time} : otherwise;
  };
  // A command that runs in parts was queued and has started with the first.
  if (!has_times_) {
    times_.queued = read(CL_PROFILING_COMMAND_QUEUED, 0);
    times_.submitted = read(CL_PROFILING_COMMAND_SUBMIT, times_.queued);
    times_.started = read(CL_PROFILING_COMMAND_START, times_.submitted);
    // PoCL has it running from before the gate on.
    if (gate_) times_.started += static_cast<std::uint64_t>(gate_->held().count());
  }
  times_.ended = read(CL_PROFILING_COMMAND_END, times_.started);
  times_.completed = read(CL_PROFILING_COMMAND_COMPLETE, times_.ended);  // OpenCL 2.0
  if (first_ && first_->has_times_) {
    times_.queued = first_->times_.queued;
    times_.submitted = first_->times_.submitted;
    times_.started = first_->times_.started;
  }
  has_times_ = true;
}

/// A local size that begins with 0 is none for PoCL, if it survives it; one with a 0 behind is for no driver.
template <class Call>
Launch::Range Launch::range_of(const Call& call) {
  Range range{.dimensions = call.dimensions,
              .has_offset = call.has_global_offset != 0,
              .has_local = call.has_local_size != 0 && call.local_size.x != 0,
              .offset = sizes(call.global_offset),
              .global = sizes(call.global_size),
              .local = sizes(call.local_size)};
  const auto given = std::span(range.local).first(call.dimensions);
  const bool has_zero = std::find(given.begin(), given.end(), 0) != given.end();
  if (range.has_local && has_zero) range.error = CL_INVALID_WORK_GROUP_SIZE;
  return range;
}

template Launch::Range Launch::range_of(const wire::EnqueueKernel& call);
template Launch::Range Launch::range_of(const wire::CheckLaunch& call);

sched::CommandKind Launch::kind_of(const Kernel& kernel, const Range& range) {
  return kind_from({kernel.function, range.dimensions, range.global[0], range.global[1], range.global[2],
                    range.local[0], range.local[1], range.local[2]});
}

Launch::Launch(std::shared_ptr<Queue> queue, std::shared_ptr<Kernel> kernel,
               std::shared_ptr<const ArgumentSet> arguments, const Range& range)
    : QueueCommand(queue, launch_error(*queue, *kernel, *arguments, range), kind_of(*kernel, range)),
      arguments_(std::move(arguments)),
      kernel_(std::move(kernel)),
      range_(range),
      address_bits_(queue->address_bits),
      grid_(grid_of(*kernel_, *queue, range)),
      code_(code_of(*kernel_, *queue, range)) {}

bool Launch::compiles_late(bool in_parts) const {
  return code_ != nullptr && !code_->is_made(in_parts);
}

void Launch::has_code() {
  code_->set_made(part_.has_value());
}

std::string_view Launch::why_whole() const {
  if (!kernel_->why_whole.empty()) return kernel_->why_whole;
  if (!grid_) return "its grid is too large to be cut";
  if (sliced().refused) return "the driver does not take its rewritten kernel";
  return kernel_->sliced_program->why_not(grid_->dimensions);
}

/// Unknown where the driver chooses the work-groups' size.
slicing::Extent Launch::groups() const {
  if (grid_) return grid_->groups();
  slicing::Extent groups{};
  for (std::size_t d = 0; range_.has_local && d < groups.size(); ++d) {
    const bool used = d < range_.dimensions && range_.local[d] != 0;
    groups[d] = used ? range_.global[d] / range_.local[d] : 1;
  }
  return groups;
}

SliceableLaunch::Readiness Launch::readiness() const {
  return sliced().refused ? Readiness::impossible : kernel_->sliced_program->readiness(grid_->dimensions);
}

void Launch::give_up() {
  part_.reset();
  sliced().refused = true;
}

cl_int Launch::enqueue(cl_command_queue queue, const Waits& waits) {
  if (part_) return enqueue_part(queue, waits);
  const cl_int error = kernel_->on_driver.apply(kernel_->handle.get(), arguments_, kernel_->memory_made());
  if (error != CL_SUCCESS) return error;
  return clEnqueueNDRangeKernel(queue, kernel_->handle.get(), range_.dimensions,
                                range_.has_offset ? range_.offset.data() : nullptr, range_.global.data(),
                                range_.has_local ? range_.local.data() : nullptr, waits.count, waits.list,
                                waits.event);
}

cl_int Launch::enqueue_part(cl_command_queue queue, const Waits& waits) {
  Kernel::Sliced& kernel = sliced();
  cl_int error = CL_SUCCESS;
  if (!kernel.handle) {
    const cl_program program = kernel_->sliced_program->handle(grid_->dimensions);
    kernel.handle = KernelHandle(clCreateKernel(program, kernel_->name.c_str(), &error));
  }
  if (error == CL_SUCCESS)
    error = kernel.on_driver.apply(kernel.handle.get(), arguments_, kernel_->memory_made());
  if (error != CL_SUCCESS) return error;
  const auto part = slicing::encode(*grid_, *part_, address_bits_);
  if (!part) return CL_INVALID_GLOBAL_OFFSET;  // never: grid_ fits
  return clEnqueueNDRangeKernel(queue, kernel.handle.get(), part->dimensions, part->offset.data(),
                                part->size.data(), part->local.data(), waits.count, waits.list, waits.event);
}

}  // namespace fairgv::vgpu::opencl
