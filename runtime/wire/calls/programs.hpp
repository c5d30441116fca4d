// Programs: made, built, linked, asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/devices.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

struct CreateProgramWithSource {
  FAIRGV_CALL(CreateProgramWithSource, 0x0400, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::string_view source;
  FAIRGV_FIELDS(id, context, source)
};

struct BinaryReply {
  std::int32_t error = 0;
  std::vector<std::int32_t> statuses;  // one per device
  FAIRGV_FIELDS(error, statuses)
};

struct CreateProgramWithBinary {
  FAIRGV_CALL(CreateProgramWithBinary, 0x0401, BinaryReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::span<const DeviceIndex> devices;
  std::span<const std::uint64_t> sizes;  // one per device
  std::span<const std::byte> binaries;   // one after the other
  FAIRGV_FIELDS(id, context, devices, sizes, binaries)
};

struct CreateProgramWithIl {
  FAIRGV_CALL(CreateProgramWithIl, 0x0412, StatusReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::span<const std::byte> il;
  FAIRGV_FIELDS(id, context, il)
};

struct CreateProgramWithBuiltInKernels {
  FAIRGV_CALL(CreateProgramWithBuiltInKernels, 0x0414, StatusReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::span<const DeviceIndex> devices;
  std::string_view names;  // separated by semicolons
  FAIRGV_FIELDS(id, context, devices, names)
};

/// The slot of builds and compilations, each of which replaces the one before; others are constants' numbers.
inline constexpr std::uint32_t kBuildSlot = ~std::uint32_t{0};

struct SetSpecializationConstant {
  FAIRGV_CALL(SetSpecializationConstant, 0x0413, StatusReply)
  FAIRGV_SETS(program, constant)
  ObjectId program;
  std::uint32_t constant = 0;
  std::span<const std::byte> value;
  FAIRGV_FIELDS(program, constant, value)
};

/// A file, folder or link of the file system that the program sees. Its path is absolute, without links, "."
/// and "..".
struct IncludePlace {
  enum Kind : std::uint32_t { file, folder, link };
  std::uint32_t kind = file;
  std::string_view path;
  std::string_view contents;  // of a file; of a link, the path that it leads to in the end
  FAIRGV_FIELDS(kind, path, contents)
};

/// In texts, `#include "/a/b.h"` is "fairgv-root/a/b.h": the driver's own view has no such path.
inline constexpr std::string_view kIncludeRoot = "fairgv-root";

/// The files that the next build or compilation of the program may include, read by the program's own
/// process. Several such calls add up. Only if the daemon has named session::kIncludes.
struct ProvideIncludes {
  FAIRGV_CALL(ProvideIncludes, 0x0416, void)
  FAIRGV_LASTS(prepares, program)
  ObjectId program;
  std::vector<IncludePlace> places;
  std::span<const std::uint32_t> absolute_options;  // where in the build's options an absolute path begins
  std::uint32_t names_root = 0;                     // whether a text names kIncludeRoot
  FAIRGV_FIELDS(program, places, absolute_options, names_root)
};

/// Builds on the worker's slow lane, so that other threads' calls go on. `completion` ends with CL_COMPLETE
/// or the error that clBuildProgram returns.
struct BuildProgram {
  FAIRGV_CALL(BuildProgram, 0x0402, void)
  FAIRGV_SETS(program, kBuildSlot)
  ObjectId program;
  std::span<const DeviceIndex> devices;  // empty: all of the program's
  std::string_view options;
  std::string_view directory;  // the application's working directory, for relative paths of ProvideIncludes
  EventId completion;
  FAIRGV_FIELDS(program, devices, options, directory, completion)
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
  FAIRGV_SETS(program, kBuildSlot)
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
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::span<const DeviceIndex> devices;  // empty: all of the context's
  std::string_view options;
  std::span<const ObjectId> inputs;
  EventId completion;
  FAIRGV_FIELDS(id, context, devices, options, inputs, completion)
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

/// The devices that the driver associates with a program: for sub-devices, some drivers name their roots.
struct GetProgramDevices {
  FAIRGV_CALL(GetProgramDevices, 0x0415, DevicesReply)
  ObjectId program;
  FAIRGV_FIELDS(program)
};

/// Whether the driver calls functions of the application when a program is gone: the answer of
/// clSetProgramReleaseCallback. The front end calls them itself.
struct CheckReleaseCallback {
  FAIRGV_CALL(CheckReleaseCallback, 0x0417, StatusReply)
  ObjectId program;
  FAIRGV_FIELDS(program)
};

using ProgramCalls = TypeList<CreateProgramWithSource, CreateProgramWithBinary, CreateProgramWithIl,
                              CreateProgramWithBuiltInKernels, SetSpecializationConstant, ProvideIncludes,
                              BuildProgram, CompileProgram, LinkProgram, GetProgramBuildInfo, GetProgramInfo,
                              GetProgramDevices, CheckReleaseCallback>;

}  // namespace fairgv::wire
