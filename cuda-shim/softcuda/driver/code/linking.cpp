// Entry points: linking (CUDA Driver API, "cuLinkCreate" and its kin). One PTX text, or a fatbin that holds
// one, comes out as it went in; there is no linker for several, and none for machine code.
#include "cuda-shim/softcuda/driver/code/linking.hpp"
#include "cuda-shim/api/code/image_source.hpp"
#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

JitOptions options_of(const Linking& linking) {
  JitOptions options;
  options.error = {linking.error_log, linking.error_log_size, nullptr};
  return options;
}

CUresult check_input(Linking& linking, CUjitInputType type, LoadLog& log) {
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
  if (linking.added) {
    log.error = "the soft device links one PTX text, not several";
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult add(Linking& linking, CUjitInputType type, const void* data, std::size_t size) {
  LoadLog log;
  const std::lock_guard guard(linking.lock);
  CUresult code = check_input(linking, type, log);
  std::string ptx;
  if (code == CUDA_SUCCESS) code = ptx_of_image(data, size, ptx, log);
  // Translated here already: this is where a program looks for the error.
  if (code == CUDA_SUCCESS) Image::of_ptx(ptx, code, log);
  tell(log, options_of(linking), code);
  if (code != CUDA_SUCCESS) return code;
  linking.ptx = std::move(ptx);
  linking.added = true;
  return CUDA_SUCCESS;
}

template <typename Body>
CUresult on_linking(CUlinkState handle, const Body& body) noexcept {
  return initialized([&](Driver& driver) {
    const auto linking = driver.linkings.find(handle);
    return linking ? static_cast<CUresult>(body(*linking)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  return in_context([=](Driver& driver, Context&) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitOptions read;
    if (const CUresult code = read_jit_options(count, options, values, read); code != CUDA_SUCCESS)
      return code;
    auto linking = std::make_shared<Linking>();
    linking->error_log = read.error.buffer;
    linking->error_log_size = read.error.size;
    *state = reinterpret_cast<CUlinkState>(driver.linkings.add(std::move(linking)));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t size,
                               const char*, unsigned int, CUjit_option*, void**) {
  return on_linking(state, [=](Linking& linking) {
    return data == nullptr || size == 0 ? CUDA_ERROR_INVALID_VALUE : add(linking, type, data, size);
  });
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int,
                               CUjit_option*, void**) {
  return on_linking(state, [=](Linking& linking) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string bytes;
    const CUresult code = read_whole_file(path, bytes);
    return code == CUDA_SUCCESS ? add(linking, type, bytes.data(), bytes.size()) : code;
  });
}

CUresult CUDAAPI cuLinkComplete(CUlinkState state, void** image, std::size_t* size) {
  return on_linking(state, [=](Linking& linking) {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard guard(linking.lock);
    if (!linking.added) return CUDA_ERROR_INVALID_VALUE;
    *image = linking.ptx.data();
    if (size != nullptr) *size = linking.ptx.size() + 1;  // with the zero that ends it
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState state) {
  return initialized(
      [=](Driver& driver) { return driver.linkings.take(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

}  // extern "C"
}  // namespace fairgv::cuda
