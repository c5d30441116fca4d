#include "runtime/wire/call_names.hpp"

#include <CL/cl.h>

#include "runtime/wire/every_call.hpp"

namespace fairgv::wire {
namespace {

template <class... Calls>
std::string_view name_in(TypeList<Calls...>, Opcode opcode) {
  std::string_view name;
  static_cast<void>(((Calls::opcode == opcode && (name = Calls::name, true)) || ...));
  return name;
}

/// Calls that can block, by the type of their command.
std::string_view blocking_name(std::uint32_t command_type) {
  switch (command_type) {
    case CL_COMMAND_READ_BUFFER:
      return "EnqueueReadBuffer";
    case CL_COMMAND_READ_BUFFER_RECT:
      return "EnqueueReadBufferRect";
    case CL_COMMAND_READ_IMAGE:
      return "EnqueueReadImage";
    case CL_COMMAND_WRITE_BUFFER:
      return "EnqueueWriteBuffer";
    case CL_COMMAND_WRITE_BUFFER_RECT:
      return "EnqueueWriteBufferRect";
    case CL_COMMAND_WRITE_IMAGE:
      return "EnqueueWriteImage";
    case CL_COMMAND_MAP_BUFFER:
      return "EnqueueMapBuffer";
    case CL_COMMAND_MAP_IMAGE:
      return "EnqueueMapImage";
    case CL_COMMAND_UNMAP_MEM_OBJECT:
      return "EnqueueUnmapMemObject";
    case CL_COMMAND_SVM_MAP:
      return "EnqueueSVMMap";
    case CL_COMMAND_SVM_MEMCPY:
      return "EnqueueSVMMemcpy";
    default:
      return {};
  }
}

}  // namespace

std::string_view call_name(Opcode opcode) {
  const std::string_view name = name_in(EveryCall{}, opcode);
  return name.empty() ? "(unknown call)" : name;
}

std::string_view wait_name(std::uint32_t as, Opcode opcode) {
  if (as == kFinish) return "Finish";
  if (as == kWaitForEvents) return "WaitForEvents";
  if (const std::string_view name = blocking_name(as); !name.empty()) return name;
  // A front end that gives no other name waits for a marker: for a CUDA stream or event to reach it.
  return opcode == EnqueueMarker::opcode ? "Synchronize" : call_name(opcode);
}

}  // namespace fairgv::wire
