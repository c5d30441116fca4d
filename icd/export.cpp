// The only symbols that the library exports, which ICD loaders look up (cl_khr_icd).
#include <string_view>

#include "icd/api/api.hpp"

#define FAIRGV_EXPORT extern "C" __attribute__((visibility("default")))

FAIRGV_EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id* platforms,
                                            cl_uint* num_platforms) {
  return fairgv::icd::icd_get_platform_ids(num_entries, platforms, num_platforms);
}

FAIRGV_EXPORT cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                       size_t param_value_size, void* param_value,
                                       size_t* param_value_size_ret) {
  return fairgv::icd::clGetPlatformInfo(platform, param_name, param_value_size, param_value,
                                        param_value_size_ret);
}

FAIRGV_EXPORT void* clGetExtensionFunctionAddress(const char* function_name) {
  return fairgv::icd::clGetExtensionFunctionAddress(function_name);
}

namespace fairgv::icd {

void* loader_function(std::string_view name) {
  // Loaders may ask for these two here instead of asking the dynamic linker.
  if (name == "clIcdGetPlatformIDsKHR") return reinterpret_cast<void*>(&::clIcdGetPlatformIDsKHR);
  if (name == "clGetPlatformInfo") return reinterpret_cast<void*>(&::clGetPlatformInfo);
  return nullptr;
}

}  // namespace fairgv::icd
