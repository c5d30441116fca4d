#include "runtime/vgpu/opencl/driver/unusable_drivers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <system_error>

#include "runtime/session/vendor_file.hpp"

namespace fairgv::vgpu::opencl {

std::vector<std::string> unusable_drivers(const std::filesystem::path& vendors) {
  std::vector<std::string> reasons;
  std::error_code ignored;
  for (const std::filesystem::path& file : std::filesystem::directory_iterator(vendors, ignored)) {
    const std::string library = session::library_of_vendor_file(file);
    if (library.empty()) continue;
    void* const opened = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (opened == nullptr) {
      const char* const why = ::dlerror();
      reasons.push_back(file.filename().string() + ": " + (why == nullptr ? "cannot be opened" : why));
    } else {
      ::dlclose(opened);
    }
  }
  std::sort(reasons.begin(), reasons.end());
  return reasons;
}

}  // namespace fairgv::vgpu::opencl
