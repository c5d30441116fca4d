#include "cuda-shim/redirect/sibling.hpp"

#include <dlfcn.h>

namespace fairgv::redirect {

void* open_sibling(const std::string& name, std::string& error) {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&open_sibling), &self) == 0 || self.dli_fname == nullptr) {
    error = "FairGV's own folder is not known";
    return nullptr;
  }
  std::string path = self.dli_fname;
  path.resize(path.find_last_of('/') + 1);
  void* const library = ::dlopen((path + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) error = ::dlerror();
  return library;
}

}  // namespace fairgv::redirect
