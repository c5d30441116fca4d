#include "runtime/vgpu/opencl/arguments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "runtime/vgpu/opencl/objects.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// Of which sums do not overflow: no device has as much.
constexpr std::uint64_t kMostLocalBytes = std::uint64_t{1} << 47;

/// Makes the argument keep the object that the front end named.
template <class T>
Result<void> take_object(wire::ObjectId id, const ObjectTable<Object>& objects, Argument& argument) {
  FAIRGV_TRY(object, objects.get<T>(id));
  argument.object = std::move(object).value();
  return {};
}

Result<void> take_object(const wire::ArgumentUpdate& update, const ObjectTable<Object>& objects,
                         Argument& argument) {
  const wire::ObjectId id{update.position};
  switch (update.kind) {
    case wire::ArgumentKind::image:
      return take_object<Image>(id, objects, argument);
    case wire::ArgumentKind::sampler:
      return take_object<Sampler>(id, objects, argument);
    case wire::ArgumentKind::pipe:
      return take_object<Pipe>(id, objects, argument);
    default:
      return take_object<Buffer>(id, objects, argument);
  }
}

Result<std::shared_ptr<const Argument>> make_argument(const wire::ArgumentUpdate& update,
                                                      std::span<const std::byte> values,
                                                      const ArgumentSources& sources) {
  auto argument = std::make_shared<Argument>();
  argument->kind = update.kind;
  argument->bytes = update.bytes;
  switch (update.kind) {
    case wire::ArgumentKind::value: {
      if (update.position > values.size() || update.bytes > values.size() - update.position) {
        return Error{fmt::format("the value of argument {} lies outside the message", update.index)};
      }
      const auto value = values.subspan(update.position, update.bytes);
      argument->value.assign(value.begin(), value.end());
      break;
    }
    case wire::ArgumentKind::memory:
    case wire::ArgumentKind::image:
    case wire::ArgumentKind::sampler:
    case wire::ArgumentKind::pipe:
      FAIRGV_CHECK(take_object(update, sources.objects, *argument));
      break;
    case wire::ArgumentKind::svm:
      if (update.position > sources.arena.size()) {
        return Error{fmt::format("argument {} points outside the arena", update.index)};
      }
      argument->address = sources.arena.data() + update.position;
      break;
    case wire::ArgumentKind::null_memory:
    case wire::ArgumentKind::local:
      break;
    default:
      return Error{fmt::format("argument {} is of unknown kind {}", update.index,
                               static_cast<std::uint32_t>(update.kind))};
  }
  return std::shared_ptr<const Argument>(argument);
}

bool is_released(const std::shared_ptr<const Argument>& argument) {
  return argument && argument->object && argument->object->is_released;
}

/// An argument that makes every command that uses it fail.
std::shared_ptr<const Argument> make_gone() {
  auto object = std::make_shared<Buffer>();
  object->error = CL_INVALID_KERNEL_ARGS;
  auto argument = std::make_shared<Argument>();
  argument->kind = wire::ArgumentKind::memory;
  argument->object = std::move(object);
  return argument;
}

/// Computes everything that follows from the arguments.
void settle(ArgumentSet& set) {
  set.error = CL_SUCCESS;
  set.local_bytes = 0;
  for (const auto& argument : set.arguments) {
    if (argument && argument->object && set.error == CL_SUCCESS) set.error = argument->object->error;
    if (argument && argument->kind == wire::ArgumentKind::local)
      set.local_bytes += std::min<std::uint64_t>(argument->bytes, kMostLocalBytes);
  }
}

template <class T>
cl_int set_object(cl_kernel kernel, cl_uint index, const Argument& argument) {
  const auto handle = static_cast<const T&>(*argument.object).handle.get();
  return clSetKernelArg(kernel, index, sizeof(handle), &handle);
}

cl_int set_on_driver(cl_kernel kernel, cl_uint index, const Argument& argument) {
  switch (argument.kind) {
    case wire::ArgumentKind::value:
      return clSetKernelArg(kernel, index, argument.bytes, argument.value.data());
    case wire::ArgumentKind::memory:
      return set_object<Buffer>(kernel, index, argument);
    case wire::ArgumentKind::image:
      return set_object<Image>(kernel, index, argument);
    case wire::ArgumentKind::sampler:
      return set_object<Sampler>(kernel, index, argument);
    case wire::ArgumentKind::pipe:
      return set_object<Pipe>(kernel, index, argument);
    case wire::ArgumentKind::null_memory: {
      const cl_mem none = nullptr;
      return clSetKernelArg(kernel, index, sizeof(none), &none);
    }
    case wire::ArgumentKind::local:
      return clSetKernelArg(kernel, index, argument.bytes, nullptr);
    case wire::ArgumentKind::svm:
      return clSetKernelArgSVMPointer(kernel, index, argument.address);
  }
  return CL_INVALID_ARG_VALUE;
}

}  // namespace

Result<std::shared_ptr<const ArgumentSet>> updated(const ArgumentSet& before,
                                                   std::span<const wire::ArgumentUpdate> updates,
                                                   std::span<const std::byte> values,
                                                   std::span<const Takes> takes,
                                                   const ArgumentSources& sources) {
  auto after = std::make_shared<ArgumentSet>();
  after->arguments = before.arguments;
  after->arguments.resize(takes.size());
  for (const wire::ArgumentUpdate& update : updates) {
    if (update.index >= takes.size()) {
      return Error{fmt::format("argument {} of a kernel that has {}", update.index, takes.size())};
    }
    if (!may_be_given(takes[update.index], update.kind)) {
      return Error{fmt::format("argument {} does not take what is of kind {}", update.index,
                               static_cast<std::uint32_t>(update.kind))};
    }
    FAIRGV_TRY(argument, make_argument(update, values, sources));
    after->arguments[update.index] = std::move(argument).value();
  }
  settle(*after);
  return std::shared_ptr<const ArgumentSet>(after);
}

std::shared_ptr<const ArgumentSet> without_released(const std::shared_ptr<const ArgumentSet>& before) {
  if (std::none_of(before->arguments.begin(), before->arguments.end(), is_released)) return before;
  auto after = std::make_shared<ArgumentSet>(*before);
  std::replace_if(after->arguments.begin(), after->arguments.end(), is_released, make_gone());
  settle(*after);
  return after;
}

void DriverArguments::forget_released() {
  if (std::none_of(by_index_.begin(), by_index_.end(), is_released)) return;
  latest_.reset();
  std::replace_if(by_index_.begin(), by_index_.end(), is_released, nullptr);
}

void Kernel::forget_released_arguments() {
  arguments = without_released(arguments);
  on_driver.forget_released();
  for (Sliced& kernel : sliced) kernel.on_driver.forget_released();
}

cl_int DriverArguments::apply(cl_kernel kernel, const std::shared_ptr<const ArgumentSet>& wanted,
                              std::uint64_t memory_made) {
  if (std::exchange(memory_made_, memory_made) != memory_made) {
    latest_.reset();
    by_index_.clear();
  }
  if (wanted == latest_) return CL_SUCCESS;
  latest_.reset();
  by_index_.resize(wanted->arguments.size());
  for (std::size_t i = 0; i < wanted->arguments.size(); ++i) {
    const auto& argument = wanted->arguments[i];
    if (!argument || argument == by_index_[i]) continue;
    by_index_[i].reset();
    const cl_int error = set_on_driver(kernel, static_cast<cl_uint>(i), *argument);
    if (error != CL_SUCCESS) return error;
    by_index_[i] = argument;
  }
  latest_ = wanted;
  return CL_SUCCESS;
}

}  // namespace fairgv::vgpu::opencl
