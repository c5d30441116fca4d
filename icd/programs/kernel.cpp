#include "icd/programs/kernel.hpp"

#include <algorithm>

namespace fairgv::icd {

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

// ---- limits

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
  // The answer is not remembered, because arguments change it.
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
  // The number of a sub-device may later mean another sub-device.
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
  // The worker always asks the driver for argument info; the application must have asked, too.
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

/// Sends the worker the arguments that a launch would send.
void Kernel::send_arguments() {
  const std::lock_guard lock(mutex_);
  if (changed_ == 0) return;
  collect_changes();
  if (program_->connection().send(wire::SetKernelArguments{id_, updates_, values_})) mark_known();
}

cl_int Kernel::find_group_info(const Device& device, cl_kernel_work_group_info param, std::size_t size,
                               void* value, std::size_t* size_ret) {
  const InfoSink sink{size, value, size_ret};
  // Not remembered: the local memory, because it includes local arguments, and answers for sub-devices,
  // because a sub-device's number may later mean another one.
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
  // Room beyond the largest answer of any query makes no difference.
  const std::uint64_t room =
      sink.value == nullptr ? 0 : std::min<std::uint64_t>(sink.size, wire::kLongestSubGroupAnswer);
  const auto known = input.first(std::min<std::size_t>(input.size(), wire::kLongestSubGroupInput));
  const auto reply =
      program_->connection().call(wire::GetKernelSubGroupInfo{id_, device.index(), param, room, known});
  return reply ? sink.reply(*reply) : kSessionLost;
}

}  // namespace fairgv::icd
