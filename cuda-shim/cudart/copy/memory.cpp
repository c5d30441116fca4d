// Allocation (CUDA Runtime API, "Memory Management", "Unified Addressing" and "Stream Ordered Memory
// Allocator").
#include <iterator>

#include "cuda-shim/cudart/abi/pointer_attributes.hpp"

namespace fairgv::cudart {
namespace {

CUdeviceptr address(const void* pointer) {
  return std::bit_cast<CUdeviceptr>(pointer);
}

// The driver refuses to allocate zero bytes; the runtime returns a null pointer, which may be freed.
constexpr std::size_t kNothing = 0;

// The assumed element size of a pitched allocation. Rows start at the device's own alignment, which is more
// than any element needs.
constexpr unsigned int kPitchElement = 16;

Status allocate_pitched(const Driver& driver, void** memory, std::size_t* pitch, std::size_t width,
                        std::size_t rows) {
  if (width == kNothing || rows == kNothing) {
    *memory = nullptr;
    *pitch = 0;
    return cudaSuccess;
  }
  return pass(driver.cuMemAllocPitch, memory, pitch, width, rows, kPitchElement);
}

Status allocate_host(const Driver& driver, void** memory, std::size_t size, unsigned int flags) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  *memory = nullptr;
  return size == kNothing ? Status(cudaSuccess) : driver.cuMemHostAlloc(memory, size, flags);
}

}  // namespace

FAIRGV_CALL(kContext, cudaMalloc, (void** memory, std::size_t size), (memory, size)) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  *memory = nullptr;
  return size == kNothing ? Status(cudaSuccess) : pass(driver.cuMemAlloc, memory, size);
}

FAIRGV_CALL(kContext, cudaFree, (void* memory), (memory)) {
  return memory == nullptr ? Status(cudaSuccess) : driver.cuMemFree(address(memory));
}

FAIRGV_CALL(kContext, cudaMallocManaged, (void** memory, std::size_t size, unsigned int flags),
            (memory, size, flags)) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  return pass(driver.cuMemAllocManaged, memory, size, flags);
}

FAIRGV_CALL(kContext, cudaMallocHost, (void** memory, std::size_t size), (memory, size)) {
  return allocate_host(driver, memory, size, 0);
}

FAIRGV_CALL(kContext, cudaHostAlloc, (void** memory, std::size_t size, unsigned int flags),
            (memory, size, flags)) {
  return allocate_host(driver, memory, size,
                       flags);  // cudaHostAllocPortable and the others have the driver's values
}

FAIRGV_CALL(kContext, cudaFreeHost, (void* memory), (memory)) {
  return memory == nullptr ? Status(cudaSuccess) : driver.cuMemFreeHost(memory);
}

FAIRGV_CALL(kContext, cudaHostGetDevicePointer, (void** device, void* host, unsigned int flags),
            (device, host, flags)) {
  if (device == nullptr) return cudaErrorInvalidValue;
  return pass(driver.cuMemHostGetDevicePointer, device, host, flags);
}

FAIRGV_CALL(kContext, cudaMallocPitch,
            (void** memory, std::size_t* pitch, std::size_t width, std::size_t height),
            (memory, pitch, width, height)) {
  if (memory == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  return allocate_pitched(driver, memory, pitch, width, height);
}

FAIRGV_CALL(kContext, cudaMalloc3D, (cudaPitchedPtr * memory, cudaExtent extent), (memory, extent)) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  std::size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudaErrorMemoryAllocation;
  cudaPitchedPtr made = {nullptr, 0, extent.width, extent.height};
  FAIRGV_RETURN_IF_FAILED(allocate_pitched(driver, &made.ptr, &made.pitch, extent.width, rows));
  *memory = made;
  return cudaSuccess;
}

FAIRGV_STREAM_CALL(kContext, cudaMallocAsync, _ptsz, (void** memory, std::size_t size, cudaStream_t stream),
                   (memory, size, stream)) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  *memory = nullptr;
  return size == kNothing ? Status(cudaSuccess) : pass(driver.cuMemAllocAsync, memory, size, stream);
}

FAIRGV_STREAM_CALL(kContext, cudaMallocFromPoolAsync, _ptsz,
                   (void** memory, std::size_t size, cudaMemPool_t pool, cudaStream_t stream),
                   (memory, size, pool, stream)) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  *memory = nullptr;
  return size == kNothing ? Status(cudaSuccess)
                          : pass(driver.cuMemAllocFromPoolAsync, memory, size, pool, stream);
}

Status pointer_attributes(const Driver& driver, const void* pointer, PointerAttributes& attributes) {
  CUmemorytype type{};
  int managed = 0;
  int device = 0;
  CUdeviceptr on_device = 0;
  void* on_host = nullptr;
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&type, &managed, &device, &on_device, &on_host};
  // An unknown address is no error here: its attributes are null.
  FAIRGV_RETURN_IF_FAILED(driver.cuPointerGetAttributes(std::size(names), names, values, address(pointer)));
  attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, std::bit_cast<void*>(pointer)};
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE) return cudaSuccess;
  attributes.type = managed != 0                 ? cudaMemoryTypeManaged
                    : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                 : cudaMemoryTypeDevice;
  attributes.device = device;
  attributes.device_pointer = std::bit_cast<void*>(on_device);
  attributes.host_pointer = on_host;
  return cudaSuccess;
}

}  // namespace fairgv::cudart
