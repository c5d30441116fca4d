// Entry points: launches as the first CUDA releases had them (CUDA Driver API, "Execution Control
// [DEPRECATED]"). A function keeps what is set; the launch itself is cuLaunchKernel's.
#include <cstdint>

#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

template <typename Body>
CUresult on_prepared(CUfunction handle, const Body& body) noexcept {
  return unless_null(handle, [&] {
    return in_context([&](Driver& driver, Context& context) {
      CUresult code = CUDA_SUCCESS;
      const auto function = find_function(driver, context, handle, code);
      return function ? static_cast<CUresult>(body(function->prepared)) : code;
    });
  });
}

CUresult set_parameter(CUfunction function, int offset, const void* value, std::size_t bytes) noexcept {
  return on_prepared(function, [=](PreparedLaunch& prepared) {
    if (offset < 0 || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return prepared.set_parameter(static_cast<std::size_t>(offset), value, bytes) ? CUDA_SUCCESS
                                                                                  : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult launch(CUfunction function, int width, int height, CUstream stream) noexcept {
  PreparedLaunch::Values set;
  const CUresult code = on_prepared(function, [&](const PreparedLaunch& prepared) {
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    set = prepared.values();
    return CUDA_SUCCESS;
  });
  if (code != CUDA_SUCCESS) return code;
  std::byte none{};
  std::size_t bytes = set.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes == 0 ? &none : set.parameters.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        set.block[0], set.block[1], set.block[2], set.dynamic_shared, stream, nullptr, extra);
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return on_prepared(function, [=](PreparedLaunch& prepared) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    prepared.set_block(
        {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)});
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
  return on_prepared(function, [=](PreparedLaunch& prepared) {
    prepared.set_shared(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuParamSetSize(CUfunction function, unsigned int bytes) {
  return on_prepared(function, [=](PreparedLaunch& prepared) {
    return prepared.set_size(bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return set_parameter(function, offset, &value, sizeof value);
}

CUresult CUDAAPI cuParamSetf(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof value);
}

CUresult CUDAAPI cuParamSetv(CUfunction function, int offset, void* value, unsigned int bytes) {
  return set_parameter(function, offset, value, bytes);
}

CUresult CUDAAPI cuLaunch(CUfunction function) {
  return launch(function, 1, 1, nullptr);
}

CUresult CUDAAPI cuLaunchGrid(CUfunction function, int width, int height) {
  return launch(function, width, height, nullptr);
}

CUresult CUDAAPI cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch(function, width, height, stream);
}

}  // extern "C"
}  // namespace fairgv::cuda
