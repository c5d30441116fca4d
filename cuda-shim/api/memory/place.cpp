#include <cstring>

#include "cuda-shim/api/memory/bounds.hpp"
#include "cuda-shim/api/memory/copy.hpp"
#include "cuda-shim/api/memory/copy_sides.hpp"
#include "cuda-shim/api/memory/mapped.hpp"
#include "cuda-shim/api/scheduler.hpp"

namespace fairgv::cuda {
namespace {

Side side_of(const Allocation* allocation) {
  if (allocation == nullptr) return Side::pageable;
  return allocation->is_host() ? Side::pinned : Side::device;
}

CUresult array_box(Driver& driver, const PitchedSide& side, const Extent& extent, Place& place) {
  auto array = driver.arrays.find(side.array);
  if (!array) return CUDA_ERROR_INVALID_HANDLE;
  const auto outside = [](std::size_t begin, std::size_t size, std::size_t whole) {
    return begin > whole || size > whole - begin;
  };
  if (outside(side.x, extent.width, array->row_bytes) || outside(side.y, extent.height, array->rows) ||
      outside(side.z, extent.depth, array->layers)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  place.pitch = array->row_bytes;
  place.slice = array->row_bytes * array->rows;
  place.x = side.x;
  place.y = side.y;
  place.z = side.z;
  place.side = Side::device;
  place.array = std::move(array);
  return CUDA_SUCCESS;
}

}  // namespace

std::optional<std::size_t> span_of(const Extent& extent, std::size_t pitch, std::size_t slice) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return 0;
  std::size_t rows = 0;
  std::size_t slices = 0;
  std::size_t total = 0;
  if (__builtin_mul_overflow(extent.height - 1, pitch, &rows) ||
      __builtin_mul_overflow(extent.depth - 1, slice, &slices) ||
      __builtin_add_overflow(rows, slices, &total) || __builtin_add_overflow(total, extent.width, &total)) {
    return std::nullopt;
  }
  return total;
}

void move_bytes(const Place& to, const Place& from, const Extent& extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    for (std::size_t y = 0; y < extent.height; ++y) {
      std::memmove(to.host() + z * to.slice + y * to.pitch, from.host() + z * from.slice + y * from.pitch,
                   extent.width);
    }
  }
}

CUresult device_place(const Driver& driver, CUdeviceptr address, std::size_t size, Place& place) {
  const auto allocation = driver.memory.find(address);
  if (!allocation || !driver.memory.covers(*allocation, address, size)) return CUDA_ERROR_INVALID_VALUE;
  place.address = address;
  place.side = side_of(allocation.get());
  place.allocation = allocation;
  return CUDA_SUCCESS;
}

CUresult any_place(const Driver& driver, CUdeviceptr address, std::size_t size, Place& place) {
  if (address == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto allocation = driver.memory.find(address);
  if (allocation && !driver.memory.covers(*allocation, address, size)) {
    // A registered range has its given end; the program's memory may extend beyond it.
    if (allocation->kind != MemoryKind::registered) return CUDA_ERROR_INVALID_VALUE;
  }
  place.address = address;
  place.side = side_of(allocation.get());
  place.allocation = allocation;
  return CUDA_SUCCESS;
}

CUresult check_target(const Driver& driver, const Place& to, const Extent& extent) {
  if (!to.allocation) return CUDA_SUCCESS;
  if (is_read_only(*to.allocation)) return CUDA_ERROR_INVALID_VALUE;
  if (to.allocation->kind != MemoryKind::ranged) return CUDA_SUCCESS;
  const auto size = span_of(extent, to.pitch, to.slice);
  return size && driver.memory.covers(to.address, *size, Use::write) ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_INVALID_VALUE;
}

CUresult host_place(const Driver& driver, const void* pointer, std::size_t size, Place& place) {
  return any_place(driver, reinterpret_cast<CUdeviceptr>(pointer), size, place);
}

CUresult array_place(Driver& driver, CUarray array, std::size_t offset, std::size_t size, Place& place) {
  PitchedSide side;
  side.array = array;
  side.x = offset;
  return array_box(driver, side, {size, 1, 1}, place);
}

CUresult pitched_place(Driver& driver, const PitchedSide& side, const Extent& extent, Place& place) {
  if (side.type == CU_MEMORYTYPE_ARRAY) return array_box(driver, side, extent, place);
  std::size_t row = 0;
  if (__builtin_add_overflow(side.x, extent.width, &row) || side.pitch > kLargestPitch)
    return CUDA_ERROR_INVALID_VALUE;
  const bool one_row = extent.height == 1 && extent.depth == 1 && side.y == 0 && side.z == 0;
  if (!one_row && side.pitch < row) return CUDA_ERROR_INVALID_VALUE;
  if ((extent.depth > 1 || side.z > 0) && side.height < side.y + extent.height)
    return CUDA_ERROR_INVALID_VALUE;
  place.pitch = side.pitch;
  std::size_t before = 0;
  if (__builtin_mul_overflow(side.pitch, side.height, &place.slice) ||
      __builtin_mul_overflow(side.z, place.slice, &before)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto size = span_of(extent, place.pitch, place.slice);
  if (!size) return CUDA_ERROR_INVALID_VALUE;
  before += side.y * side.pitch + side.x;
  switch (side.type) {
    case CU_MEMORYTYPE_HOST:
      return side.host == nullptr
                 ? CUDA_ERROR_INVALID_VALUE
                 : host_place(driver, static_cast<const std::byte*>(side.host) + before, *size, place);
    case CU_MEMORYTYPE_DEVICE:
      return device_place(driver, side.device + before, *size, place);
    case CU_MEMORYTYPE_UNIFIED:
      return any_place(driver, side.device + before, *size, place);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUDA_MEMCPY3D describe_copy(const Place& to, const Place& from, const Extent& extent) {
  CUDA_MEMCPY3D p{};
  p.WidthInBytes = extent.width;
  p.Height = extent.height;
  p.Depth = extent.depth;
  const auto type_of = [](const Place& place) {
    if (place.array) return CU_MEMORYTYPE_ARRAY;
    return place.side == Side::device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  };
  const auto pitch_of = [&extent](const Place& place) {
    return place.pitch == 0 ? extent.width : place.pitch;
  };
  const auto height_of = [&extent, &pitch_of](const Place& place) {
    return place.slice == 0 ? extent.height : place.slice / pitch_of(place);
  };
  p.srcMemoryType = type_of(from);
  p.dstMemoryType = type_of(to);
  if (from.array) {
    p.srcArray = reinterpret_cast<CUarray>(from.array.get());
    p.srcXInBytes = from.x;
    p.srcY = from.y;
    p.srcZ = from.z;
  } else {
    p.srcHost = p.srcMemoryType == CU_MEMORYTYPE_HOST ? from.host() : nullptr;
    p.srcDevice = p.srcMemoryType == CU_MEMORYTYPE_DEVICE ? from.address : 0;
    p.srcPitch = pitch_of(from);
    p.srcHeight = height_of(from);
  }
  if (to.array) {
    p.dstArray = reinterpret_cast<CUarray>(to.array.get());
    p.dstXInBytes = to.x;
    p.dstY = to.y;
    p.dstZ = to.z;
  } else {
    p.dstHost = p.dstMemoryType == CU_MEMORYTYPE_HOST ? to.host() : nullptr;
    p.dstDevice = p.dstMemoryType == CU_MEMORYTYPE_DEVICE ? to.address : 0;
    p.dstPitch = pitch_of(to);
    p.dstHeight = height_of(to);
  }
  return p;
}

namespace {

bool is_empty(const Fill& fill) {
  return fill.count == 0 || fill.rows == 0;
}

}  // namespace

CUresult find_filled(const Driver& driver, const Fill& fill, std::shared_ptr<Allocation>& allocation) {
  if (is_empty(fill)) return CUDA_SUCCESS;
  std::size_t width = 0;
  if (__builtin_mul_overflow(fill.count, fill.element, &width)) return CUDA_ERROR_INVALID_VALUE;
  if (fill.address % fill.element != 0) return CUDA_ERROR_INVALID_VALUE;
  if (fill.rows > 1 && (fill.pitch < width || fill.pitch % fill.element != 0))
    return CUDA_ERROR_INVALID_VALUE;
  const auto size = span_of({width, fill.rows, 1}, fill.pitch, 0);
  if (!size) return CUDA_ERROR_INVALID_VALUE;
  allocation = driver.memory.find(fill.address);
  const bool covers = allocation && driver.memory.covers(*allocation, fill.address, *size, Use::write);
  return covers && !is_read_only(*allocation) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_fill(const Driver& driver, const Fill& fill) {
  std::shared_ptr<Allocation> allocation;
  return find_filled(driver, fill, allocation);
}

CUresult fill(Driver& driver, const std::shared_ptr<Stream>& stream, const Fill& fill) {
  std::shared_ptr<Allocation> allocation;
  const CUresult code = find_filled(driver, fill, allocation);
  return code == CUDA_SUCCESS && allocation ? driver.scheduler.fill(stream, fill, *allocation) : code;
}

}  // namespace fairgv::cuda
