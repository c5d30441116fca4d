// Kernels: described, made, given arguments, launched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

struct KernelArgument {
  std::uint32_t address_qualifier = 0;  // CL_KERNEL_ARG_ADDRESS_*
  std::uint32_t access_qualifier = 0;   // CL_KERNEL_ARG_ACCESS_*
  std::uint64_t type_qualifier = 0;     // CL_KERNEL_ARG_TYPE_*
  std::string type_name;
  std::string name;
  FAIRGV_FIELDS(address_qualifier, access_qualifier, type_qualifier, type_name, name)
};

struct KernelDescription {
  std::string name;
  std::string attributes;
  std::uint32_t argument_count = 0;
  /// False when the driver has no CL_KERNEL_ARG_* information; `arguments` is then empty.
  std::uint8_t has_argument_info = 0;
  std::vector<KernelArgument> arguments;
  FAIRGV_FIELDS(name, attributes, argument_count, has_argument_info, arguments)
};

struct KernelsReply {
  std::int32_t error = 0;
  std::vector<KernelDescription> kernels;
  FAIRGV_FIELDS(error, kernels)
};

/// Names, arguments and attributes of all kernels of a built program, fetched once per build.
struct DescribeKernels {
  FAIRGV_CALL(DescribeKernels, 0x0405, KernelsReply)
  ObjectId program;
  FAIRGV_FIELDS(program)
};

struct CreateKernel {
  FAIRGV_CALL(CreateKernel, 0x0500, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId program;
  std::string_view kernel;  // its name
  FAIRGV_FIELDS(id, program, kernel)
};

struct GetKernelWorkGroupInfo {
  FAIRGV_CALL(GetKernelWorkGroupInfo, 0x0502, InfoReply)
  ObjectId kernel;
  DeviceIndex device = 0;
  std::uint32_t param = 0;
  FAIRGV_FIELDS(kernel, device, param)
};

/// The most room that is offered for a sub-group query's answer, and the longest input: far more than any
/// query has, so that an application which offers more gets the same answer.
inline constexpr std::uint64_t kLongestSubGroupAnswer = 4096;
inline constexpr std::uint64_t kLongestSubGroupInput = 64;

struct GetKernelSubGroupInfo {
  FAIRGV_CALL(GetKernelSubGroupInfo, 0x0503, InfoReply)
  ObjectId kernel;
  DeviceIndex device = 0;
  std::uint32_t param = 0;
  /// The size the application offers for the answer, on which some parameters depend; at most
  /// kLongestSubGroupAnswer.
  std::uint64_t output_bytes = 0;
  std::span<const std::byte> input;
  FAIRGV_FIELDS(kernel, device, param, output_bytes, input)
};

/// Whether the driver takes so many bytes as the value of an argument, or none as an argument's local memory:
/// CL_SUCCESS or clSetKernelArg's error.
struct CheckArgumentSize {
  FAIRGV_CALL(CheckArgumentSize, 0x0510, StatusReply)
  ObjectId kernel;
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(kernel, index, bytes)
};

enum class ArgumentKind : std::uint32_t {
  value = 0,   // `bytes` bytes of EnqueueKernel::values, at `position`
  memory = 1,  // `position` is the raw ObjectId of a buffer
  null_memory = 2,
  local = 3,  // `bytes` bytes of local memory
  image = 4,  // as `memory`, for an image, a sampler, a pipe
  sampler = 5,
  pipe = 6,
  svm = 7,  // the pointer that leads to byte `position` of the arena
};

/// An argument that changed since the kernel was last enqueued (all that were set, at the first time).
struct ArgumentUpdate {
  std::uint32_t index = 0;
  ArgumentKind kind = ArgumentKind::value;
  std::uint64_t bytes = 0;
  std::uint64_t position = 0;
};

/// The object that an argument names, or none.
constexpr ObjectId object_named_in(const ArgumentUpdate& update) {
  switch (update.kind) {
    case ArgumentKind::memory:
    case ArgumentKind::image:
    case ArgumentKind::sampler:
    case ArgumentKind::pipe:
      return ObjectId{update.position};
    default:
      return {};
  }
}

/// Sets the kernel's arguments as a launch would, without a launch: for queries that depend on them.
struct SetKernelArguments {
  FAIRGV_CALL(SetKernelArguments, 0x0511, void)
  ObjectId kernel;
  std::span<const ArgumentUpdate> updates;
  std::span<const std::byte> values;
  FAIRGV_FIELDS(kernel, updates, values)
};

struct EnqueueKernel {
  FAIRGV_CALL(EnqueueKernel, 0x0600, void)
  Command command;
  ObjectId kernel;
  std::uint32_t dimensions = 0;     // 1..3
  std::uint8_t has_local_size = 0;  // 0: the driver chooses
  std::uint8_t has_global_offset = 0;
  Extent3 global_offset, global_size, local_size;
  std::span<const ArgumentUpdate> updates;
  std::span<const std::byte> values;
  FAIRGV_FIELDS(command, kernel, dimensions, has_local_size, has_global_offset, global_offset, global_size,
                local_size, updates, values)
};

/// Whether the driver takes a launch, with the arguments that the kernel has in the worker by now
/// (SetKernelArguments): CL_SUCCESS or clEnqueueNDRangeKernel's error. Nothing runs. Asked before a launch
/// that the specification leaves to the driver; launches whose shape no driver may refuse go without.
struct CheckLaunch {
  FAIRGV_CALL(CheckLaunch, 0x0513, StatusReply)
  ObjectId queue;
  ObjectId kernel;
  std::uint32_t dimensions = 0;  // 1..3
  std::uint8_t has_local_size = 0;
  std::uint8_t has_global_offset = 0;
  std::uint8_t has_global_size = 0;
  Extent3 global_offset, global_size, local_size;
  FAIRGV_FIELDS(queue, kernel, dimensions, has_local_size, has_global_offset, has_global_size, global_offset,
                global_size, local_size)
};

using KernelCalls = TypeList<DescribeKernels, CreateKernel, GetKernelWorkGroupInfo, GetKernelSubGroupInfo,
                             CheckArgumentSize, SetKernelArguments, EnqueueKernel, CheckLaunch>;

}  // namespace fairgv::wire
