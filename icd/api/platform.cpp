// Entry points: platforms and extension functions.
#include <algorithm>

#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/extensions/extension_functions.hpp"
#include "icd/objects/platform.hpp"

namespace fairgv::icd {

cl_int icd_get_platform_ids(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  return entry([&]() -> cl_int {
    if (platforms == nullptr && num_platforms == nullptr) return CL_INVALID_VALUE;
    if (platforms != nullptr && num_entries == 0) return CL_INVALID_VALUE;
    const auto all = Platform::all();
    if (num_platforms != nullptr) *num_platforms = static_cast<cl_uint>(all.size());
    if (all.empty()) return CL_PLATFORM_NOT_FOUND_KHR;
    if (platforms == nullptr) return CL_SUCCESS;
    const std::size_t count = std::min<std::size_t>(num_entries, all.size());
    std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), platforms,
                   [](Platform* platform) { return platform->handle(); });
    return CL_SUCCESS;
  });
}

cl_int clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  return icd_get_platform_ids(num_entries, platforms, num_platforms);
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name, size_t param_value_size,
                         void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Platform* const object = downcast<Platform>(platform);
    if (object == nullptr) return CL_INVALID_PLATFORM;
    return object->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clUnloadCompiler() {
  return CL_SUCCESS;
}

cl_int clUnloadPlatformCompiler(cl_platform_id platform) {
  return downcast<Platform>(platform) == nullptr ? CL_INVALID_PLATFORM : CL_SUCCESS;
}

// Deprecated. The call names no platform, so the first platform is asked.
void* clGetExtensionFunctionAddress(const char* function_name) {
  if (function_name == nullptr) return nullptr;
  void* address = loader_function(function_name);
  entry([&] {
    if (address != nullptr) return CL_SUCCESS;
    const auto platforms = Platform::all();
    if (!platforms.empty()) address = extension_function(*platforms.front(), function_name);
    return CL_SUCCESS;
  });
  return address;
}

void* clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* function_name) {
  Platform* const object = downcast<Platform>(platform);
  if (object == nullptr || function_name == nullptr) return nullptr;
  void* address = loader_function(function_name);
  entry([&] {
    if (address == nullptr) address = extension_function(*object, function_name);
    return CL_SUCCESS;
  });
  return address;
}

}  // namespace fairgv::icd
