// Entry points: functions (CUDA Driver API, "Execution Control": attributes) and occupancy ("Occupancy").
#include <algorithm>

#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

template <typename Body>
CUresult on_function(CUfunction handle, const Body& body) noexcept {
  return in_context([&](Driver& driver, Context& context) {
    CUresult code = CUDA_SUCCESS;
    const auto function = find_function(driver, context, handle, code);
    return function ? static_cast<CUresult>(body(driver, *function)) : code;
  });
}

/// For calls that know no invalid handle.
template <typename Body>
CUresult on_given_function(CUfunction handle, const Body& body) noexcept {
  return unless_null(handle, [&] { return on_function(handle, body); });
}

constexpr unsigned kOccupancyFlags = CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE;

/// The block size with which most threads run at once.
CUresult best_block(Driver& driver, CUdevice device, Function& function, CUoccupancyB2DSize shared_of,
                    std::size_t dynamic_shared, int limit, unsigned flags, int& grid, int& block) {
  const auto warp =
      static_cast<std::uint32_t>(std::max(1, driver.engine.attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE)));
  const int units = driver.engine.attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  std::uint32_t largest = function.facts().largest_block;
  if (limit > 0) largest = std::min(largest, static_cast<std::uint32_t>(limit));
  std::uint64_t best_threads = 0;
  for (std::uint32_t asked = (largest + warp - 1) / warp * warp; asked > 0; asked -= warp) {
    const std::uint32_t size = std::min(asked, largest);
    const std::uint64_t shared = shared_of != nullptr ? shared_of(static_cast<int>(size)) : dynamic_shared;
    std::uint64_t blocks = 0;
    const CUresult code = function.blocks_at_once(size, shared, flags, blocks);
    if (code != CUDA_SUCCESS) return code;
    if (blocks * size <= best_threads) continue;
    best_threads = blocks * size;
    block = static_cast<int>(size);
    grid = static_cast<int>(blocks) * std::max(1, units);
  }
  return best_threads == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return on_function(handle, [=](Driver&, Function& function) {
    return value == nullptr ? CUDA_ERROR_INVALID_VALUE : function.attribute(attribute, *value);
  });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return on_function(handle,
                     [=](Driver&, Function& function) { return function.set_attribute(attribute, value); });
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  return on_given_function(handle, [=](Driver&, Function&) {
    return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  return on_given_function(handle, [=](Driver&, Function&) {
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
                   config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetModule(CUmodule* module, CUfunction handle) {
  return on_given_function(handle, [=](Driver&, Function& function) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = function.module().handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetName(const char** name, CUfunction handle) {
  return on_given_function(handle, [=](Driver&, Function& function) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = function.facts().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t* offset,
                                    std::size_t* size) {
  return on_given_function(handle, [=](Driver&, Function& function) {
    const auto& layout = function.facts().parameters;
    if (offset == nullptr || index >= layout.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = layout[index].offset;
    if (size != nullptr) *size = layout[index].size;
    return CUDA_SUCCESS;
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
  return on_given_function(handle, [=](Driver&, Function& function) {
    if (blocks == nullptr || block_size <= 0 || (flags & ~kOccupancyFlags) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::uint64_t count = 0;
    const CUresult code =
        function.blocks_at_once(static_cast<std::uint32_t>(block_size), dynamic_shared, flags, count);
    if (code == CUDA_SUCCESS) *blocks = static_cast<int>(count);
    return code;
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
  return on_given_function(handle, [=](Driver& driver, Function& function) {
    if (grid == nullptr || block == nullptr || limit < 0 || (flags & ~kOccupancyFlags) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return best_block(driver, function.module().device(), function, shared_of, dynamic_shared, limit, flags,
                      *grid, *block);
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
  return on_given_function(handle, [=](Driver&, Function& function) {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t available = 0;
    const CUresult code = function.available_shared(static_cast<std::uint32_t>(blocks),
                                                    static_cast<std::uint32_t>(block_size), available);
    if (code == CUDA_SUCCESS) *bytes = available;
    return code;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
