#include "cuda-shim/softcuda/driver/code/linking.hpp"

#include "cuda-shim/softcuda/driver/code/module.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"

namespace fairgv::cuda::soft {

std::shared_ptr<cuda::Linking> Engine::make_linking(Context&, JitOptions options) {
  return std::make_shared<Linking>(options);
}

/// With the lock.
CUresult Linking::check_input(CUjitInputType type, LoadLog& log) const {
  switch (type) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
      break;
    case CU_JIT_INPUT_CUBIN:
      log.error = "a cubin is machine code, and the soft device runs PTX";
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    default:
      log.error = "only PTX and fatbins can be linked on the soft device";
      return type < 0 || type >= CU_JIT_NUM_INPUT_TYPES ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
  }
  if (added_) {
    log.error = "the soft device links one PTX text, not several";
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult Linking::add(CUjitInputType type, const void* data, std::size_t size, const char*) {
  LoadLog log;
  const std::lock_guard guard(lock_);
  CUresult code = check_input(type, log);
  std::string ptx;
  if (code == CUDA_SUCCESS) code = ptx_of_image(data, size, ptx, log);
  // Translated here already, because this is where a program looks for the error.
  if (code == CUDA_SUCCESS) Image::of_ptx(ptx, code, log);
  tell(log, options_, code);
  if (code != CUDA_SUCCESS) return code;
  ptx_ = std::move(ptx);
  added_ = true;
  return CUDA_SUCCESS;
}

CUresult Linking::complete(void*& image, std::size_t& size) {
  const std::lock_guard guard(lock_);
  if (!added_) return CUDA_ERROR_INVALID_VALUE;
  image = ptx_.data();
  size = ptx_.size() + 1;  // with the zero that ends it
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft
