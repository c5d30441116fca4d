#include "icd/programs/kernel.hpp"

#include <algorithm>
#include <cstring>

#include "icd/objects/sampler.hpp"

namespace fairgv::icd {
namespace {

/// The handle that an argument's value is; it may be anything.
template <class Handle>
Handle handle_at(const void* value) {
  Handle handle = nullptr;
  std::memcpy(&handle, value, sizeof(handle));
  return handle;
}

wire::ArgumentKind kind_of(const Memory& memory) {
  if (memory.is_buffer()) return wire::ArgumentKind::memory;
  return memory.image() != nullptr ? wire::ArgumentKind::image : wire::ArgumentKind::pipe;
}

/// Of local memory: sums of what this returns do not overflow, and no device has as much.
std::uint64_t countable(std::uint64_t bytes) {
  return std::min(bytes, std::uint64_t{1} << 47);
}

// Most values are numbers; with a known size, comparing and copying one is an instruction or two.

bool equal_values(const void* one, const void* other, std::size_t bytes) {
  if (bytes == 4) return std::memcmp(one, other, 4) == 0;
  if (bytes == 8) return std::memcmp(one, other, 8) == 0;
  return std::memcmp(one, other, bytes) == 0;
}

void copy_value(void* to, const void* from, std::size_t bytes) {
  if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

Kernel::Kernel(Program& program, std::shared_ptr<const KernelTable> table,
               const wire::KernelDescription& description)
    : program_(program),
      table_(std::move(table)),
      description_(description),
      id_(program.context().session().new_object()),
      argument_count_(description.argument_count),
      arguments_(argument_count_),
      unset_(description.argument_count) {
  for (std::size_t i = 0; i < description.arguments.size() && i < arguments_.size(); ++i) {
    arguments_[i].type = classify(description.arguments[i]);
  }
  program.attach_kernel();
  program.connection().send(wire::CreateKernel{id_, program.id(), description.name});
}

Kernel::Kernel(Kernel& other) : Kernel(*other.program_, other.table_, other.description_) {
  const std::lock_guard lock(other.mutex_);
  arguments_ = other.arguments_;
  unset_ = other.unset_;
  local_bytes_ = other.local_bytes_;
  changed_ = 0;
  for (Argument& argument : arguments_) {
    argument.changed = argument.set;
    if (argument.changed) ++changed_;
  }
}

Kernel::~Kernel() {
  program_->detach_kernel();
  context().session().release_object(id_);
}

// ---- arguments
// -------------------------------------------------------------------------------------------------

cl_int Kernel::set_argument(cl_uint index, std::size_t bytes, const void* value) {
  if (index >= argument_count_) return CL_INVALID_ARG_INDEX;
  Argument& argument = arguments_[index];
  switch (argument.type.kind) {
    case ArgumentClass::memory:
      return set_memory(argument, bytes, value);
    case ArgumentClass::local:
      return set_local(index, bytes, value);
    case ArgumentClass::value:
      return set_value(index, bytes, value);
    case ArgumentClass::image:
      return set_image(argument, description_.arguments[index].access_qualifier, bytes, value);
    case ArgumentClass::sampler:
      return set_sampler(argument, bytes, value);
    case ArgumentClass::pipe:
      return set_pipe(argument, bytes, value);
    case ArgumentClass::unknown:
      break;
  }
  return set_undescribed(index, bytes, value);
}

cl_int Kernel::set_svm_argument(cl_uint index, const void* pointer) {
  if (index >= argument_count_) return CL_INVALID_ARG_INDEX;
  Argument& argument = arguments_[index];
  const bool takes_pointer =
      argument.type.kind == ArgumentClass::memory || argument.type.kind == ArgumentClass::unknown;
  if (!takes_pointer) return CL_INVALID_ARG_VALUE;
  if (pointer == nullptr) {
    store(argument, wire::ArgumentKind::null_memory, 0);
    return CL_SUCCESS;
  }
  const auto range = context().svm().range(pointer, 1);
  if (!range) return CL_INVALID_ARG_VALUE;
  store(argument, wire::ArgumentKind::svm, 0, range->offset);
  return CL_SUCCESS;
}

cl_int Kernel::set_memory(Argument& argument, std::size_t bytes, const void* value) {
  if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  cl_mem handle = nullptr;
  if (value != nullptr) std::memcpy(&handle, value, sizeof(handle));
  if (handle == nullptr) {
    store(argument, wire::ArgumentKind::null_memory, 0);
    return CL_SUCCESS;
  }
  const Memory* const memory = find<Memory>(handle);
  if (memory == nullptr || !memory->is_buffer()) return CL_INVALID_MEM_OBJECT;
  store_object(argument, wire::ArgumentKind::memory, *memory);
  return CL_SUCCESS;
}

/// A kernel must not read an image that is only written, nor the other way round.
cl_int Kernel::set_image(Argument& argument, cl_uint access, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  const Memory* const memory = find<Memory>(handle_at<cl_mem>(value));
  if (memory == nullptr || memory->image() == nullptr) return CL_INVALID_MEM_OBJECT;
  const bool refused =
      (access == CL_KERNEL_ARG_ACCESS_READ_ONLY && (memory->flags() & CL_MEM_WRITE_ONLY) != 0) ||
      (access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY && (memory->flags() & CL_MEM_READ_ONLY) != 0);
  if (refused) return CL_INVALID_ARG_VALUE;
  store_object(argument, wire::ArgumentKind::image, *memory);
  return CL_SUCCESS;
}

cl_int Kernel::set_sampler(Argument& argument, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  const Sampler* const sampler = find<Sampler>(handle_at<cl_sampler>(value));
  if (sampler == nullptr) return CL_INVALID_SAMPLER;
  store_object(argument, wire::ArgumentKind::sampler, *sampler);
  return CL_SUCCESS;
}

cl_int Kernel::set_pipe(Argument& argument, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  const Memory* const memory = find<Memory>(handle_at<cl_mem>(value));
  if (memory == nullptr || memory->pipe() == nullptr) return CL_INVALID_MEM_OBJECT;
  store_object(argument, wire::ArgumentKind::pipe, *memory);
  return CL_SUCCESS;
}

cl_int Kernel::set_local(cl_uint index, std::size_t bytes, const void* value) {
  Argument& argument = arguments_[index];
  if (value != nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes == 0) {
    // No driver should take it; some do.
    if (argument.type.kind != ArgumentClass::local) return CL_INVALID_ARG_SIZE;
    if (const cl_int error = ask_for_size(index, bytes)) return error;
  }
  const bool replaces = argument.set && argument.kind == wire::ArgumentKind::local;
  local_bytes_ += countable(bytes) - (replaces ? countable(argument.bytes) : 0);
  store(argument, wire::ArgumentKind::local, bytes);
  return CL_SUCCESS;
}

/// The driver decides what size a value may have: it alone knows the program's own types, and some take a
/// float3 in 12 bytes. It is asked once for each size that is not what the type's name says.
cl_int Kernel::ask_for_size(cl_uint index, std::size_t bytes) {
  const auto reply = program_->connection().call(wire::CheckArgumentSize{id_, index, bytes});
  if (!reply) return kSessionLost;
  if (reply->error == CL_SUCCESS) arguments_[index].accepted = bytes;
  return reply->error;
}

cl_int Kernel::set_value(cl_uint index, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes == 0) return CL_INVALID_ARG_SIZE;
  return store_value(index, bytes, value);
}

/// Without the driver's description, a handle of ours is recognised by being one.
cl_int Kernel::set_undescribed(cl_uint index, std::size_t bytes, const void* value) {
  Argument& argument = arguments_[index];
  if (bytes == 0) return CL_INVALID_ARG_SIZE;
  if (value == nullptr) return set_local(index, bytes, value);
  if (bytes == sizeof(cl_mem)) {
    if (const Memory* const memory = find<Memory>(handle_at<cl_mem>(value))) {
      store_object(argument, kind_of(*memory), *memory);
      return CL_SUCCESS;
    }
    if (const Sampler* const sampler = find<Sampler>(handle_at<cl_sampler>(value))) {
      store_object(argument, wire::ArgumentKind::sampler, *sampler);
      return CL_SUCCESS;
    }
  }
  return store_value(index, bytes, value);
}

inline void Kernel::mark_set(Argument& argument) {
  if (argument.set && argument.changed) [[likely]]
    return;
  if (!argument.set) --unset_;
  if (!argument.changed) ++changed_;
  argument.set = true;
  argument.changed = true;
}

// Setting what is set already costs the launch nothing.

inline void Kernel::store(Argument& argument, wire::ArgumentKind kind, std::uint64_t bytes,
                          std::uint64_t position) {
  const bool same = argument.set && argument.kind == kind && argument.bytes == bytes;
  if (same && argument.object == position) return;
  argument.kind = kind;
  argument.bytes = bytes;
  argument.object = position;
  mark_set(argument);
}

template <class Owner>
inline void Kernel::store_object(Argument& argument, wire::ArgumentKind kind, const Owner& owner) {
  const std::uint64_t object = owner.id().raw;
  if (argument.set && argument.kind == kind && argument.object == object) return;
  argument.kind = kind;
  argument.bytes = 0;
  argument.object = object;
  argument.owner = &owner;
  mark_set(argument);
}

inline cl_int Kernel::store_value(cl_uint index, std::size_t bytes, const void* value) {
  Argument& argument = arguments_[index];
  if (bytes != argument.type.bytes && bytes != argument.accepted) [[unlikely]] {
    if (const cl_int error = ask_for_size(index, bytes)) return error;
  }
  const bool same = argument.set && argument.kind == wire::ArgumentKind::value && argument.bytes == bytes &&
                    equal_values(argument.value.data(), value, bytes);
  if (same) return CL_SUCCESS;
  if (argument.value.size() != bytes) [[unlikely]]
    resize_value(argument, bytes);
  copy_value(argument.value.data(), value, bytes);
  argument.kind = wire::ArgumentKind::value;
  argument.bytes = bytes;
  argument.object = 0;
  mark_set(argument);
  return CL_SUCCESS;
}

void Kernel::resize_value(Argument& argument, std::size_t bytes) {
  argument.value.resize(bytes);
}

/// A pool's memory stays readable, but another object may live there by now.
bool Kernel::has_live_object(const Argument& argument) {
  const auto is_alive = [&](const auto& owner) { return owner.alive() && owner.id().raw == argument.object; };
  switch (argument.kind) {
    case wire::ArgumentKind::memory:
    case wire::ArgumentKind::image:
    case wire::ArgumentKind::pipe:
      return is_alive(*static_cast<const Memory*>(argument.owner));
    case wire::ArgumentKind::sampler:
      return is_alive(*static_cast<const Sampler*>(argument.owner));
    default:
      return true;
  }
}

bool Kernel::collect_changes() {
  updates_.clear();
  values_.clear();
  bool complete = true;
  for (std::uint32_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    if (!argument.changed) continue;
    if (!has_live_object(argument)) {
      complete = false;
      continue;
    }
    std::uint64_t position = argument.object;
    if (argument.kind == wire::ArgumentKind::value) {
      position = values_.size();
      values_.insert(values_.end(), argument.value.begin(), argument.value.end());
    }
    updates_.push_back({i, argument.kind, argument.bytes, position});
  }
  return complete;
}

void Kernel::mark_known() {
  for (const wire::ArgumentUpdate& update : updates_) arguments_[update.index].changed = false;
  changed_ -= static_cast<std::uint32_t>(updates_.size());
}

// ---- limits
// ----------------------------------------------------------------------------------------------------

std::optional<KernelLimits> Kernel::fetch_limits(Device& device) {
  KernelLimits limits;
  const DeviceFacts* const facts = device.facts();
  if (facts == nullptr) return std::nullopt;
  limits.executable = program_->is_built_for(device);
  if (!limits.executable) return limits;
  limits.non_uniform_groups = facts->non_uniform_groups && program_->allows_non_uniform_groups();
  limits.max_group_size = facts->max_group_size;
  const wire::InfoReply* const size = raw_group_info(device.index(), CL_KERNEL_WORK_GROUP_SIZE);
  const wire::InfoReply* const required = raw_group_info(device.index(), CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
  if (size == nullptr || required == nullptr) return std::nullopt;
  if (size->value.size() == sizeof(size_t)) {
    std::memcpy(&limits.max_group_size, size->value.data(), sizeof(size_t));
  }
  if (required->value.size() == 3 * sizeof(size_t)) {
    std::memcpy(limits.required_group_size.data(), required->value.data(), 3 * sizeof(size_t));
  }
  // Not remembered as an answer: arguments change it.
  const auto local = program_->connection().call(
      wire::GetKernelWorkGroupInfo{id_, device.index(), CL_KERNEL_LOCAL_MEM_SIZE});
  if (!local) return std::nullopt;
  if (local->value.size() == sizeof(cl_ulong)) {
    std::memcpy(&limits.local_bytes, local->value.data(), sizeof(cl_ulong));
  }
  return limits;
}

Kernel::LaunchShape Kernel::shape_of(const Device& device, const wire::CheckLaunch& question,
                                     std::uint64_t local_bytes) {
  const wire::Extent3& offset = question.global_offset;
  const wire::Extent3& global = question.global_size;
  const wire::Extent3& local = question.local_size;
  const std::uint64_t has =
      question.has_local_size + 2U * question.has_global_offset + 4U * question.has_global_size;
  return {device.index(),
          question.dimensions,
          has,
          offset.x,
          offset.y,
          offset.z,
          global.x,
          global.y,
          global.z,
          local.x,
          local.y,
          local.z,
          local_bytes};
}

cl_int Kernel::ask_for_launch(const Queue& queue, const wire::CheckLaunch& question) {
  const Device& device = queue.device();
  const LaunchShape shape = shape_of(device, question, local_bytes_);
  {
    const std::lock_guard lock(answers_mutex_);
    const auto known = std::find_if(answers_.begin(), answers_.end(),
                                    [&](const Answer& answer) { return answer.shape == shape; });
    if (known != answers_.end()) return known->error;
  }
  {
    const std::lock_guard lock(mutex_);
    if (unset_ != 0) return CL_INVALID_KERNEL_ARGS;
  }
  send_arguments();
  const auto reply = program_->connection().call(question);
  if (!reply) return kSessionLost;
  // The number of a sub-device may come to mean another one.
  if (device.parent() != nullptr) return reply->error;
  const std::lock_guard lock(answers_mutex_);
  if (answers_.size() < kMostAnswers) {
    answers_.push_back({shape, reply->error});
  } else {
    answers_[oldest_answer_++ % kMostAnswers] = {shape, reply->error};
  }
  return reply->error;
}

const KernelLimits* Kernel::limits(Device& device) {
  // Acquire: pairs with the release store below.
  const LimitsOf* known = latest_limits_.load(std::memory_order_acquire);
  if (known != nullptr && known->device == device.index()) [[likely]]
    return &known->limits;
  const std::lock_guard lock(limits_mutex_);
  const auto found = std::find_if(all_limits_.begin(), all_limits_.end(),
                                  [&](const auto& limits) { return limits->device == device.index(); });
  if (found != all_limits_.end()) {
    known = found->get();
  } else {
    const auto limits = fetch_limits(device);
    if (!limits) return nullptr;
    known =
        all_limits_.emplace_back(std::make_unique<const LimitsOf>(LimitsOf{device.index(), *limits})).get();
  }
  latest_limits_.store(known, std::memory_order_release);
  return &known->limits;
}

// ---- queries
// ---------------------------------------------------------------------------------------------------

cl_int Kernel::info(cl_kernel_info param, InfoSink sink) {
  switch (param) {
    case CL_KERNEL_FUNCTION_NAME:
      return sink.string(description_.name);
    case CL_KERNEL_NUM_ARGS:
      return sink.scalar(cl_uint{argument_count_});
    case CL_KERNEL_REFERENCE_COUNT:
      return sink.scalar(cl_uint{references()});
    case CL_KERNEL_CONTEXT:
      return sink.scalar(context().handle());
    case CL_KERNEL_PROGRAM:
      return sink.scalar(program_->handle());
    case CL_KERNEL_ATTRIBUTES:
      return sink.string(description_.attributes);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int Kernel::argument_info(cl_uint index, cl_kernel_arg_info param, InfoSink sink) const {
  if (index >= description_.argument_count) return CL_INVALID_ARG_INDEX;
  // The worker always asks the driver for it; the application must have asked, too.
  if (index >= description_.arguments.size() || !program_->describes_arguments()) {
    return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  }
  const wire::KernelArgument& argument = description_.arguments[index];
  switch (param) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      return sink.scalar(cl_kernel_arg_address_qualifier{argument.address_qualifier});
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      return sink.scalar(cl_kernel_arg_access_qualifier{argument.access_qualifier});
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
      return sink.scalar(cl_kernel_arg_type_qualifier{argument.type_qualifier});
    case CL_KERNEL_ARG_TYPE_NAME:
      return sink.string(argument.type_name);
    case CL_KERNEL_ARG_NAME:
      return sink.string(argument.name);
    default:
      return CL_INVALID_VALUE;
  }
}

const wire::InfoReply* Kernel::raw_group_info(wire::DeviceIndex device, cl_kernel_work_group_info param) {
  return group_info_.get({device, param}, [&] {
    return program_->connection().call(wire::GetKernelWorkGroupInfo{id_, device, param});
  });
}

/// Tells the worker what a launch would tell it.
void Kernel::send_arguments() {
  const std::lock_guard lock(mutex_);
  if (changed_ == 0) return;
  collect_changes();
  if (program_->connection().send(wire::SetKernelArguments{id_, updates_, values_})) mark_known();
}

cl_int Kernel::find_group_info(const Device& device, cl_kernel_work_group_info param, std::size_t size,
                               void* value, std::size_t* size_ret) {
  const InfoSink sink{size, value, size_ret};
  // One answer changes: local memory given as an argument counts. And the number of a sub-device may come to
  // mean another one.
  if (param == CL_KERNEL_LOCAL_MEM_SIZE || device.parent() != nullptr) {
    send_arguments();
    const auto reply = program_->connection().call(wire::GetKernelWorkGroupInfo{id_, device.index(), param});
    return reply ? sink.reply(*reply) : kSessionLost;
  }
  const wire::InfoReply* const reply = raw_group_info(device.index(), param);
  return reply != nullptr ? sink.reply(*reply) : kSessionLost;
}

cl_int Kernel::sub_group_info(const Device& device, cl_kernel_sub_group_info param,
                              std::span<const std::byte> input, InfoSink sink) {
  // What is offered beyond what any query has makes no difference to the answer.
  const std::uint64_t room =
      sink.value == nullptr ? 0 : std::min<std::uint64_t>(sink.size, wire::kLongestSubGroupAnswer);
  const auto known = input.first(std::min<std::size_t>(input.size(), wire::kLongestSubGroupInput));
  const auto reply =
      program_->connection().call(wire::GetKernelSubGroupInfo{id_, device.index(), param, room, known});
  return reply ? sink.reply(*reply) : kSessionLost;
}

}  // namespace fairgv::icd
