// Modules, functions and launches of the CUDA front end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/calls/cuda/types.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire::cuda {

/// One option of the just-in-time compiler that is a number (CUjit_option). Logs are not among them: their
/// buffers are the front end's, which cuts the worker's answer.
struct JitOption {
  std::uint32_t option = 0;
  std::uint32_t reserved = 0;
  std::uint64_t value = 0;
};

/// Loads an image: a fatbin, machine code, or PTX without its final 0. It takes long: `completion` ends
/// (always well) when GetModule has the outcome.
struct LoadModule {
  FAIRGV_CALL(CudaLoadModule, 0x1020, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  EventId completion;
  std::span<const std::byte> image;
  std::span<const JitOption> options;
  std::uint32_t prints = 0;  // 1: its kernels may print
  FAIRGV_FIELDS(id, context, completion, image, options, prints)
};

struct ModuleReply {
  ResultCode code = 0;  // CUDA_ERROR_NOT_READY before the completion
  std::string info_log;
  std::string error_log;
  FAIRGV_FIELDS(code, info_log, error_log)
};

struct GetModule {
  FAIRGV_CALL(CudaGetModule, 0x1021, ModuleReply)
  ObjectId module;
  FAIRGV_FIELDS(module)
};

struct NamesReply {
  ResultCode code = 0;
  std::vector<char> names;  // of the functions, each ended by a 0
  FAIRGV_FIELDS(code, names)
};

/// The functions of a module that was loaded.
struct GetFunctionNames {
  FAIRGV_CALL(CudaGetFunctionNames, 0x1022, NamesReply)
  ObjectId module;
  FAIRGV_FIELDS(module)
};

/// Where one parameter lies in the block that a launch carries.
struct ParameterPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct FunctionReply {
  ResultCode code = 0;
  std::vector<std::int32_t> attributes;  // by CUfunction_attribute; 0: unknown to the driver
  std::vector<ParameterPlace> parameters;
  FAIRGV_FIELDS(code, attributes, parameters)
};

/// An id that is refused names nothing.
struct GetFunction {
  FAIRGV_CALL(CudaGetFunction, 0x1023, FunctionReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId module;
  std::string_view symbol;
  FAIRGV_FIELDS(id, module, symbol)
};

struct AddressReply {
  ResultCode code = 0;
  std::uint64_t address = 0;  // CUdeviceptr
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(code, address, bytes)
};

/// A variable of a module.
struct GetGlobal {
  FAIRGV_CALL(CudaGetGlobal, 0x1024, AddressReply)
  ObjectId module;
  std::string_view symbol;
  FAIRGV_FIELDS(module, symbol)
};

struct SetFunctionAttribute {
  FAIRGV_CALL(CudaSetFunctionAttribute, 0x1025, CodeReply)
  FAIRGV_SETS(function, attribute)
  ObjectId function;
  std::uint32_t attribute = 0;  // CUfunction_attribute
  std::int32_t value = 0;
  FAIRGV_FIELDS(function, attribute, value)
};

enum class OccupancyQuestion : std::uint32_t {
  active_blocks,             // for block_threads and dynamic_bytes: blocks of one multiprocessor
  available_dynamic_shared,  // for block_threads and `blocks`: bytes
};

struct OccupancyReply {
  ResultCode code = 0;
  std::uint64_t value = 0;
  FAIRGV_FIELDS(code, value)
};

struct GetOccupancy {
  FAIRGV_CALL(CudaGetOccupancy, 0x1026, OccupancyReply)
  ObjectId function;
  OccupancyQuestion question = OccupancyQuestion::active_blocks;
  std::int32_t block_threads = 0;
  std::int32_t blocks = 0;
  std::uint32_t flags = 0;  // CUoccupancy_flags
  std::uint64_t dynamic_bytes = 0;
  FAIRGV_FIELDS(function, question, block_threads, blocks, flags, dynamic_bytes)
};

/// One input of a link.
struct LinkInput {
  std::uint32_t type = 0;  // CUjitInputType
  std::string name;
  std::vector<std::byte> data;
  FAIRGV_FIELDS(type, name, data)
};

/// Links images into one, as LoadModule loads one; GetLinked has the outcome. The id is released like any.
struct Link {
  FAIRGV_CALL(CudaLink, 0x1027, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  EventId completion;
  std::vector<LinkInput> inputs;
  std::span<const JitOption> options;
  FAIRGV_FIELDS(id, context, completion, inputs, options)
};

struct LinkedReply {
  ResultCode code = 0;
  std::string info_log;
  std::string error_log;
  std::vector<std::byte> image;
  FAIRGV_FIELDS(code, info_log, error_log, image)
};

struct GetLinked {
  FAIRGV_CALL(CudaGetLinked, 0x1028, LinkedReply)
  ObjectId id;
  FAIRGV_FIELDS(id)
};

/// `parameters` is the block as the function's parameter places lay it out.
struct Launch {
  FAIRGV_CALL(CudaLaunch, 0x1030, void)
  Command command;
  ObjectId function;
  Grid grid, block;
  Grid cluster;                      // 1, 1, 1: none
  std::uint32_t shared_bytes = 0;    // dynamic
  std::uint32_t is_cooperative = 0;  // its blocks may wait for each other: never sliced
  std::span<const std::byte> parameters;
  FAIRGV_FIELDS(command, function, grid, block, cluster, shared_bytes, is_cooperative, parameters)
};

using ModuleCalls = TypeList<LoadModule, GetModule, GetFunctionNames, GetFunction, GetGlobal,
                             SetFunctionAttribute, GetOccupancy, Link, GetLinked, Launch>;

}  // namespace fairgv::wire::cuda
