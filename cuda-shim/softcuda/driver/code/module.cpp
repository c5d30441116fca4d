#include "cuda-shim/softcuda/driver/code/module.hpp"

#include <cstring>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/storage.hpp"

namespace fairgv::cuda::soft {

std::shared_ptr<cuda::Image> Engine::load_image(const void* image, std::optional<std::uint64_t> size,
                                                const JitOptions& options, CUresult& code, LoadLog& log) {
  std::string ptx;
  code = ptx_of_image(image, size, ptx, log);
  return code == CUDA_SUCCESS ? Image::of_ptx(ptx, options, code, log) : nullptr;
}

std::shared_ptr<cuda::Module> Engine::make_module(Driver& driver, std::shared_ptr<cuda::Image> image,
                                                  Context& context, CUresult& code, LoadLog& log) {
  auto module = std::make_shared<Module>(driver, *this, std::static_pointer_cast<Image>(std::move(image)),
                                         context.handle(), context.device());
  code = module->place_variables(context, log);
  return code == CUDA_SUCCESS ? module : nullptr;
}

CUresult Module::place_variables(Context& context, LoadLog& log) {
  const TranslatedModule& translated = image_->translated();
  if (translated.data.empty()) return CUDA_SUCCESS;
  const MemoryWish wish{translated.data.size(), MemoryKind::variable};
  if (const CUresult code = driver().allocate(context, wish, data_); code != CUDA_SUCCESS) return code;
  std::memcpy(memory_of(*data_).data(), translated.data.data(), translated.data.size());
  for (const softcuda::Relocation& relocation : translated.relocations) {
    CUdeviceptr address = 0;
    std::size_t size = 0;
    if (!find_variable(relocation.symbol, address, size)) {
      log.error = "the module needs the address of '" + relocation.symbol + "', which it does not define";
      unload();
      return CUDA_ERROR_INVALID_PTX;
    }
    const std::uint64_t value = address + static_cast<std::uint64_t>(relocation.addend);
    if (relocation.offset > translated.data.size() ||
        translated.data.size() - relocation.offset < sizeof value) {
      return CUDA_ERROR_INVALID_PTX;
    }
    std::memcpy(memory_of(*data_).data() + relocation.offset, &value, sizeof value);
  }
  return CUDA_SUCCESS;
}

CUresult Module::make_function(std::string_view name, std::shared_ptr<cuda::Function>& function) {
  const KernelInfo* const info = image_->kernel(name);
  if (info == nullptr) return image_->say_refusal(name) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_NOT_FOUND;
  const cl_program program = image_->program(*engine_.opencl, *info);
  if (program == nullptr) return CUDA_ERROR_INVALID_PTX;
  cl_int status = CL_SUCCESS;
  const cl_kernel kernel = clCreateKernel(program, info->function.c_str(), &status);
  if (status != CL_SUCCESS) return CUDA_ERROR_INVALID_PTX;
  function = std::make_shared<Function>(std::static_pointer_cast<Module>(shared_from_this()), *info, kernel);
  return CUDA_SUCCESS;
}

bool Module::find_variable(std::string_view name, CUdeviceptr& address, std::size_t& size) const {
  for (const softcuda::VariableInfo& info : image_->translated().variables) {
    if (info.name != name || info.external) continue;
    address = data_address() + info.offset;
    size = info.size;
    return true;
  }
  return false;
}

CUresult Module::variable(std::string_view name, CUdeviceptr& address, std::size_t& size) {
  if (image_->say_refusal(name)) return CUDA_ERROR_NOT_SUPPORTED;
  return find_variable(name, address, size) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult Module::managed_variable(std::string_view name, CUdeviceptr& address, std::size_t& size) {
  const CUresult code = variable(name, address, size);
  if (code == CUDA_SUCCESS) data_->host_sees_it.store(true, std::memory_order_relaxed);
  return code;
}

void Module::forget_variables() {
  if (data_) driver().memory.remove(*data_);
}

CUresult Module::kernel_names(std::vector<std::string>& names) const {
  names = *image_->kernel_names();
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft
