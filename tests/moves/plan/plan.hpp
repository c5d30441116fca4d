// A random OpenCL program as a list of steps. A plan is data: it follows from a seed and from what the device
// can do, and says nothing of results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tests/moves/plan/commands.hpp"

namespace fairgv::moves {

/// The capabilities that a plan may use.
struct Capabilities {
  std::size_t devices = 1;
  bool images = false;
  bool svm = false;  // coarse-grained, at least
  bool command_buffers = false;
  bool sub_devices = false;
  /// No binaries, command buffers and sub-devices, which other drivers do not take, nothing that drivers may
  /// round differently, and no calls whose errors differ.
  bool only_portable = false;
  /// Events that fail all the same: not all drivers survive these.
  bool failing_events = false;
};

// ---- objects

struct MakeContext {
  Number context = kNone;
  std::size_t device = 0;  // of the devices of the program
  bool on_part = false;    // a sub-device of one compute unit
};
struct MakeQueue {
  Number queue = kNone, context = kNone;
  cl_command_queue_properties properties = 0;
};
struct MakeBuffer {
  Number memory = kNone, context = kNone;
  cl_mem_flags flags = 0;
  Data contents;  // for CL_MEM_USE_HOST_PTR and CL_MEM_COPY_HOST_PTR; else only their number of bytes
};
struct MakeSubBuffer {
  Number memory = kNone, parent = kNone;
  cl_mem_flags flags = 0;
  std::size_t origin = 0, bytes = 0;
};
struct MakeImage {
  Number memory = kNone, context = kNone;
  cl_mem_flags flags = 0;
  cl_image_format format{};
  cl_mem_object_type type = 0;
  Triple size{};  // width, height and depth; an array's length comes after the sizes of its images
  Data contents;  // as MakeBuffer
  Number buffer = kNone;
};
struct MakeSampler {
  Number sampler = kNone, context = kNone;
  bool normalized = false;
  cl_addressing_mode addressing = 0;
  cl_filter_mode filter = 0;
};
struct MakeSvm {
  Number svm = kNone, context = kNone;
  std::size_t bytes = 0;
};

/// Nothing uses it any more.
struct FreeSvm {
  Number svm = kNone;
};

/// Several sources are compiled each by itself.
enum class Way { kBuild, kCompileAndLink, kBinary };
struct MakeProgram {
  Number program = kNone, context = kNone;
  Way way = Way::kBuild;
  std::vector<std::string> sources;
  std::string header_name, header;  // for Way::kCompileAndLink
  std::string options;
};
/// Builds it again, after its kernels were released.
struct Rebuild {
  Number program = kNone;
  std::string options;
};
struct MakeKernel {
  Number kernel = kNone, program = kNone;
  std::string name;
};
struct CloneKernel {
  Number kernel = kNone, from = kNone;
};

/// The kinds of objects, each with numbers of its own; events have the numbers of their commands.
enum class Kind { kContext, kQueue, kMemory, kSampler, kProgram, kKernel, kEvent, kRecording };
struct Retain {
  Kind kind;
  Number number = kNone;
};
struct Release {
  Kind kind;
  Number number = kNone;
};

// ---- arguments

struct Value {
  std::vector<std::uint8_t> bytes;
};
struct MemoryArgument {
  Number memory = kNone;
};
struct SamplerArgument {
  Number sampler = kNone;
};
struct LocalArgument {
  std::size_t bytes = 0;
};
struct SvmArgument {
  Number svm = kNone;
};
using Argument = std::variant<Value, MemoryArgument, SamplerArgument, LocalArgument, SvmArgument>;
struct SetArgument {
  Number kernel = kNone;
  cl_uint index = 0;
  Argument argument;
};

// ---- commands and events

struct Enqueue {
  Number queue = kNone;
  Action action;
  std::vector<Number> waits;  // events
  Number event = kNone;       // that the program wants of it
  bool blocking = false;
};
struct Flush {
  Number queue = kNone;
};
struct Finish {
  Number queue = kNone;
};
struct WaitForEvents {
  std::vector<Number> events;
};
struct MakeUserEvent {
  Number event = kNone, context = kNone;
};
/// Sets a user event to complete: at once, or by another thread after some time.
struct EndUserEvent {
  Number event = kNone;
  std::uint32_t microseconds = 0;
};
struct AddCallback {
  Number event = kNone;
  cl_int status = CL_COMPLETE;
};
/// Looks at what a command that has ended says of itself.
struct LookAtEvent {
  Number event = kNone;
  bool has_times = false;
};

// ---- command buffers

struct RecordedCommand {
  Action action;
  std::vector<std::size_t> waits;  // commands of the same recording
};
struct Record {
  Number recording = kNone, queue = kNone;
  bool simultaneous = false;
  std::vector<RecordedCommand> commands;
};

// ---- results

/// Reads what a mapping shows, if it may, and writes over it, if it may. The command that maps has ended.
struct TouchMapping {
  Number mapping = kNone;
  bool reads = false, writes = false;
  std::uint64_t seed = 0;
};
/// Asks all that an object answers.
struct LookAtObject {
  Kind kind;
  Number number = kNone;
};
/// Everything has ended: takes the results of all commands since the last check, in their order.
struct Check {};

// ---- mistakes, each of which ends in an error that is a result

/// A launch of a kernel that has arguments that were never set.
struct LaunchWithoutArguments {
  Number queue = kNone, kernel = kNone;
};
/// A program with an error is built.
struct BuildWithError {
  Number context = kNone;
  std::uint64_t seed = 0;
};
/// Calls with values that no device takes.
struct WrongCalls {
  Number queue = kNone, memory = kNone, kernel = kNone;
};
/// A user event fails with `status`, and with it the commands behind it: `length` fills, one after the other.
/// The buffer keeps its contents.
struct FailUserEvent {
  Number context = kNone;
  std::size_t length = 1;
  cl_int status = -1;
  std::uint32_t microseconds = 0;
};

using Step = std::variant<MakeContext, MakeQueue, MakeBuffer, MakeSubBuffer, MakeImage, MakeSampler, MakeSvm,
                          FreeSvm, MakeProgram, Rebuild, MakeKernel, CloneKernel, Retain, Release,
                          SetArgument, Enqueue, Flush, Finish, WaitForEvents, MakeUserEvent, EndUserEvent,
                          AddCallback, LookAtEvent, Record, TouchMapping, LookAtObject, Check,
                          LaunchWithoutArguments, BuildWithError, WrongCalls, FailUserEvent>;

struct Plan {
  std::vector<Step> steps;
};

}  // namespace fairgv::moves
