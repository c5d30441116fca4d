// Entry points: copies in batches (CUDA Driver API, "cuMemcpyBatchAsync", "cuMemcpy3DBatchAsync"). Compiled
// twice: stream_entry.hpp. A batch is checked as a whole; then its copies are queued one by one.
#include <limits>
#include <vector>

#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/memory/copy_sides.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

struct BatchCopy {
  CopyCommand command;
  bool during_call = false;  // the source is read before the call returns
};

bool valid_attributes(CUmemcpySrcAccessOrder order, unsigned flags) {
  return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
         (flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) == 0;
}

/// describe(driver, index, copy) checks and describes one copy.
template <typename Describe>
CUresult put_batch(CUstream handle, std::size_t count, const Describe& describe) noexcept {
  return on_stream(handle, [&](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) -> CUresult {
    if (stream->kind() == StreamKind::legacy || count == 0) return CUDA_ERROR_INVALID_VALUE;
    std::vector<BatchCopy> batch(count);
    bool waits = false;
    for (std::size_t at = 0; at < count; ++at) {
      if (const CUresult code = describe(driver, at, batch[at]); code != CUDA_SUCCESS) return code;
      // Pageable memory has been read when a copy returns.
      waits = waits || (batch[at].during_call && batch[at].command.from.side != Side::pageable);
    }
    if (waits && driver.captures.any()) {
      if (const CUresult code = driver.captures.refuse(stream); code != CUDA_SUCCESS) return code;
    }
    for (BatchCopy& copy : batch) {
      if (is_empty(copy.command.extent)) continue;
      if (const CUresult code = put(driver, stream, std::move(copy.command)); code != CUDA_SUCCESS)
        return code;
    }
    return waits ? driver.scheduler.synchronize(stream) : CUDA_SUCCESS;
  });
}

/// Each entry of the attributes is for the copies from its index on, to the next one's.
bool valid_indices(const std::size_t* indices, std::size_t count, std::size_t copies) {
  if (indices[0] != 0) return false;
  for (std::size_t at = 1; at < count; ++at) {
    if (indices[at] <= indices[at - 1]) return false;
  }
  return indices[count - 1] < copies;
}

/// One side of a copy of elements. `element`: bytes of an array's elements; 0: no array is part of the copy.
CUresult side_of(const Driver& driver, const CUmemcpy3DOperand& operand, const CUextent3D& extent,
                 std::size_t element, PitchedSide& side) {
  constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const auto& array = operand.op.array;
    if (!driver.arrays.find(array.array) || array.offset.x > kMost) return CUDA_ERROR_INVALID_VALUE;
    side.type = CU_MEMORYTYPE_ARRAY;
    side.array = array.array;
    side.x = array.offset.x * element;
    side.y = array.offset.y;
    side.z = array.offset.z;
    return CUDA_SUCCESS;
  }
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_POINTER) return CUDA_ERROR_INVALID_VALUE;
  const auto& pointer = operand.op.ptr;
  const bool fits = (pointer.rowLength == 0 || pointer.rowLength >= extent.width) &&
                    (pointer.layerHeight == 0 || pointer.layerHeight >= extent.height);
  if (!fits || pointer.rowLength > kMost) return CUDA_ERROR_INVALID_VALUE;
  side.type = CU_MEMORYTYPE_UNIFIED;
  side.device = pointer.ptr;
  // A pitch is of no meaning for one row, which may be longer than any pitch.
  const bool one_row = extent.height == 1 && extent.depth == 1;
  if (!one_row) side.pitch = (pointer.rowLength == 0 ? extent.width : pointer.rowLength) * element;
  side.height = pointer.layerHeight == 0 ? extent.height : pointer.layerHeight;
  return CUDA_SUCCESS;
}

/// 0: the operand is no array that there is.
std::size_t element_of(const Driver& driver, const CUmemcpy3DOperand& operand) {
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return 0;
  const auto array = driver.arrays.find(operand.op.array.array);
  return array ? array->element_bytes : 0;
}

CUresult describe_box(Driver& driver, const CUDA_MEMCPY3D_BATCH_OP& wish, BatchCopy& copy) {
  const CUextent3D& extent = wish.extent;
  if (!valid_attributes(wish.srcAccessOrder, wish.flags) || extent.width == 0 || extent.height == 0 ||
      extent.depth == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::size_t of_target = element_of(driver, wish.dst);
  const std::size_t of_source = element_of(driver, wish.src);
  if (of_target != 0 && of_source != 0 && of_target != of_source) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t element = of_target != 0 ? of_target : of_source != 0 ? of_source : 1;
  PitchedSide target;
  PitchedSide source;
  CUresult code = side_of(driver, wish.dst, extent, element, target);
  if (code == CUDA_SUCCESS) code = side_of(driver, wish.src, extent, element, source);
  if (code != CUDA_SUCCESS) return code;
  copy.during_call = wish.srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  Extent& box = copy.command.extent;
  box = {0, extent.height, extent.depth};
  if (__builtin_mul_overflow(extent.width, element, &box.width)) return CUDA_ERROR_INVALID_VALUE;
  code = pitched_place(driver, target, box, copy.command.to);
  return code == CUDA_SUCCESS ? pitched_place(driver, source, box, copy.command.from) : code;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                                    CUmemcpyAttributes* attributes, std::size_t* indices,
                                    std::size_t attribute_count, CUstream stream) {
  std::size_t group = 0;  // of the attributes, for the copy at hand
  return put_batch(stream, count, [&](Driver& driver, std::size_t at, BatchCopy& copy) {
    if (at == 0) {
      const bool given = to != nullptr && from != nullptr && sizes != nullptr && attributes != nullptr &&
                         indices != nullptr && attribute_count != 0 && attribute_count <= count;
      if (!given || !valid_indices(indices, attribute_count, count)) return CUDA_ERROR_INVALID_VALUE;
    }
    if (group + 1 < attribute_count && indices[group + 1] <= at) ++group;
    const CUmemcpyAttributes& wish = attributes[group];
    if (!valid_attributes(wish.srcAccessOrder, wish.flags)) return CUDA_ERROR_INVALID_VALUE;
    copy.during_call = wish.srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    copy.command.extent = {sizes[at], 1, 1};
    const CUresult code = any_place(driver, to[at], sizes[at], copy.command.to);
    return code == CUDA_SUCCESS ? any_place(driver, from[at], sizes[at], copy.command.from) : code;
  });
}

CUresult CUDAAPI cuMemcpy3DBatchAsync(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* wishes,
                                      unsigned long long flags, CUstream stream) {
  return put_batch(stream, count, [=](Driver& driver, std::size_t at, BatchCopy& copy) {
    return wishes == nullptr || flags != 0 ? CUDA_ERROR_INVALID_VALUE
                                           : describe_box(driver, wishes[at], copy);
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
