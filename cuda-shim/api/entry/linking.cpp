// Entry points: linking (CUDA Driver API, "cuLinkCreate" and its kin).
#include "cuda-shim/api/code/linking.hpp"

#include <string>

#include "cuda-shim/api/code/image_source.hpp"
#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

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
  return in_context([=](Driver& driver, Context& context) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitOptions read;
    if (const CUresult code = read_jit_options(count, options, values, read); code != CUDA_SUCCESS)
      return code;
    *state = reinterpret_cast<CUlinkState>(
        driver.linkings.add(driver.engine.make_linking(context, std::move(read))));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t size,
                               const char* name, unsigned int, CUjit_option*, void**) {
  return on_linking(state, [=](Linking& linking) {
    return data == nullptr || size == 0 ? CUDA_ERROR_INVALID_VALUE : linking.add(type, data, size, name);
  });
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int,
                               CUjit_option*, void**) {
  return on_linking(state, [=](Linking& linking) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string bytes;
    const CUresult code = read_whole_file(path, bytes);
    return code == CUDA_SUCCESS ? linking.add(type, bytes.data(), bytes.size(), path) : code;
  });
}

CUresult CUDAAPI cuLinkComplete(CUlinkState state, void** image, std::size_t* size) {
  return on_linking(state, [=](Linking& linking) {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::size_t bytes = 0;
    const CUresult code = linking.complete(*image, bytes);
    if (code == CUDA_SUCCESS && size != nullptr) *size = bytes;
    return code;
  });
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState state) {
  return initialized(
      [=](Driver& driver) { return driver.linkings.take(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

}  // extern "C"
}  // namespace fairgv::cuda
