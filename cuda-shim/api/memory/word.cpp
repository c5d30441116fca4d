#include "cuda-shim/api/memory/word.hpp"

#include <atomic>
#include <cstdio>

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {
namespace {

/// The program and the device have the memory twice, and see each other's writes only where their work meets:
/// a word that one side watches while the other is to write it would not change.
bool is_kept_twice(const Driver& driver, CUdevice device, const Allocation& allocation) {
  if (allocation.kind == MemoryKind::mapped) return true;
  constexpr auto kSameAddress = CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM;
  return allocation.kind == MemoryKind::registered && driver.engine.attribute(device, kSameAddress) == 0;
}

CUresult find_word(const Driver& driver, CUdevice device, CUdeviceptr address, std::uint32_t bytes,
                   Word& word) {
  if (address % bytes != 0) return CUDA_ERROR_INVALID_VALUE;
  auto allocation = driver.memory.find(address);
  if (!allocation || !driver.memory.covers(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (is_kept_twice(driver, device, *allocation)) return CUDA_ERROR_NOT_SUPPORTED;
  word = {address, bytes, std::move(allocation)};
  return CUDA_SUCCESS;
}

bool flushes(const Driver& driver, CUdevice device) {
  return driver.engine.attribute(device, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES) != 0;
}

CUresult read_wait(const Driver& driver, CUdevice device, const CUstreamBatchMemOpParams& operation,
                   std::vector<WordCommand>& commands) {
  const bool is_long = operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
  const unsigned comparison = operation.waitValue.flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
  if (comparison > static_cast<unsigned>(wire::cuda::kLastComparison)) return CUDA_ERROR_INVALID_VALUE;
  if (comparison != operation.waitValue.flags && !flushes(driver, device)) return CUDA_ERROR_NOT_SUPPORTED;
  WordCommand command;
  command.test = {static_cast<Comparison>(comparison),
                  is_long ? operation.waitValue.value64 : operation.waitValue.value};
  const CUresult code = find_word(driver, device, operation.waitValue.address, is_long ? 8 : 4, command.word);
  if (code == CUDA_SUCCESS) commands.push_back(std::move(command));
  return code;
}

CUresult read_write(const Driver& driver, CUdevice device, const CUstreamBatchMemOpParams& operation,
                    std::vector<WordCommand>& commands) {
  const bool is_long = operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
  // That a write may be reordered is only permitted.
  if ((operation.writeValue.flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  WordCommand command;
  command.is_write = true;
  command.test.value = is_long ? operation.writeValue.value64 : operation.writeValue.value;
  const CUresult code =
      find_word(driver, device, operation.writeValue.address, is_long ? 8 : 4, command.word);
  if (code == CUDA_SUCCESS && !command.word.allocation->allows(Use::write)) return CUDA_ERROR_INVALID_VALUE;
  if (code == CUDA_SUCCESS) commands.push_back(std::move(command));
  return code;
}

/// The capture is invalid afterwards, as by any call that no graph can hold.
CUresult refuse_in_capture(Driver& driver, const std::shared_ptr<Stream>& stream) {
  const CUresult code = driver.captures.refuse(stream);
  if (code != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) return code;
  static std::atomic<bool> told{false};  // relaxed: one line is enough
  if (!told.exchange(true, std::memory_order_relaxed)) {
    std::fprintf(
        stderr,
        "%s: memory operations in streams (cuStreamWaitValue32 and its kin) cannot be captured into a "
        "graph\n",
        driver.engine.name());
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

CUresult read_operation(const Driver& driver, CUdevice device, const CUstreamBatchMemOpParams& operation,
                        std::vector<WordCommand>& commands) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return read_wait(driver, device, operation, commands);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return read_write(driver, device, operation, commands);
    case CU_STREAM_MEM_OP_BARRIER:
      return operation.memoryBarrier.flags <= unsigned{CU_STREAM_MEMORY_BARRIER_TYPE_GPU}
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      if (operation.flushRemoteWrites.flags != 0) return CUDA_ERROR_INVALID_VALUE;
      return flushes(driver, device) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult put_words(Driver& driver, const std::shared_ptr<Stream>& stream,
                   std::span<const WordCommand> commands) {
  if (driver.captures.any()) {
    if (const CUresult code = refuse_in_capture(driver, stream); code != CUDA_SUCCESS) return code;
  }
  for (const WordCommand& command : commands) {
    const CUresult code = command.is_write
                              ? driver.scheduler.write_word(stream, command.word, command.test.value)
                              : driver.scheduler.wait_for_word(stream, command.word, command.test);
    if (code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
