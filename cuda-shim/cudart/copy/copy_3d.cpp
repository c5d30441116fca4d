// Three-dimensional copies, also between devices.
#include "cuda-shim/cudart/context.hpp"
#include "cuda-shim/cudart/copy/copy.hpp"

namespace fairgv::cudart {
namespace {

// The fields that the driver's two structures for three-dimensional copies share.
template <class Described, class Copy>
Status describe_sides(const Driver& driver, const Copy& copy, Direction direction, Described& described) {
  if ((copy.srcArray != nullptr) == (copy.srcPtr.ptr != nullptr)) return cudaErrorInvalidValue;
  if ((copy.dstArray != nullptr) == (copy.dstPtr.ptr != nullptr)) return cudaErrorInvalidValue;
  // Positions in an array and, where one takes part, the extent are in elements; else in bytes.
  std::size_t source_element = 1;
  std::size_t destination_element = 1;
  if (copy.srcArray != nullptr)
    FAIRGV_RETURN_IF_FAILED(array_element_bytes(driver, copy.srcArray, source_element));
  if (copy.dstArray != nullptr)
    FAIRGV_RETURN_IF_FAILED(array_element_bytes(driver, copy.dstArray, destination_element));
  if (copy.srcArray != nullptr && copy.dstArray != nullptr && source_element != destination_element)
    return cudaErrorInvalidValue;
  const std::size_t element = copy.srcArray != nullptr ? source_element : destination_element;

  described = {};
  described.srcXInBytes = copy.srcPos.x * source_element;
  described.srcY = copy.srcPos.y;
  described.srcZ = copy.srcPos.z;
  described.srcMemoryType = copy.srcArray != nullptr ? CU_MEMORYTYPE_ARRAY : direction.source;
  described.srcHost = copy.srcPtr.ptr;
  described.srcDevice = std::bit_cast<CUdeviceptr>(copy.srcPtr.ptr);
  described.srcArray = driver_array(copy.srcArray);
  described.srcPitch = copy.srcPtr.pitch;
  described.srcHeight = copy.srcPtr.ysize;
  described.dstXInBytes = copy.dstPos.x * destination_element;
  described.dstY = copy.dstPos.y;
  described.dstZ = copy.dstPos.z;
  described.dstMemoryType = copy.dstArray != nullptr ? CU_MEMORYTYPE_ARRAY : direction.destination;
  described.dstHost = copy.dstPtr.ptr;
  described.dstDevice = std::bit_cast<CUdeviceptr>(copy.dstPtr.ptr);
  described.dstArray = driver_array(copy.dstArray);
  described.dstPitch = copy.dstPtr.pitch;
  described.dstHeight = copy.dstPtr.ysize;
  described.WidthInBytes = copy.extent.width * element;
  described.Height = copy.extent.height;
  described.Depth = copy.extent.depth;
  if (copy.srcArray == nullptr && described.WidthInBytes > described.srcPitch)
    return cudaErrorInvalidPitchValue;
  if (copy.dstArray == nullptr && described.WidthInBytes > described.dstPitch)
    return cudaErrorInvalidPitchValue;
  return cudaSuccess;
}

bool is_empty(cudaExtent extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}

Status copy_box(const Driver& driver, const cudaMemcpy3DParms* copy, Order order) {
  if (copy == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D described;
  FAIRGV_RETURN_IF_FAILED(describe_copy(driver, *copy, described));
  if (is_empty(copy->extent)) return cudaSuccess;
  return order.async ? driver.cuMemcpy3DAsync(&described, order.stream) : driver.cuMemcpy3D(&described);
}

Status copy_box_to_peer(const Driver& driver, const cudaMemcpy3DPeerParms* copy, Order order) {
  if (copy == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D_PEER described;
  FAIRGV_RETURN_IF_FAILED(
      describe_sides(driver, *copy, {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE}, described));
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, copy->srcDevice, &described.srcContext));
  FAIRGV_RETURN_IF_FAILED(hold_device(driver, copy->dstDevice, &described.dstContext));
  if (is_empty(copy->extent)) return cudaSuccess;
  return order.async ? driver.cuMemcpy3DPeerAsync(&described, order.stream)
                     : driver.cuMemcpy3DPeer(&described);
}

}  // namespace

Status array_element_bytes(const Driver& driver, cudaArray_const_t array, std::size_t& bytes) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  FAIRGV_RETURN_IF_FAILED(driver.cuArray3DGetDescriptor(&descriptor, driver_array(array)));
  bytes = element_bytes(descriptor.Format, descriptor.NumChannels);
  return bytes != 0 ? cudaSuccess : cudaErrorNotSupported;
}

Status describe_copy(const Driver& driver, const cudaMemcpy3DParms& copy, CUDA_MEMCPY3D& described) {
  Direction direction{};
  FAIRGV_RETURN_IF_FAILED(direction_of(copy.kind, direction));
  return describe_sides(driver, copy, direction, described);
}

Status describe_copy(const Driver& driver, const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms& described) {
  std::size_t source_element = 1;
  std::size_t destination_element = 1;
  described = {};
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    described.srcArray = std::bit_cast<cudaArray_t>(copy.srcArray);
    FAIRGV_RETURN_IF_FAILED(array_element_bytes(driver, described.srcArray, source_element));
  } else {
    const bool host = copy.srcMemoryType == CU_MEMORYTYPE_HOST;
    described.srcPtr = {host ? std::bit_cast<void*>(copy.srcHost) : std::bit_cast<void*>(copy.srcDevice),
                        copy.srcPitch, copy.WidthInBytes, copy.srcHeight};
  }
  if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    described.dstArray = std::bit_cast<cudaArray_t>(copy.dstArray);
    FAIRGV_RETURN_IF_FAILED(array_element_bytes(driver, described.dstArray, destination_element));
  } else {
    const bool host = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
    described.dstPtr = {host ? copy.dstHost : std::bit_cast<void*>(copy.dstDevice), copy.dstPitch,
                        copy.WidthInBytes, copy.dstHeight};
  }
  described.srcPos = {copy.srcXInBytes / source_element, copy.srcY, copy.srcZ};
  described.dstPos = {copy.dstXInBytes / destination_element, copy.dstY, copy.dstZ};
  const std::size_t element = described.srcArray != nullptr ? source_element : destination_element;
  described.extent = {copy.WidthInBytes / element, copy.Height, copy.Depth};
  const bool unified =
      copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED;
  const bool from_host = copy.srcMemoryType == CU_MEMORYTYPE_HOST;
  const bool to_host = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
  described.kind = unified     ? cudaMemcpyDefault
                   : from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                               : (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
  return cudaSuccess;
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* copy), (copy)) {
  return copy_box(driver, copy, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy3DAsync, _ptsz, (const cudaMemcpy3DParms* copy, cudaStream_t stream),
                   (copy, stream)) {
  return copy_box(driver, copy, in_stream(stream));
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy3DPeer, _ptds, (const cudaMemcpy3DPeerParms* copy), (copy)) {
  return copy_box_to_peer(driver, copy, kSynchronous);
}

FAIRGV_STREAM_CALL(kContext, cudaMemcpy3DPeerAsync, _ptsz,
                   (const cudaMemcpy3DPeerParms* copy, cudaStream_t stream), (copy, stream)) {
  return copy_box_to_peer(driver, copy, in_stream(stream));
}

}  // namespace fairgv::cudart
