// Entry points: memory operations in streams (CUDA Driver API, "Stream Memory Operations"). Compiled twice:
// stream_entry.hpp.
#include "cuda-shim/api/memory/word.hpp"

#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

/// Operations are checked as a whole before the first is queued.
constexpr unsigned kMostOperations = 255;

CUresult operate(CUstream handle, std::span<const CUstreamBatchMemOpParams> operations) noexcept {
  return on_stream(handle, [&](Driver& driver, Context& context, const std::shared_ptr<Stream>& stream) {
    std::vector<WordCommand> commands;
    for (const CUstreamBatchMemOpParams& operation : operations) {
      const CUresult code = read_operation(driver, context.device(), operation, commands);
      if (code != CUDA_SUCCESS) return code;
    }
    return put_words(driver, stream, commands);
  });
}

CUresult wait(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
              unsigned flags) noexcept {
  CUstreamBatchMemOpParams operation{};
  operation.waitValue.operation = type;
  operation.waitValue.address = address;
  operation.waitValue.value64 = value;  // whose first half is `value`: the machine is little-endian
  operation.waitValue.flags = flags;
  return operate(stream, {&operation, 1});
}

CUresult write(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
               unsigned flags) noexcept {
  CUstreamBatchMemOpParams operation{};
  operation.writeValue.operation = type;
  operation.writeValue.address = address;
  operation.writeValue.value64 = value;
  operation.writeValue.flags = flags;
  return operate(stream, {&operation, 1});
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned int flags) {
  return wait(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

CUresult CUDAAPI cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned int flags) {
  return wait(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned int flags) {
  return write(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}

CUresult CUDAAPI cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                      unsigned int flags) {
  return write(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                                    unsigned int flags) {
  const bool is_wrong = (operations == nullptr && count != 0) || count > kMostOperations || flags != 0;
  if (is_wrong) return in_context([](Driver&, Context&) { return CUDA_ERROR_INVALID_VALUE; });
  return operate(stream, {operations, count});
}

}  // extern "C"
}  // namespace fairgv::cuda
