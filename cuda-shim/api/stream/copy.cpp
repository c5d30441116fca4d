// Entry points: linear copies (CUDA Driver API, "Memory Management"). Compiled twice: stream_entry.hpp.
#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

using FindPlace = CUresult (*)(const Driver&, CUdeviceptr, std::size_t, Place&);

CUresult linear_copy(FindPlace find_to, CUdeviceptr to, FindPlace find_from, CUdeviceptr from,
                     std::size_t size, CUstream handle, bool async) noexcept {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (size == 0) return CUDA_SUCCESS;
    CopyCommand command;
    command.extent = {size, 1, 1};
    command.async = async;
    if (const CUresult code = find_to(driver, to, size, command.to); code != CUDA_SUCCESS) return code;
    if (const CUresult code = find_from(driver, from, size, command.from); code != CUDA_SUCCESS) return code;
    return put(driver, stream, std::move(command));
  });
}

CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// A copy between an array's first row and memory.
template <typename FindPlaces>
CUresult row_copy(std::size_t size, CUstream handle, bool async, const FindPlaces& find) noexcept {
  return on_stream(handle, [&](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    CopyCommand command;
    command.extent = {size, 1, 1};
    command.async = async;
    const CUresult code = find(driver, command.to, command.from);
    return code == CUDA_SUCCESS ? put(driver, stream, std::move(command)) : code;
  });
}

CUresult host_to_array(CUarray to, std::size_t offset, const void* from, std::size_t size, CUstream stream,
                       bool async) {
  return row_copy(size, stream, async, [=](Driver& driver, Place& target, Place& source) {
    const CUresult code = array_place(driver, to, offset, size, target);
    return code == CUDA_SUCCESS ? host_place(driver, from, size, source) : code;
  });
}

CUresult array_to_host(void* to, CUarray from, std::size_t offset, std::size_t size, CUstream stream,
                       bool async) {
  return row_copy(size, stream, async, [=](Driver& driver, Place& target, Place& source) {
    const CUresult code = array_place(driver, from, offset, size, source);
    return code == CUDA_SUCCESS ? host_place(driver, to, size, target) : code;
  });
}

/// Contexts share the device and its addresses, so a copy between them is an ordinary copy.
CUresult peer_copy(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   std::size_t size, CUstream handle, bool async) noexcept {
  const CUresult known = initialized([=](Driver& driver) {
    return driver.contexts.find(to_context) && driver.contexts.find(from_context)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_CONTEXT;
  });
  if (known != CUDA_SUCCESS) return known;
  return linear_copy(device_place, to, device_place, from, size, handle, async);
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return linear_copy(any_place, to, any_place, from, size, nullptr, false);
}
CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return linear_copy(any_place, to, any_place, from, size, stream, true);
}
CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t size) {
  return linear_copy(device_place, to, any_place, address(from), size, nullptr, false);
}
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
  return linear_copy(device_place, to, any_place, address(from), size, stream, true);
}
CUresult CUDAAPI cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t size) {
  return linear_copy(any_place, address(to), device_place, from, size, nullptr, false);
}
CUresult CUDAAPI cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return linear_copy(any_place, address(to), device_place, from, size, stream, true);
}
CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return linear_copy(device_place, to, device_place, from, size, nullptr, false);
}
CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return linear_copy(device_place, to, device_place, from, size, stream, true);
}
CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                              std::size_t size) {
  return peer_copy(to, to_context, from, from_context, size, nullptr, false);
}
CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                   CUcontext from_context, std::size_t size, CUstream stream) {
  return peer_copy(to, to_context, from, from_context, size, stream, true);
}

CUresult CUDAAPI cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t size) {
  return host_to_array(to, offset, from, size, nullptr, false);
}
CUresult CUDAAPI cuMemcpyHtoAAsync(CUarray to, std::size_t offset, const void* from, std::size_t size,
                                   CUstream stream) {
  return host_to_array(to, offset, from, size, stream, true);
}
CUresult CUDAAPI cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t size) {
  return array_to_host(to, from, offset, size, nullptr, false);
}
CUresult CUDAAPI cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t offset, std::size_t size,
                                   CUstream stream) {
  return array_to_host(to, from, offset, size, stream, true);
}
CUresult CUDAAPI cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t size) {
  return row_copy(size, nullptr, false, [=](Driver& driver, Place& target, Place& source) {
    const CUresult code = array_place(driver, to, offset, size, target);
    return code == CUDA_SUCCESS ? device_place(driver, from, size, source) : code;
  });
}
CUresult CUDAAPI cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t size) {
  return row_copy(size, nullptr, false, [=](Driver& driver, Place& target, Place& source) {
    const CUresult code = array_place(driver, from, offset, size, source);
    return code == CUDA_SUCCESS ? device_place(driver, to, size, target) : code;
  });
}
CUresult CUDAAPI cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                              std::size_t size) {
  return row_copy(size, nullptr, false, [=](Driver& driver, Place& target, Place& source) {
    const CUresult code = array_place(driver, to, to_offset, size, target);
    return code == CUDA_SUCCESS ? array_place(driver, from, from_offset, size, source) : code;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
