// Entry points: functions (CUDA Driver API, "Execution Control": attributes) and occupancy ("Occupancy").
#include <algorithm>

#include "entry.hpp"
#include "limits.hpp"
#include "module.hpp"

namespace fairgv::softcuda {
namespace {

template <typename Body>
CUresult on_function(CUfunction handle, const Body& body) noexcept {
  return in_context([&](Driver& driver, Context& context) {
    CUresult code = CUDA_SUCCESS;
    const auto function = find_function(driver, context, handle, code);
    return function ? static_cast<CUresult>(body(driver, *function)) : code;
  });
}

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kSharedGranularity - 1) / kSharedGranularity * kSharedGranularity;
}

/// Blocks that a multiprocessor holds at once, by the attributes of the device.
std::uint64_t blocks_at_once(const OpenClDevice& device, const Function& function, std::uint64_t threads,
                             std::uint64_t dynamic_shared) {
  const DeviceFacts& facts = device.facts();
  if (threads > function.largest_block(device)) return 0;
  const std::uint64_t warps = (threads + kWarp - 1) / kWarp;
  std::uint64_t blocks =
      std::min<std::uint64_t>(kBlocksPerMultiprocessor, threads_per_multiprocessor(facts) / kWarp / warps);
  const std::uint64_t shared = rounded(function.info().static_shared_bytes + dynamic_shared);
  if (shared != 0) blocks = std::min(blocks, shared_at_most(facts) / shared);
  return blocks;
}

CUresult best_block(const OpenClDevice& device, const Function& function, CUoccupancyB2DSize shared_of,
                    std::size_t dynamic_shared, int limit, int& grid, int& block) {
  const DeviceFacts& facts = device.facts();
  std::uint32_t largest = function.largest_block(device);
  if (limit > 0) largest = std::min(largest, static_cast<std::uint32_t>(limit));
  std::uint64_t best_threads = 0;
  for (std::uint32_t asked = (largest + kWarp - 1) / kWarp * kWarp; asked > 0; asked -= kWarp) {
    const std::uint32_t size = std::min(asked, largest);
    const std::uint64_t shared = shared_of != nullptr ? shared_of(static_cast<int>(size)) : dynamic_shared;
    const std::uint64_t blocks = blocks_at_once(device, function, size, shared);
    if (blocks * size <= best_threads) continue;
    best_threads = blocks * size;
    block = static_cast<int>(size);
    grid = static_cast<int>(blocks * std::max(1U, facts.compute_units));
  }
  return best_threads == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return on_function(handle, [=](Driver& driver, Function& function) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE
                            : function.attribute(*driver.device, attribute, *value);
  });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return on_function(handle, [=](Driver& driver, Function& function) {
    return function.set_attribute(*driver.device, attribute, value);
  });
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  return on_function(handle, [=](Driver&, Function&) {
    return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  return on_function(handle, [=](Driver&, Function&) {
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
                   config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetModule(CUmodule* module, CUfunction handle) {
  return on_function(handle, [=](Driver&, Function& function) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = function.module().handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetName(const char** name, CUfunction handle) {
  return on_function(handle, [=](Driver&, Function& function) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = function.info().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t* offset,
                                    std::size_t* size) {
  return on_function(handle, [=](Driver&, Function& function) {
    return parameter_info(function.info(), index, offset, size);
  });
}

CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  return on_function(handle, [=](Driver&, Function&) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncLoad(CUfunction handle) {
  return on_function(handle, [](Driver&, Function&) { return CUDA_SUCCESS; });
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction handle,
                                                                      int block_size,
                                                                      std::size_t dynamic_shared,
                                                                      unsigned int flags) {
  return on_function(handle, [=](Driver& driver, Function& function) {
    if (blocks == nullptr || block_size <= 0 ||
        (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *blocks = static_cast<int>(
        blocks_at_once(*driver.device, function, static_cast<std::uint64_t>(block_size), dynamic_shared));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size,
                                                             std::size_t dynamic_shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared,
                                                              0);
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction handle,
                                                           CUoccupancyB2DSize shared_of,
                                                           std::size_t dynamic_shared, int limit,
                                                           unsigned int flags) {
  return on_function(handle, [=](Driver& driver, Function& function) {
    if (grid == nullptr || block == nullptr || limit < 0 ||
        (flags & ~unsigned{CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return best_block(*driver.device, function, shared_of, dynamic_shared, limit, *grid, *block);
  });
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                  CUoccupancyB2DSize shared_of, std::size_t dynamic_shared,
                                                  int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, dynamic_shared, limit,
                                                   0);
}

CUresult CUDAAPI cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction handle, int blocks,
                                                         int block_size) {
  return on_function(handle, [=](Driver& driver, Function& function) {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t asked = static_cast<std::uint64_t>(blocks);
    if (asked > blocks_at_once(*driver.device, function, static_cast<std::uint64_t>(block_size), 0)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::uint64_t each =
        shared_at_most(driver.device->facts()) / asked / kSharedGranularity * kSharedGranularity;
    const std::uint64_t fixed = function.info().static_shared_bytes;
    *bytes = each > fixed ? std::min(each - fixed, function.largest_dynamic_shared(*driver.device)) : 0;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::softcuda
