// Waits for words of memory.
#include <fmt/core.h>

#include "runtime/vgpu/cuda/handlers.hpp"

namespace fairgv::vgpu::cuda {

Result<void> Handlers::handle(const wire::cuda::WaitForWord& call) {
  if ((call.bytes != 4 && call.bytes != 8) || call.address % call.bytes != 0) {
    return Error{fmt::format("a word of {} bytes at {:#x}", call.bytes, call.address)};
  }
  if (call.comparison > wire::cuda::kLastComparison) return Error{"a wait with no known comparison"};
  AwaitedWord word{nullptr, call.address, call.bytes, call.comparison, call.value};
  if (call.space == wire::cuda::Space::arena) {
    FAIRGV_TRY(host, arena(call.address, call.bytes));
    word.in_arena = host.value();
  } else if (call.space != wire::cuda::Space::device) {
    return Error{"a word that is neither the device's nor in the arena"};
  }
  FAIRGV_TRY(found, stream(call.command.queue));
  return enqueue(*found.value(), words_.wait(found.value(), word), call.command);
}

Result<void> Handlers::handle(const wire::cuda::GiveUpWaits& call) {
  FAIRGV_TRY(found, stream(call.queue));
  found.value()->gives_up_waits.store(true, std::memory_order_release);
  return {};
}

}  // namespace fairgv::vgpu::cuda
