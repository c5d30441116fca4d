#include <algorithm>
#include <cstring>

#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {

void Pool::charge(std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  used_ += bytes;
  used_high_ = std::max(used_high_, used_);
}

void Pool::discharge(std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  used_ -= std::min(used_, bytes);
}

CUresult Pool::attribute(CUmemPool_attribute which, void* value) const {
  const std::lock_guard guard(lock_);
  const auto tell = [value](auto number) {
    std::memcpy(value, &number, sizeof number);
    return CUDA_SUCCESS;
  };
  switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return tell(reuse_event_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return tell(reuse_opportunistic_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return tell(reuse_internal_);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return tell(release_threshold_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:  // no unused memory is kept
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return tell(used_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return tell(used_high_);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Pool::set_attribute(CUmemPool_attribute which, const void* value) {
  const std::lock_guard guard(lock_);
  const auto take = [value](auto& number) {
    std::memcpy(&number, value, sizeof number);
    return CUDA_SUCCESS;
  };
  switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return take(reuse_event_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      return take(reuse_opportunistic_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return take(reuse_internal_);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return take(release_threshold_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: {
      std::uint64_t asked = 0;
      std::memcpy(&asked, value, sizeof asked);
      if (asked != 0) return CUDA_ERROR_INVALID_VALUE;  // a high mark can only be reset
      used_high_ = used_;
      return CUDA_SUCCESS;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace fairgv::cuda
