#include "cuda-shim/softcuda/driver/code/linking.hpp"

#include "cuda-shim/softcuda/driver/code/module.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"

namespace fairgv::cuda::soft {
namespace {

void append(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += "\n";
  text += more;
}

}  // namespace

std::shared_ptr<cuda::Linking> Engine::make_linking(Context&, JitOptions options) {
  return std::make_shared<Linking>(std::move(options));
}

void Linking::say(const LoadLog& log, CUresult code) {
  append(said_.error, log.error);
  append(said_.info, log.info);
  // Standard error, where there is no buffer, has the earlier lines.
  const LoadLog told{options_.error.buffer != nullptr ? said_.error : log.error, said_.info};
  tell(told, options_, code);
}

CUresult Linking::add(CUjitInputType type, const void* data, std::size_t size, const char* name) {
  LoadLog log;
  const std::lock_guard guard(lock_);
  ++number_;
  const bool is_named = name != nullptr && *name != '\0';
  const ImageBytes input(static_cast<const std::byte*>(data), size);
  const CUresult code = linker_.add(type, input, is_named ? name : "input " + std::to_string(number_), log);
  if (code == CUDA_SUCCESS) ptx_.clear();
  say(log, code);
  return code;
}

CUresult Linking::link(LoadLog& log) {
  const CUresult linked = linker_.link(ptx_, log);
  if (linked != CUDA_SUCCESS) return linked;
  // Says which kernels cannot be translated: this is where a program looks for it.
  CUresult code = CUDA_SUCCESS;
  Image::of_ptx(ptx_, options_, code, log);
  if (code != CUDA_SUCCESS) ptx_.clear();
  return code;
}

CUresult Linking::complete(void*& image, std::size_t& size) {
  const std::lock_guard guard(lock_);
  if (linker_.is_empty()) return CUDA_ERROR_INVALID_VALUE;
  if (ptx_.empty()) {
    LoadLog log;
    const CUresult code = link(log);
    say(log, code);
    if (code != CUDA_SUCCESS) return code;
  }
  image = ptx_.data();
  size = ptx_.size() + 1;  // with the zero that ends it
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft
