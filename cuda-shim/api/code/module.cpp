#include "cuda-shim/api/code/module.hpp"

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {

CUresult Module::function(std::string_view name, CUfunction& function) {
  const std::lock_guard guard(lock_);
  if (const auto known = functions_.find(name); known != functions_.end()) {
    function = known->second;
    return CUDA_SUCCESS;
  }
  std::shared_ptr<Function> made;
  if (const CUresult code = make_function(name, made); code != CUDA_SUCCESS) return code;
  function = made->handle();
  driver_.functions.add(std::move(made));
  functions_.emplace(name, function);
  return CUDA_SUCCESS;
}

void Module::unload() {
  std::map<std::string, CUfunction, std::less<>> functions;
  {
    const std::lock_guard guard(lock_);
    functions.swap(functions_);
  }
  for (const auto& [name, handle] : functions) driver_.functions.take(handle);
  forget_variables();
}

}  // namespace fairgv::cuda
