// Memory that processes share (CUDA Driver API, "Memory Management": cuIpc*).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/cuda/types.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire::cuda {

/// CUipcMemHandle, as programs hand it to each other: FairGV's own, in which the driver's does not show.
using IpcHandle = std::array<std::byte, 64>;

struct ExportReply {
  ResultCode code = 0;
  IpcHandle handle{};
  FAIRGV_FIELDS(code, handle)
};

/// `address`: the answer of AllocateMemory.
struct ExportMemory {
  FAIRGV_CALL(CudaExportMemory, 0x1070, ExportReply)
  std::uint64_t address = 0;
  FAIRGV_FIELDS(address)
};

struct OpenedReply {
  ResultCode code = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  FAIRGV_FIELDS(code, address, bytes)
};

/// Opens memory of another session in a context; each opening is closed once. The handle may be any bytes.
struct OpenMemory {
  FAIRGV_CALL(CudaOpenMemory, 0x1071, OpenedReply)
  ObjectId context;
  IpcHandle handle{};
  FAIRGV_FIELDS(context, handle)
};

/// `address`: the answer of OpenMemory. The front end has made sure that no command uses it any more.
struct CloseMemory {
  FAIRGV_CALL(CudaCloseMemory, 0x1072, void)
  std::uint64_t address = 0;
  FAIRGV_FIELDS(address)
};

using IpcCalls = TypeList<ExportMemory, OpenMemory, CloseMemory>;

}  // namespace fairgv::wire::cuda
