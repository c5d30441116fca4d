// The gates in front of device memory: the daemon grants the bytes before the driver is asked, and has them
// back when the driver has freed them. What programs are told of memory is the tenant's.
#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <type_traits>

#include "cuda-shim/direct/gates/gates.hpp"
#include "cuda-shim/direct/gates/pass.hpp"
#include "cuda-shim/direct/gates/stream_of.hpp"
#include "cuda-shim/direct/memory/texture_size.hpp"

namespace fairgv::cuda::direct {
namespace {

using Kind = Ledger::Kind;

/// The device of the calling thread's context; nothing without one: the driver refuses the call.
struct Place {
  CUcontext context = nullptr;
  std::uint32_t device = 0;
};
std::optional<Place> current_place() {
  Place place;
  CUdevice device = 0;
  if (FAIRGV_DRIVER(cuCtxGetCurrent)(&place.context) != CUDA_SUCCESS || place.context == nullptr ||
      FAIRGV_DRIVER(cuCtxGetDevice)(&device) != CUDA_SUCCESS)
    return std::nullopt;
  place.device = static_cast<std::uint32_t>(device);
  return place;
}

/// Asks the ledger and then the driver. `handle` reads the object's handle after success. `of_context`: the
/// object goes with its context.
template <class Allocate, class Handle>
CUresult allocate(Kind kind, const Place& place, std::uint64_t bytes, bool of_context,
                  const Allocate& ask_driver, const Handle& handle) {
  Tenancy& tenancy = *Tenancy::current();
  if (place.device >= tenancy.gates().size()) return CUDA_ERROR_INVALID_DEVICE;
  if (!tenancy.charge(place.device, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  const Holding holding{place.device, bytes, of_context ? place.context : nullptr};
  const CUresult code = ask_driver();
  if (code != CUDA_SUCCESS) {
    tenancy.ledger().give_back(holding);
  } else {
    tenancy.ledger().hold({kind, static_cast<std::uint64_t>(handle())}, holding);
  }
  return code;
}

/// Asks the driver to free the object.
template <class Free>
CUresult release(Kind kind, std::uint64_t handle, const Free& ask_driver) {
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy == nullptr) return ask_driver();
  const Ledger::Object object{kind, handle};
  const auto holding = tenancy->ledger().take(object);
  const CUresult code = ask_driver();
  if (!holding) return code;
  if (code == CUDA_SUCCESS) {
    tenancy->ledger().give_back(*holding);
  } else {
    tenancy->ledger().hold(object, *holding);
  }
  return code;
}

// ---- linear memory

template <Symbol kSymbol, class Address, class Size>
CUresult allocate_linear(Address* address, Size bytes) {
  const auto place = Tenancy::current() != nullptr ? current_place() : std::nullopt;
  const auto ask = [&] { return call_driver(kSymbol, address, bytes); };
  if (!place) return ask();
  return allocate(Kind::address, *place, bytes, true, ask, [&] { return *address; });
}

/// Drivers of today align rows so; what the driver says afterwards is not less than the row.
constexpr std::uint64_t kPitchAlignment = 512;

template <Symbol kSymbol, class Address, class Size>
CUresult allocate_pitched(Address* address, Size* pitch, Size width, Size height, unsigned int element) {
  const auto place = Tenancy::current() != nullptr ? current_place() : std::nullopt;
  const auto ask = [&] { return call_driver(kSymbol, address, pitch, width, height, element); };
  if (!place) return ask();
  const std::uint64_t row = (std::uint64_t{width} + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(row, std::uint64_t{height}, &bytes)) return ask();  // it refuses
  return allocate(Kind::address, *place, bytes, true, ask, [&] { return *address; });
}

CUresult allocate_managed(CUdeviceptr* address, std::size_t bytes, unsigned int flags) {
  const auto place = Tenancy::current() != nullptr ? current_place() : std::nullopt;
  const auto ask = [&] { return call_driver(Symbol::cuMemAllocManaged_, address, bytes, flags); };
  if (!place) return ask();
  return allocate(Kind::address, *place, bytes, true, ask, [&] { return *address; });
}

template <Symbol kSymbol, class Address>
CUresult free_linear(Address address) {
  return release(Kind::address, address, [&] { return call_driver(kSymbol, address); });
}

// ---- in a stream's order

/// A captured allocation is a node of the program's graph.
bool is_captured(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const bool any = Tenancy::current()->captures.load(std::memory_order_relaxed) != 0;
  return any && FAIRGV_DRIVER(cuStreamIsCapturing)(stream, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

template <class Ask>
CUresult allocate_in_stream(CUdeviceptr* address, std::size_t bytes, CUstream stream, const Ask& ask) {
  Tenancy* const tenancy = Tenancy::current();
  const auto place = tenancy != nullptr ? current_place() : std::nullopt;
  if (!place || is_captured(stream)) return ask();
  const auto with_turn = [&] {
    const Pass pass(*tenancy, stream, Work::other);
    return pass.code() != CUDA_SUCCESS ? pass.code() : ask();
  };
  return allocate(Kind::address, *place, bytes, false, with_turn, [&] { return *address; });
}

template <Symbol kSymbol, bool kOfThread>
CUresult allocate_async(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate_in_stream(address, bytes, stream_of(kOfThread, stream),
                            [&] { return call_driver(kSymbol, address, bytes, stream); });
}

template <Symbol kSymbol, bool kOfThread>
CUresult allocate_from_pool(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  return allocate_in_stream(address, bytes, stream_of(kOfThread, stream),
                            [&] { return call_driver(kSymbol, address, bytes, pool, stream); });
}

/// The bytes are back when the stream has come to it.
template <Symbol kSymbol, bool kOfThread>
CUresult free_async(CUdeviceptr address, CUstream stream) {
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy == nullptr) return call_driver(kSymbol, address, stream);
  const CUstream its = stream_of(kOfThread, stream);
  if (is_captured(its)) return call_driver(kSymbol, address, stream);
  const Ledger::Object object{Kind::address, address};
  const auto holding = tenancy->ledger().take(object);
  CUresult code = CUDA_SUCCESS;
  {
    const Pass pass(*tenancy, its, Work::other);
    code = pass.code() != CUDA_SUCCESS ? pass.code() : call_driver(kSymbol, address, stream);
  }
  if (!holding) return code;
  if (code != CUDA_SUCCESS) {
    tenancy->ledger().hold(object, *holding);
  } else {
    tenancy->gates()[holding->device]->after_what_runs(
        [tenancy, gone = *holding] { tenancy->ledger().give_back(gone); });
  }
  return code;
}

// ---- arrays

template <Symbol kSymbol, class Description>
CUresult create_array(CUarray* array, const Description* description) {
  const auto place = Tenancy::current() != nullptr ? current_place() : std::nullopt;
  const auto ask = [&] { return call_driver(kSymbol, array, description); };
  if (!place || description == nullptr) return ask();
  return allocate(Kind::array, *place, bytes_of(*description, 1), true, ask,
                  [&] { return reinterpret_cast<std::uintptr_t>(*array); });
}

CUresult create_mipmap(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                       unsigned int levels) {
  const auto place = Tenancy::current() != nullptr ? current_place() : std::nullopt;
  const auto ask = [&] { return call_driver(Symbol::cuMipmappedArrayCreate_, array, description, levels); };
  if (!place || description == nullptr) return ask();
  return allocate(Kind::array, *place, bytes_of(*description, levels), true, ask,
                  [&] { return reinterpret_cast<std::uintptr_t>(*array); });
}

CUresult destroy_array(CUarray array) {
  return release(Kind::array, reinterpret_cast<std::uintptr_t>(array),
                 [&] { return call_driver(Symbol::cuArrayDestroy_, array); });
}

CUresult destroy_mipmap(CUmipmappedArray array) {
  return release(Kind::array, reinterpret_cast<std::uintptr_t>(array),
                 [&] { return call_driver(Symbol::cuMipmappedArrayDestroy_, array); });
}

// ---- physical memory

CUresult create_physical(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                         const CUmemAllocationProp* properties, unsigned long long flags) {
  const auto ask = [&] { return call_driver(Symbol::cuMemCreate_, handle, bytes, properties, flags); };
  const bool on_device = properties != nullptr && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (Tenancy::current() == nullptr || !on_device || properties->location.id < 0) return ask();
  const Place place{nullptr, static_cast<std::uint32_t>(properties->location.id)};
  return allocate(Kind::physical, place, bytes, false, ask, [&] { return *handle; });
}

/// A mapping keeps the memory although the handle is released: it is given back when both are gone
/// (Mappings).
CUresult release_physical(CUmemGenericAllocationHandle handle) {
  const CUresult code = call_driver(Symbol::cuMemRelease_, handle);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr && code == CUDA_SUCCESS) tenancy->mappings().released(handle);
  return code;
}

CUresult retain_physical(CUmemGenericAllocationHandle* handle, void* address) {
  const CUresult code = call_driver(Symbol::cuMemRetainAllocationHandle_, handle, address);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr && code == CUDA_SUCCESS) tenancy->mappings().retained(*handle);
  return code;
}

CUresult map_physical(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const CUresult code = call_driver(Symbol::cuMemMap_, address, bytes, offset, handle, flags);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr && code == CUDA_SUCCESS) tenancy->mappings().mapped(handle, address);
  return code;
}

CUresult unmap_physical(CUdeviceptr address, std::size_t bytes) {
  const CUresult code = call_driver(Symbol::cuMemUnmap_, address, bytes);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr && code == CUDA_SUCCESS) tenancy->mappings().unmapped(address, bytes);
  return code;
}

// ---- what programs are told

template <Symbol kSymbol, class Size>
CUresult memory_info(Size* free, Size* total) {
  const CUresult code = call_driver(kSymbol, free, total);
  Tenancy* const tenancy = Tenancy::current();
  const auto place = tenancy != nullptr && code == CUDA_SUCCESS ? current_place() : std::nullopt;
  if (!place || place->device >= tenancy->gates().size()) return code;
  const auto& limits = tenancy->memory_limits();
  tenancy->graph_memory().settle(place->device);
  if (place->device < limits.size())
    *total = static_cast<Size>(std::min<std::uint64_t>(*total, limits[place->device]));
  *free = static_cast<Size>(std::min<std::uint64_t>({*free, *total, tenancy->ledger().left(place->device)}));
  return code;
}

template <Symbol kSymbol, class Size>
CUresult total_memory(Size* bytes, CUdevice device) {
  const CUresult code = call_driver(kSymbol, bytes, device);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy == nullptr || code != CUDA_SUCCESS || device < 0) return code;
  const auto& limits = tenancy->memory_limits();
  const auto ordinal = static_cast<std::size_t>(device);
  if (ordinal < limits.size()) *bytes = static_cast<Size>(std::min<std::uint64_t>(*bytes, limits[ordinal]));
  return code;
}

}  // namespace

// Made at the first call, which may come before this file's own objects are made.
std::span<const GateFunction> memory_gates() {
#define FAIRGV_GATE(symbol, name, ...) gate_at(Symbol::symbol##_, &name<Symbol::symbol##_, __VA_ARGS__>)
  static const std::array kMemoryGates{
      FAIRGV_GATE(cuMemAlloc, allocate_linear, CUdeviceptr_v1, unsigned int),
      FAIRGV_GATE(cuMemAlloc_v2, allocate_linear, CUdeviceptr, std::size_t),
      FAIRGV_GATE(cuMemAllocPitch, allocate_pitched, CUdeviceptr_v1, unsigned int),
      FAIRGV_GATE(cuMemAllocPitch_v2, allocate_pitched, CUdeviceptr, std::size_t),
      gate_at(Symbol::cuMemAllocManaged_, &allocate_managed),
      FAIRGV_GATE(cuMemFree, free_linear, CUdeviceptr_v1),
      FAIRGV_GATE(cuMemFree_v2, free_linear, CUdeviceptr),
      FAIRGV_GATE(cuMemAllocAsync, allocate_async, false),
      FAIRGV_GATE(cuMemAllocAsync_ptsz, allocate_async, true),
      FAIRGV_GATE(cuMemAllocFromPoolAsync, allocate_from_pool, false),
      FAIRGV_GATE(cuMemAllocFromPoolAsync_ptsz, allocate_from_pool, true),
      FAIRGV_GATE(cuMemFreeAsync, free_async, false),
      FAIRGV_GATE(cuMemFreeAsync_ptsz, free_async, true),
      FAIRGV_GATE(cuArrayCreate, create_array, CUDA_ARRAY_DESCRIPTOR_v1),
      FAIRGV_GATE(cuArrayCreate_v2, create_array, CUDA_ARRAY_DESCRIPTOR),
      FAIRGV_GATE(cuArray3DCreate, create_array, CUDA_ARRAY3D_DESCRIPTOR_v1),
      FAIRGV_GATE(cuArray3DCreate_v2, create_array, CUDA_ARRAY3D_DESCRIPTOR),
      gate_at(Symbol::cuMipmappedArrayCreate_, &create_mipmap),
      gate_at(Symbol::cuArrayDestroy_, &destroy_array),
      gate_at(Symbol::cuMipmappedArrayDestroy_, &destroy_mipmap),
      gate_at(Symbol::cuMemCreate_, &create_physical),
      gate_at(Symbol::cuMemRelease_, &release_physical),
      gate_at(Symbol::cuMemRetainAllocationHandle_, &retain_physical),
      gate_at(Symbol::cuMemMap_, &map_physical),
      gate_at(Symbol::cuMemUnmap_, &unmap_physical),
      FAIRGV_GATE(cuMemGetInfo, memory_info, unsigned int),
      FAIRGV_GATE(cuMemGetInfo_v2, memory_info, std::size_t),
      FAIRGV_GATE(cuDeviceTotalMem, total_memory, unsigned int),
      FAIRGV_GATE(cuDeviceTotalMem_v2, total_memory, std::size_t),
  };
#undef FAIRGV_GATE
  return kMemoryGates;
}

}  // namespace fairgv::cuda::direct
