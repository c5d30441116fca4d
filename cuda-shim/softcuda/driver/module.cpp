#include "module.hpp"

#include <cstring>

#include "driver.hpp"

namespace fairgv::softcuda {

std::shared_ptr<Module> Module::make(Driver& driver, std::shared_ptr<Image> image, CUcontext owner,
                                     CUresult& code, LoadLog& log) {
  auto module = std::make_shared<Module>(driver, std::move(image), owner);
  code = module->place_variables(log);
  return code == CUDA_SUCCESS ? module : nullptr;
}

CUresult Module::place_variables(LoadLog& log) {
  const TranslatedModule& translated = image_->translated();
  if (translated.data.empty()) return CUDA_SUCCESS;
  data_ = driver_.memory.allocate(translated.data.size(), MemoryKind::variable, owner_, 0);
  if (!data_) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memcpy(data_->memory.data(), translated.data.data(), translated.data.size());
  for (const Relocation& relocation : translated.relocations) {
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
    std::memcpy(data_->memory.data() + relocation.offset, &value, sizeof value);
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
  const cl_program program = image_->program(*driver_.device);
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
  for (const VariableInfo& info : image_->translated().variables) {
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

std::shared_ptr<Module> Library::module_in(Driver& driver, CUcontext context, CUresult& code) {
  const std::lock_guard guard(lock_);
  auto& module = modules_[context];
  if (!module) {
    LoadLog log;
    module = Module::make(driver, image_, context, code, log);
    if (module) driver.modules.add(module);
  } else {
    code = CUDA_SUCCESS;
  }
  return module;
}

CUresult Library::kernel(Driver& driver, std::string_view name, CUkernel& kernel) {
  const KernelInfo* const info = image_->kernel(name);
  if (info == nullptr) return CUDA_ERROR_NOT_FOUND;
  const std::lock_guard guard(lock_);
  auto& handle = kernels_[std::string(name)];
  if (handle == nullptr) {
    handle = reinterpret_cast<CUkernel>(
        driver.kernels.add(std::make_shared<LibraryKernel>(LibraryKernel{shared_from_this(), *info})));
  }
  kernel = handle;
  return CUDA_SUCCESS;
}

void Library::unload(Driver& driver) {
  const std::lock_guard guard(lock_);
  for (const auto& [name, handle] : kernels_) driver.kernels.take(handle);
  kernels_.clear();
  for (const auto& [context, module] : modules_) {
    if (!module) continue;
    driver.modules.take(module.get());
    module->unload();
  }
  modules_.clear();
}

void Library::leave(CUcontext context) {
  const std::lock_guard guard(lock_);
  modules_.erase(context);
}

}  // namespace fairgv::softcuda
