// Linear copies, to and from symbols and other devices.
#include "cuda-shim/cudart/copy/copy.hpp"

#include "cuda-shim/cudart/context.hpp"
#include "cuda-shim/cudart/modules/symbol.hpp"

namespace fairgv::cudart {
namespace {

CUdeviceptr on_device(const void* pointer) {
  return std::bit_cast<CUdeviceptr>(pointer);
}

Status to_symbol(const Driver& driver, const void* symbol, const void* source, std::size_t count,
                 std::size_t offset, cudaMemcpyKind kind, Order order) {
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost) return cudaErrorInvalidMemcpyDirection;
  void* memory = nullptr;
  FAIRGV_RETURN_IF_FAILED(symbol_range(driver, symbol, count, offset, memory));
  return copy_linear(driver, memory, source, count, kind, order);
}

Status from_symbol(const Driver& driver, void* destination, const void* symbol, std::size_t count,
                   std::size_t offset, cudaMemcpyKind kind, Order order) {
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice) return cudaErrorInvalidMemcpyDirection;
  void* memory = nullptr;
  FAIRGV_RETURN_IF_FAILED(symbol_range(driver, symbol, count, offset, memory));
  return copy_linear(driver, destination, memory, count, kind, order);
}

}  // namespace

Status direction_of(cudaMemcpyKind kind, Direction& direction) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      direction = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST};
      return cudaSuccess;
    case cudaMemcpyHostToDevice:
      direction = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE};
      return cudaSuccess;
    case cudaMemcpyDeviceToHost:
      direction = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
      return cudaSuccess;
    case cudaMemcpyDeviceToDevice:
      direction = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE};
      return cudaSuccess;
    case cudaMemcpyDefault:
      direction = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
      return cudaSuccess;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
}

Status copy_linear(const Driver& driver, void* destination, const void* source, std::size_t count,
                   cudaMemcpyKind kind, Order order) {
  Direction direction{};
  FAIRGV_RETURN_IF_FAILED(direction_of(kind, direction));
  if (count == 0) return cudaSuccess;  // whatever the addresses
  const CUstream stream = order.stream;
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return order.async ? driver.cuMemcpyHtoDAsync(on_device(destination), source, count, stream)
                         : driver.cuMemcpyHtoD(on_device(destination), source, count);
    case cudaMemcpyDeviceToHost:
      return order.async ? driver.cuMemcpyDtoHAsync(destination, on_device(source), count, stream)
                         : driver.cuMemcpyDtoH(destination, on_device(source), count);
    case cudaMemcpyDeviceToDevice:
      return order.async ? driver.cuMemcpyDtoDAsync(on_device(destination), on_device(source), count, stream)
                         : driver.cuMemcpyDtoD(on_device(destination), on_device(source), count);
    case cudaMemcpyHostToHost:  // the driver keeps it in order with the stream
    case cudaMemcpyDefault:
      return order.async ? driver.cuMemcpyAsync(on_device(destination), on_device(source), count, stream)
                         : driver.cuMemcpy(on_device(destination), on_device(source), count);
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy, _ptds,
                   (void* destination, const void* source, std::size_t count, cudaMemcpyKind kind),
                   (destination, source, count, kind)) {
  return copy_linear(driver, destination, source, count, kind, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyAsync, _ptsz,
                   (void* destination, const void* source, std::size_t count, cudaMemcpyKind kind,
                    cudaStream_t stream),
                   (destination, source, count, kind, stream)) {
  return copy_linear(driver, destination, source, count, kind, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyToSymbol, _ptds,
                   (const void* symbol, const void* source, std::size_t count, std::size_t offset,
                    cudaMemcpyKind kind),
                   (symbol, source, count, offset, kind)) {
  return to_symbol(driver, symbol, source, count, offset, kind, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyToSymbolAsync, _ptsz,
                   (const void* symbol, const void* source, std::size_t count, std::size_t offset,
                    cudaMemcpyKind kind, cudaStream_t stream),
                   (symbol, source, count, offset, kind, stream)) {
  return to_symbol(driver, symbol, source, count, offset, kind, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyFromSymbol, _ptds,
                   (void* destination, const void* symbol, std::size_t count, std::size_t offset,
                    cudaMemcpyKind kind),
                   (destination, symbol, count, offset, kind)) {
  return from_symbol(driver, destination, symbol, count, offset, kind, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpyFromSymbolAsync, _ptsz,
                   (void* destination, const void* symbol, std::size_t count, std::size_t offset,
                    cudaMemcpyKind kind, cudaStream_t stream),
                   (destination, symbol, count, offset, kind, stream)) {
  return from_symbol(driver, destination, symbol, count, offset, kind, in_stream(stream));
}

FAIRGV_CALL(kContext, cudaMemcpyPeer,
            (void* destination, int to, const void* source, int from, std::size_t count),
            (destination, to, source, from, count)) {
  CUcontext contexts[2] = {};
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, to, &contexts[0]));
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, from, &contexts[1]));
  return driver.cuMemcpyPeer(on_device(destination), contexts[0], on_device(source), contexts[1], count);
}

FAIRGV_CALL(kContext, cudaMemcpyPeerAsync,
            (void* destination, int to, const void* source, int from, std::size_t count, cudaStream_t stream),
            (destination, to, source, from, count, stream)) {
  CUcontext contexts[2] = {};
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, to, &contexts[0]));
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, from, &contexts[1]));
  return driver.cuMemcpyPeerAsync(on_device(destination), contexts[0], on_device(source), contexts[1], count,
                                  stream);
}

}  // namespace fairgv::cudart
