#include "cuda-shim/softcuda/driver/module.hpp"

#include <cstring>

#include "cuda-shim/api/code/image_source.hpp"
#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {

std::shared_ptr<Module> Module::make(Driver& driver, std::shared_ptr<Image> image, Context& context,
                                     CUresult& code, LoadLog& log) {
  auto module = std::make_shared<Module>(driver, std::move(image), context.handle(), context.device());
  code = module->place_variables(context, log);
  return code == CUDA_SUCCESS ? module : nullptr;
}

CUresult Module::place_variables(Context& context, LoadLog& log) {
  const TranslatedModule& translated = image_->translated();
  if (translated.data.empty()) return CUDA_SUCCESS;
  const MemoryWish wish{translated.data.size(), MemoryKind::variable};
  if (const CUresult code = driver_.allocate(context, wish, data_); code != CUDA_SUCCESS) return code;
  std::memcpy(data_->storage.data(), translated.data.data(), translated.data.size());
  for (const softcuda::Relocation& relocation : translated.relocations) {
    CUdeviceptr address = 0;
    std::size_t size = 0;
    if (variable(relocation.symbol, address, size) != CUDA_SUCCESS) {
      log.error = "the module needs the address of '" + relocation.symbol + "', which it does not define";
      unload();
      return CUDA_ERROR_INVALID_PTX;
    }
    const std::uint64_t value = address + static_cast<std::uint64_t>(relocation.addend);
    if (relocation.offset > translated.data.size() ||
        translated.data.size() - relocation.offset < sizeof value) {
      return CUDA_ERROR_INVALID_PTX;
    }
    std::memcpy(data_->storage.data() + relocation.offset, &value, sizeof value);
  }
  return CUDA_SUCCESS;
}

CUresult Module::function(std::string_view name, CUfunction& function) {
  const std::lock_guard guard(lock_);
  if (const auto known = functions_.find(name); known != functions_.end()) {
    function = known->second;
    return CUDA_SUCCESS;
  }
  const KernelInfo* const info = image_->kernel(name);
  if (info == nullptr) return CUDA_ERROR_NOT_FOUND;
  const cl_program program = image_->program(*driver_.opencl);
  if (program == nullptr) return CUDA_ERROR_INVALID_PTX;
  cl_int status = CL_SUCCESS;
  const cl_kernel kernel = clCreateKernel(program, info->function.c_str(), &status);
  if (status != CL_SUCCESS) return CUDA_ERROR_INVALID_PTX;
  auto made = std::make_shared<Function>(shared_from_this(), *info, kernel);
  function = made->handle();
  driver_.functions.add(std::move(made));
  functions_.emplace(name, function);
  return CUDA_SUCCESS;
}

CUresult Module::variable(std::string_view name, CUdeviceptr& address, std::size_t& size) const {
  for (const softcuda::VariableInfo& info : image_->translated().variables) {
    if (info.name != name || info.external) continue;
    address = data_address() + info.offset;
    size = info.size;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

void Module::unload() {
  std::map<std::string, CUfunction, std::less<>> functions;
  {
    const std::lock_guard guard(lock_);
    functions.swap(functions_);
  }
  for (const auto& [name, handle] : functions) driver_.functions.take(handle);
  if (data_) driver_.memory.remove(*data_);
}

CUresult Module::kernel_names(std::vector<std::string>& names) const {
  for (const KernelInfo& info : image_->translated().kernels) names.push_back(info.name);
  return CUDA_SUCCESS;
}

CUresult check_kernel(Driver&, Library& library, std::string_view name) {
  return library.image().kernel(name) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult kernel_names(Driver&, Library& library, std::vector<std::string>& names) {
  for (const KernelInfo& info : library.image().translated().kernels) names.push_back(info.name);
  return CUDA_SUCCESS;
}

std::shared_ptr<Image> load_image(const void* image, std::optional<std::uint64_t> size, const JitOptions&,
                                  CUresult& code, LoadLog& log) {
  std::string ptx;
  code = ptx_of_image(image, size, ptx, log);
  return code == CUDA_SUCCESS ? Image::of_ptx(ptx, code, log) : nullptr;
}

}  // namespace fairgv::cuda
