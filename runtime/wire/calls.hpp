// Every call of the OpenCL front end, declared once. Both sides use these declarations.
//
// A call is a struct with an explicit opcode, the type of its reply (`void`: one-way, nobody waits), its name
// for logs and traces, and its fields. To add one: declare it here, list it in AllCalls, send it from icd/
// and give the worker a handler (runtime/vgpu/opencl/); tests/unit/wire_calls_test.cpp fails until both sides
// exist.
//
// Rules of the protocol (docs/ARCHITECTURE.md, Wire):
//  - Messages of a session are handled in the order in which they lie in the request ring.
//  - Creating calls are one-way: the front end has already checked the arguments. What fails in the driver
//    nevertheless leaves a "poisoned" object, whose error surfaces in the status of every command that uses
//    it.
//  - Commands (Enqueue*) carry `completion`: the event whose completion slot the worker writes, or 0. The
//  worker
//    writes the slot's times first, then {generation, status} with release, then rings the completion bell.
//  - Status values are OpenCL's: CL_QUEUED 3, CL_SUBMITTED 2, CL_RUNNING 1, CL_COMPLETE 0, negative = error.
//  - ArenaRange fields name bytes of the session's arena. The front end owns the arena: ranges of commands
//  are its
//    to reuse once the command has completed, ranges of other calls once the worker has consumed the record.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

inline constexpr std::uint32_t kProtocolVersion = 1;

using Opcode = std::uint16_t;

/// A request too big for the ring: the payload is one Indirect, naming where in the arena the real message
/// (with this bit cleared from the opcode) lies.
inline constexpr Opcode kIndirectBit = 0x8000;
/// A piece of a reply too big for the response ring; the last piece has the call's own opcode.
inline constexpr Opcode kPartialReply = 0x7FFE;

struct ArenaRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Indirect {
  ArenaRange message;
  FAIRGV_FIELDS(message)
};

struct Extent3 {
  std::uint64_t x = 0, y = 0, z = 0;
};

#define FAIRGV_CALL(Name, number, ReplyType)      \
  static constexpr Opcode opcode = number;        \
  static constexpr std::string_view name = #Name; \
  using Reply = ReplyType;

// ---- replies
// ---------------------------------------------------------------------------------------------------

struct Empty {
  std::uint32_t unused = 0;
  FAIRGV_FIELDS(unused)
};

/// Answer of every query: `error` is a CL code; `value` is what the driver would have written.
struct InfoReply {
  std::int32_t error = 0;
  std::vector<std::byte> value;
  FAIRGV_FIELDS(error, value)
};

struct DeviceEntry {
  PlatformIndex platform = 0;
  std::uint64_t type = 0;  // cl_device_type
  FAIRGV_FIELDS(platform, type)
};

struct TopologyReply {
  std::uint32_t platform_count = 0;
  std::vector<DeviceEntry> devices;  // in the driver's order; DeviceIndex is the position here
  /// The worker has the segment where it was wanted (ring::Segment::at_wanted_address).
  std::uint8_t at_wanted_address = 0;
  FAIRGV_FIELDS(platform_count, devices, at_wanted_address)
};

/// Answer of a call that may fail in an honest program and has nothing else to tell: a CL code.
struct StatusReply {
  std::int32_t error = 0;
  FAIRGV_FIELDS(error)
};

struct BinaryReply {
  std::int32_t error = 0;
  std::vector<std::int32_t> statuses;  // one per device
  FAIRGV_FIELDS(error, statuses)
};

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

/// Answer of a call that only succeeds or fails.
struct ErrorReply {
  std::int32_t error = 0;  // a CL code
  FAIRGV_FIELDS(error)
};

struct SubDevicesReply {
  std::int32_t error = 0;
  std::uint32_t count = 0;           // how many the partition makes
  std::vector<DeviceIndex> devices;  // as many, or none if they were only counted
  FAIRGV_FIELDS(error, count, devices)
};

struct DevicesReply {
  std::int32_t error = 0;
  std::vector<DeviceIndex> devices;
  FAIRGV_FIELDS(error, devices)
};

struct TimersReply {
  std::int32_t error = 0;
  std::uint64_t device = 0, host = 0;  // nanoseconds of the driver's clocks
  FAIRGV_FIELDS(error, device, host)
};

// ---- session
// ---------------------------------------------------------------------------------------------------

/// Does nothing and answers: the null call of the benchmarks, and a fence for tests.
struct Ping {
  FAIRGV_CALL(Ping, 0x0001, Empty)
  std::uint64_t value = 0;
  FAIRGV_FIELDS(value)
};

/// Platforms and devices of the worker's driver(s), fetched once per session.
struct GetTopology {
  FAIRGV_CALL(GetTopology, 0x0002, TopologyReply)
  std::uint32_t unused = 0;
  FAIRGV_FIELDS(unused)
};

struct GetPlatformInfo {
  FAIRGV_CALL(GetPlatformInfo, 0x0003, InfoReply)
  PlatformIndex platform = 0;
  std::uint32_t param = 0;
  FAIRGV_FIELDS(platform, param)
};

struct GetDeviceInfo {
  FAIRGV_CALL(GetDeviceInfo, 0x0004, InfoReply)
  DeviceIndex device = 0;
  std::uint32_t param = 0;
  FAIRGV_FIELDS(device, param)
};

/// The front end's reference count of the object reached zero. The worker drops its reference; commands under
/// way keep what they need.
struct ReleaseObject {
  FAIRGV_CALL(ReleaseObject, 0x0005, void)
  ObjectId id;
  FAIRGV_FIELDS(id)
};

/// Splits a device. The worker gives each new sub-device an index, which is as good as one of the topology
/// in every call until ReleaseSubDevice.
struct CreateSubDevices {
  FAIRGV_CALL(CreateSubDevices, 0x0010, SubDevicesReply)
  DeviceIndex device = 0;
  std::uint8_t only_count = 0;
  std::span<const std::int64_t> properties;  // cl_device_partition_property, with the final 0
  FAIRGV_FIELDS(device, only_count, properties)
};

/// The front end is done with a sub-device; its index may be given to another one.
struct ReleaseSubDevice {
  FAIRGV_CALL(ReleaseSubDevice, 0x0011, void)
  DeviceIndex device = 0;
  FAIRGV_FIELDS(device)
};

/// The driver's clocks: the host's, and the device's as well if it is asked for.
struct GetTimers {
  FAIRGV_CALL(GetTimers, 0x0012, TimersReply)
  DeviceIndex device = 0;
  std::uint8_t only_host = 0;
  FAIRGV_FIELDS(device, only_host)
};

// ---- contexts and queues
// ---------------------------------------------------------------------------------------

struct CreateContext {
  FAIRGV_CALL(CreateContext, 0x0100, void)
  ObjectId id;
  std::span<const DeviceIndex> devices;  // all of one platform, at least one
  FAIRGV_FIELDS(id, devices)
};

struct CreateQueue {
  FAIRGV_CALL(CreateQueue, 0x0200, void)
  ObjectId id;
  ObjectId context;
  DeviceIndex device = 0;
  std::uint64_t properties = 0;  // cl_command_queue_properties
  FAIRGV_FIELDS(id, context, device, properties)
};

/// Hands everything enqueued so far to the device as soon as it may run.
struct FlushQueue {
  FAIRGV_CALL(FlushQueue, 0x0201, void)
  ObjectId queue;
  FAIRGV_FIELDS(queue)
};

// ---- memory
// ----------------------------------------------------------------------------------------------------

struct CreateBuffer {
  FAIRGV_CALL(CreateBuffer, 0x0300, void)
  ObjectId id;
  ObjectId context;
  std::uint64_t flags = 0;  // cl_mem_flags, without the *_HOST_PTR bits, which the front end resolves
  std::uint64_t bytes = 0;
  ArenaRange initial;  // initial contents, or bytes == 0
  /// Where in the arena the buffer lies, on devices that share memory with the host, or bytes == 0. The range
  /// is the front end's again when `retired` has ended: the buffer and all that used it are gone. Without
  /// such an event the front end keeps the range by other means (a buffer in shared virtual memory).
  ArenaRange backing = {};
  EventId retired = {};
  FAIRGV_FIELDS(id, context, flags, bytes, initial, backing, retired)
};

struct CreateSubBuffer {
  FAIRGV_CALL(CreateSubBuffer, 0x0301, void)
  ObjectId id;
  ObjectId parent;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(id, parent, flags, origin, bytes)
};

// ---- images, samplers, pipes
// -----------------------------------------------------------------------------------

/// A cl_image_format and what of a cl_image_desc the worker needs. Contents travel without gaps, so only an
/// image that lies in another memory object has a row pitch of its own.
struct ImageDescription {
  std::uint32_t channel_order = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t type = 0;  // cl_mem_object_type
  std::uint64_t width = 0, height = 0, depth = 0, array_size = 0;
  std::uint64_t row_pitch = 0;  // bytes, or 0
  FAIRGV_FIELDS(channel_order, channel_type, type, width, height, depth, array_size, row_pitch)
};

/// The driver's cl_image_format array.
struct GetSupportedImageFormats {
  FAIRGV_CALL(GetSupportedImageFormats, 0x0310, InfoReply)
  ObjectId context;
  std::uint64_t flags = 0;  // cl_mem_flags
  std::uint32_t type = 0;   // cl_mem_object_type
  FAIRGV_FIELDS(context, flags, type)
};

struct CreateImage {
  FAIRGV_CALL(CreateImage, 0x0311, void)
  ObjectId id;
  ObjectId context;
  std::uint64_t flags = 0;  // as in CreateBuffer
  ImageDescription description;
  ArenaRange initial;  // initial contents, or bytes == 0
  FAIRGV_FIELDS(id, context, flags, description, initial)
};

/// Whether it was made. If not, the id names a poisoned image, which the front end releases.
struct ImageReply {
  std::int32_t error = 0;
  FAIRGV_FIELDS(error)
};

/// An image in the memory of a buffer or of another image. Which ones a driver takes only it knows.
struct CreateImageFromMemory {
  FAIRGV_CALL(CreateImageFromMemory, 0x0312, ImageReply)
  ObjectId id;
  ObjectId memory;
  std::uint64_t flags = 0;
  ImageDescription description;
  FAIRGV_FIELDS(id, memory, flags, description)
};

struct CreateSampler {
  FAIRGV_CALL(CreateSampler, 0x0313, void)
  ObjectId id;
  ObjectId context;
  std::uint32_t normalized_coordinates = 0;  // cl_bool
  std::uint32_t addressing_mode = 0;         // cl_addressing_mode
  std::uint32_t filter_mode = 0;             // cl_filter_mode
  FAIRGV_FIELDS(id, context, normalized_coordinates, addressing_mode, filter_mode)
};

struct CreatePipe {
  FAIRGV_CALL(CreatePipe, 0x0314, void)
  ObjectId id;
  ObjectId context;
  std::uint64_t flags = 0;
  std::uint32_t packet_bytes = 0;
  std::uint32_t max_packets = 0;
  FAIRGV_FIELDS(id, context, flags, packet_bytes, max_packets)
};

// ---- programs and kernels
// --------------------------------------------------------------------------------------

struct CreateProgramWithSource {
  FAIRGV_CALL(CreateProgramWithSource, 0x0400, void)
  ObjectId id;
  ObjectId context;
  std::string_view source;
  FAIRGV_FIELDS(id, context, source)
};

struct CreateProgramWithBinary {
  FAIRGV_CALL(CreateProgramWithBinary, 0x0401, BinaryReply)
  ObjectId id;
  ObjectId context;
  std::span<const DeviceIndex> devices;
  std::span<const std::uint64_t> sizes;  // one per device
  std::span<const std::byte> binaries;   // one after the other
  FAIRGV_FIELDS(id, context, devices, sizes, binaries)
};

/// Builds on the worker's slow lane, so that other threads' calls go on. `completion` ends with CL_COMPLETE
/// or the error that clBuildProgram returns.
struct BuildProgram {
  FAIRGV_CALL(BuildProgram, 0x0402, void)
  ObjectId program;
  std::span<const DeviceIndex> devices;  // empty: all of the program's
  std::string_view options;
  std::string_view directory;  // the application's working directory, for relative -I
  EventId completion;
  FAIRGV_FIELDS(program, devices, options, directory, completion)
};

struct GetProgramBuildInfo {
  FAIRGV_CALL(GetProgramBuildInfo, 0x0403, InfoReply)
  ObjectId program;
  DeviceIndex device = 0;
  std::uint32_t param = 0;
  FAIRGV_FIELDS(program, device, param)
};

/// CL_PROGRAM_BINARIES answers with the binaries one after the other (sizes: CL_PROGRAM_BINARY_SIZES).
struct GetProgramInfo {
  FAIRGV_CALL(GetProgramInfo, 0x0404, InfoReply)
  ObjectId program;
  std::uint32_t param = 0;
  FAIRGV_FIELDS(program, param)
};

/// Names, arguments and attributes of all kernels of a built program, fetched once per build.
struct DescribeKernels {
  FAIRGV_CALL(DescribeKernels, 0x0405, KernelsReply)
  ObjectId program;
  FAIRGV_FIELDS(program)
};

/// A program that is compiled against has its source under `name` for #include.
struct Header {
  ObjectId program;
  std::string name;
  FAIRGV_FIELDS(program, name)
};

/// clCompileProgram; runs and ends as BuildProgram does.
struct CompileProgram {
  FAIRGV_CALL(CompileProgram, 0x0410, void)
  ObjectId program;
  std::span<const DeviceIndex> devices;  // empty: all of the program's
  std::string_view options;
  std::string_view directory;
  std::vector<Header> headers;
  EventId completion;
  FAIRGV_FIELDS(program, devices, options, directory, headers, completion)
};

/// clLinkProgram: makes the program `id`; runs and ends as BuildProgram does. The program is poisoned until
/// then, and if the driver makes none.
struct LinkProgram {
  FAIRGV_CALL(LinkProgram, 0x0411, void)
  ObjectId id;
  ObjectId context;
  std::span<const DeviceIndex> devices;  // empty: all of the context's
  std::string_view options;
  std::span<const ObjectId> inputs;
  EventId completion;
  FAIRGV_FIELDS(id, context, devices, options, inputs, completion)
};

struct CreateProgramWithIl {
  FAIRGV_CALL(CreateProgramWithIl, 0x0412, ErrorReply)
  ObjectId id;
  ObjectId context;
  std::span<const std::byte> il;
  FAIRGV_FIELDS(id, context, il)
};

struct SetSpecializationConstant {
  FAIRGV_CALL(SetSpecializationConstant, 0x0413, ErrorReply)
  ObjectId program;
  std::uint32_t constant = 0;
  std::span<const std::byte> value;
  FAIRGV_FIELDS(program, constant, value)
};

struct CreateProgramWithBuiltInKernels {
  FAIRGV_CALL(CreateProgramWithBuiltInKernels, 0x0414, ErrorReply)
  ObjectId id;
  ObjectId context;
  std::span<const DeviceIndex> devices;
  std::string_view names;  // separated by semicolons
  FAIRGV_FIELDS(id, context, devices, names)
};

/// The devices that the driver associates with a program: for sub-devices, some drivers name their roots.
struct GetProgramDevices {
  FAIRGV_CALL(GetProgramDevices, 0x0415, DevicesReply)
  ObjectId program;
  FAIRGV_FIELDS(program)
};

struct CreateKernel {
  FAIRGV_CALL(CreateKernel, 0x0500, void)
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

struct GetKernelSubGroupInfo {
  FAIRGV_CALL(GetKernelSubGroupInfo, 0x0503, InfoReply)
  ObjectId kernel;
  DeviceIndex device = 0;
  std::uint32_t param = 0;
  std::uint64_t output_bytes =
      0;  // the size the application offers for the answer; some parameters depend on it
  std::span<const std::byte> input;
  FAIRGV_FIELDS(kernel, device, param, output_bytes, input)
};

/// Whether the driver takes so many bytes as the value of an argument: CL_SUCCESS or clSetKernelArg's error.
struct CheckArgumentSize {
  FAIRGV_CALL(CheckArgumentSize, 0x0510, ErrorReply)
  ObjectId kernel;
  std::uint32_t index = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(kernel, index, bytes)
};

// ---- commands
// --------------------------------------------------------------------------------------------------

/// What every command has. On a queue with profiling, `completion` also receives the times.
struct Command {
  ObjectId queue;
  EventId completion;
  std::span<const EventId> wait_list;
  FAIRGV_FIELDS(queue, completion, wait_list)
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

/// What a launch would say of the kernel's arguments, without one: for queries that depend on them.
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

/// Buffer to arena. Also what a map that keeps the contents does.
struct EnqueueReadBuffer {
  FAIRGV_CALL(EnqueueReadBuffer, 0x0601, void)
  Command command;
  ObjectId buffer;
  std::uint64_t offset = 0;
  ArenaRange to;
  FAIRGV_FIELDS(command, buffer, offset, to)
};

/// Arena to buffer. Also what unmapping a written region does.
struct EnqueueWriteBuffer {
  FAIRGV_CALL(EnqueueWriteBuffer, 0x0602, void)
  Command command;
  ObjectId buffer;
  std::uint64_t offset = 0;
  ArenaRange from;
  FAIRGV_FIELDS(command, buffer, offset, from)
};

/// Rectangle of a buffer to the arena, where it lies without gaps (region.x * region.y * region.z bytes).
struct EnqueueReadBufferRect {
  FAIRGV_CALL(EnqueueReadBufferRect, 0x0603, void)
  Command command;
  ObjectId buffer;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange to;
  FAIRGV_FIELDS(command, buffer, origin, region, row_pitch, slice_pitch, to)
};

struct EnqueueWriteBufferRect {
  FAIRGV_CALL(EnqueueWriteBufferRect, 0x0604, void)
  Command command;
  ObjectId buffer;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange from;
  FAIRGV_FIELDS(command, buffer, origin, region, row_pitch, slice_pitch, from)
};

struct EnqueueCopyBuffer {
  FAIRGV_CALL(EnqueueCopyBuffer, 0x0605, void)
  Command command;
  ObjectId source, destination;
  std::uint64_t source_offset = 0, destination_offset = 0, bytes = 0;
  FAIRGV_FIELDS(command, source, destination, source_offset, destination_offset, bytes)
};

struct EnqueueCopyBufferRect {
  FAIRGV_CALL(EnqueueCopyBufferRect, 0x0606, void)
  Command command;
  ObjectId source, destination;
  Extent3 source_origin, destination_origin, region;
  std::uint64_t source_row_pitch = 0, source_slice_pitch = 0;
  std::uint64_t destination_row_pitch = 0, destination_slice_pitch = 0;
  FAIRGV_FIELDS(command, source, destination, source_origin, destination_origin, region, source_row_pitch,
                source_slice_pitch, destination_row_pitch, destination_slice_pitch)
};

struct EnqueueFillBuffer {
  FAIRGV_CALL(EnqueueFillBuffer, 0x0607, void)
  Command command;
  ObjectId buffer;
  std::uint64_t offset = 0, bytes = 0;
  std::span<const std::byte> pattern;
  FAIRGV_FIELDS(command, buffer, offset, bytes, pattern)
};

/// A box of an image to the arena. `origin` and `region` are in elements, in the driver's coordinates;
/// pitches are those in the arena, 0: no gaps. Also what a map that keeps the contents does.
struct EnqueueReadImage {
  FAIRGV_CALL(EnqueueReadImage, 0x0610, void)
  Command command;
  ObjectId image;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange to;
  FAIRGV_FIELDS(command, image, origin, region, row_pitch, slice_pitch, to)
};

struct EnqueueWriteImage {
  FAIRGV_CALL(EnqueueWriteImage, 0x0611, void)
  Command command;
  ObjectId image;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange from;
  FAIRGV_FIELDS(command, image, origin, region, row_pitch, slice_pitch, from)
};

struct EnqueueCopyImage {
  FAIRGV_CALL(EnqueueCopyImage, 0x0612, void)
  Command command;
  ObjectId source, destination;
  Extent3 source_origin, destination_origin, region;
  FAIRGV_FIELDS(command, source, destination, source_origin, destination_origin, region)
};

struct EnqueueCopyImageToBuffer {
  FAIRGV_CALL(EnqueueCopyImageToBuffer, 0x0613, void)
  Command command;
  ObjectId image, buffer;
  Extent3 origin, region;
  std::uint64_t offset = 0;  // in the buffer
  FAIRGV_FIELDS(command, image, buffer, origin, region, offset)
};

struct EnqueueCopyBufferToImage {
  FAIRGV_CALL(EnqueueCopyBufferToImage, 0x0614, void)
  Command command;
  ObjectId buffer, image;
  Extent3 origin, region;
  std::uint64_t offset = 0;  // in the buffer
  FAIRGV_FIELDS(command, buffer, image, origin, region, offset)
};

struct EnqueueFillImage {
  FAIRGV_CALL(EnqueueFillImage, 0x0615, void)
  Command command;
  ObjectId image;
  Extent3 origin, region;
  std::array<std::uint32_t, 4> color{};  // four numbers of the kind that the format asks for
  FAIRGV_FIELDS(command, image, origin, region, color)
};

/// Completes when its wait list has, or, with an empty one, when every earlier command of the queue has.
/// clFinish is a marker that its caller waits for. Never reaches the driver.
struct EnqueueMarker {
  FAIRGV_CALL(EnqueueMarker, 0x0608, void)
  Command command;
  FAIRGV_FIELDS(command)
};

/// As a marker; later commands of the queue also wait for it.
struct EnqueueBarrier {
  FAIRGV_CALL(EnqueueBarrier, 0x0609, void)
  Command command;
  FAIRGV_FIELDS(command)
};

/// Takes a command's place among the others and does nothing: a launch of no work-items, a map of memory that
/// the front end may touch anyway. Never reaches the driver.
struct EnqueueNothing {
  FAIRGV_CALL(EnqueueNothing, 0x0512, void)
  Command command;
  FAIRGV_FIELDS(command)
};

/// The front end's own access to a buffer that lies in the arena. Never reaches the driver and needs no turn;
/// it depends on others as any command does. When all of that has ended, its slot says
/// CL_RUNNING: the front end may touch the buffer until it sends EndAccess.
struct EnqueueAccess {
  FAIRGV_CALL(EnqueueAccess, 0x0630, void)
  Command command;
  ObjectId buffer;
  FAIRGV_FIELDS(command, buffer)
};

/// Ends an access that was granted.
struct EndAccess {
  FAIRGV_CALL(EndAccess, 0x0631, void)
  EventId access;
  FAIRGV_FIELDS(access)
};

/// Work of the front end's that uses no buffer of the worker's: releasing shared virtual memory, copying within
/// the host's. Otherwise as an access, which EndAccess ends.
struct EnqueueHostWork {
  FAIRGV_CALL(EnqueueHostWork, 0x0638, void)
  Command command;
  FAIRGV_FIELDS(command)
};

// ---- events
// ----------------------------------------------------------------------------------------------------

struct CreateUserEvent {
  FAIRGV_CALL(CreateUserEvent, 0x0700, void)
  EventId event;
  FAIRGV_FIELDS(event)
};

struct SetUserEventStatus {
  FAIRGV_CALL(SetUserEventStatus, 0x0701, void)
  EventId event;
  std::int32_t status = 0;  // CL_COMPLETE or negative
  FAIRGV_FIELDS(event, status)
};

/// Asks for one EventReached notice when the event's status is `status` or lower (further on, or an error).
struct WatchEvent {
  FAIRGV_CALL(WatchEvent, 0x0702, void)
  EventId event;
  std::int32_t status = 0;
  FAIRGV_FIELDS(event, status)
};

/// The front end no longer looks at the event's slot; after this the worker no longer writes it.
struct ReleaseEvent {
  FAIRGV_CALL(ReleaseEvent, 0x0703, void)
  EventId event;
  FAIRGV_FIELDS(event)
};

// ---- command buffers (cl_khr_command_buffer)
// -----------------------------------------------------------------------

/// `flags`: cl_command_buffer_flags_khr. The front end keeps to them by itself; the worker may tell the
/// driver of more.
struct CreateCommandBuffer {
  FAIRGV_CALL(CreateCommandBuffer, 0x0900, void)
  ObjectId id;
  ObjectId queue;
  std::uint64_t flags = 0;
  FAIRGV_FIELDS(id, queue, flags)
};

/// What every recorded command has. Commands are numbered from 1 in the order in which they were recorded:
/// that number is the command's sync point.
struct Recording {
  ObjectId command_buffer;
  std::span<const std::uint32_t> wait_list;
  FAIRGV_FIELDS(command_buffer, wait_list)
};

// A recorded command says what to do as the enqueued one does; the Command in it is not looked at.

struct RecordBarrier {
  FAIRGV_CALL(RecordBarrier, 0x0901, void)
  Recording recording;
  FAIRGV_FIELDS(recording)
};

struct RecordCopyBuffer {
  FAIRGV_CALL(RecordCopyBuffer, 0x0902, void)
  Recording recording;
  EnqueueCopyBuffer copy;
  FAIRGV_FIELDS(recording, copy)
};

struct RecordCopyBufferRect {
  FAIRGV_CALL(RecordCopyBufferRect, 0x0903, void)
  Recording recording;
  EnqueueCopyBufferRect copy;
  FAIRGV_FIELDS(recording, copy)
};

struct RecordFillBuffer {
  FAIRGV_CALL(RecordFillBuffer, 0x0904, void)
  Recording recording;
  EnqueueFillBuffer fill;
  FAIRGV_FIELDS(recording, fill)
};

struct RecordKernel {
  FAIRGV_CALL(RecordKernel, 0x0905, void)
  Recording recording;
  EnqueueKernel launch;
  FAIRGV_FIELDS(recording, launch)
};

// Commands on images: the driver checks formats and regions, and its answer is waited for. A command that it
// refused is not recorded.

struct RecordCopyBufferToImage {
  FAIRGV_CALL(RecordCopyBufferToImage, 0x0906, StatusReply)
  Recording recording;
  ObjectId buffer, image;
  std::uint64_t offset = 0;
  Extent3 origin, region;
  FAIRGV_FIELDS(recording, buffer, image, offset, origin, region)
};

struct RecordCopyImage {
  FAIRGV_CALL(RecordCopyImage, 0x0907, StatusReply)
  Recording recording;
  ObjectId source, destination;
  Extent3 source_origin, destination_origin, region;
  FAIRGV_FIELDS(recording, source, destination, source_origin, destination_origin, region)
};

struct RecordCopyImageToBuffer {
  FAIRGV_CALL(RecordCopyImageToBuffer, 0x0908, StatusReply)
  Recording recording;
  ObjectId image, buffer;
  Extent3 origin, region;
  std::uint64_t offset = 0;
  FAIRGV_FIELDS(recording, image, buffer, origin, region, offset)
};

struct RecordFillImage {
  FAIRGV_CALL(RecordFillImage, 0x0909, StatusReply)
  Recording recording;
  ObjectId image;
  std::array<std::uint32_t, 4>
      color{};  // four floats, or integers: 16 bytes, as clEnqueueFillImage takes them
  Extent3 origin, region;
  FAIRGV_FIELDS(recording, image, color, origin, region)
};

/// Answers with the driver's own code, or with the first error of a command that it refused to record.
struct FinalizeCommandBuffer {
  FAIRGV_CALL(FinalizeCommandBuffer, 0x090A, StatusReply)
  ObjectId command_buffer;
  FAIRGV_FIELDS(command_buffer)
};

/// Runs everything recorded, as one command of the queue.
struct EnqueueCommandBuffer {
  FAIRGV_CALL(EnqueueCommandBuffer, 0x090B, void)
  Command command;
  ObjectId command_buffer;
  FAIRGV_FIELDS(command, command_buffer)
};

// ---- extension functions (runtime/wire/extension_signatures.hpp)
// -----------------------------------------------------------------------

/// Whether the platform's driver has a function of that name: CL_SUCCESS or CL_INVALID_VALUE.
struct FindExtensionFunction {
  FAIRGV_CALL(FindExtensionFunction, 0x0980, StatusReply)
  PlatformIndex platform = 0;
  std::string_view function;
  FAIRGV_FIELDS(platform, function)
};

struct ExtensionReply {
  std::uint64_t returned = 0;      // as the signature's ReturnKind reads it
  std::vector<std::byte> outputs;  // the contents of the out-arguments, one after the other
  FAIRGV_FIELDS(returned, outputs)
};

/// Calls a function of the table of signatures. `scalars` has one element for each argument: the number, the
/// raw ObjectId or the DeviceIndex + 1 of a handle (0: null), 1 or 0 for a pointer that is there or is null.
/// `contents` has what the pointers that are there lead to, one after the other: also what the out-arguments
/// hold before the call, so that what the driver does not write stays as it is.
struct CallExtension {
  FAIRGV_CALL(CallExtension, 0x0981, ExtensionReply)
  PlatformIndex platform = 0;
  std::string_view function;
  std::span<const std::uint64_t> scalars;
  std::span<const std::byte> contents;
  FAIRGV_FIELDS(platform, function, scalars, contents)
};

// ---- notices (worker to front end, on the notice ring)
// -----------------------------------------------------------

struct EventReached {
  FAIRGV_CALL(EventReached, 0x0800, void)
  EventId event;
  std::int32_t watched = 0;  // the status that was asked for
  std::int32_t status = 0;   // the status that was reached
  FAIRGV_FIELDS(event, watched, status)
};

#undef FAIRGV_CALL

template <class... T>
struct TypeList {};

/// Requests, front end to worker.
using AllCalls = TypeList<
    Ping, GetTopology, GetPlatformInfo, GetDeviceInfo, ReleaseObject, CreateContext, CreateQueue, FlushQueue,
    CreateBuffer, CreateSubBuffer, CreateProgramWithSource, CreateProgramWithBinary, BuildProgram,
    GetProgramBuildInfo, GetProgramInfo, DescribeKernels, CreateKernel, GetKernelWorkGroupInfo,
    GetKernelSubGroupInfo, EnqueueKernel, EnqueueReadBuffer, EnqueueWriteBuffer, EnqueueReadBufferRect,
    EnqueueWriteBufferRect, EnqueueCopyBuffer, EnqueueCopyBufferRect, EnqueueFillBuffer, EnqueueMarker,
    EnqueueBarrier, EnqueueAccess, EndAccess, EnqueueHostWork, CreateUserEvent, SetUserEventStatus, WatchEvent, ReleaseEvent,
    // images, samplers, pipes
    GetSupportedImageFormats, CreateImage, CreateImageFromMemory, CreateSampler, CreatePipe, EnqueueReadImage,
    EnqueueWriteImage, EnqueueCopyImage, EnqueueCopyImageToBuffer, EnqueueCopyBufferToImage, EnqueueFillImage,
    // devices, programs, kernels
    CreateSubDevices, ReleaseSubDevice, GetTimers, CompileProgram, LinkProgram, CreateProgramWithIl,
    SetSpecializationConstant, CreateProgramWithBuiltInKernels, GetProgramDevices, CheckArgumentSize,
    SetKernelArguments, EnqueueNothing,
    // extensions
    CreateCommandBuffer, RecordBarrier, RecordCopyBuffer, RecordCopyBufferRect, RecordFillBuffer,
    RecordKernel, RecordCopyBufferToImage, RecordCopyImage, RecordCopyImageToBuffer, RecordFillImage,
    FinalizeCommandBuffer, EnqueueCommandBuffer, FindExtensionFunction, CallExtension>;

/// Notices, worker to front end.
using AllNotices = TypeList<EventReached>;

}  // namespace fairgv::wire
