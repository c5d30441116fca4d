#include "tools/fairgv/doctor/library_probe.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "tools/fairgv/doctor/apart.hpp"

namespace fairgv::tools::doctor {
namespace {

// The return values of open_here().
constexpr int kDriver = 0;
constexpr int kOtherLibrary = 1;
constexpr int kNotOpened = 2;

int open_here(const std::string& name, int out) {
  void* const library = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  const bool opened = library != nullptr && ::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0;
  const std::string answer = opened ? map->l_name : ::dlerror();
  if (::write(out, answer.data(), answer.size()) != static_cast<ssize_t>(answer.size())) return kNotOpened;
  if (!opened) return kNotOpened;
  // cl_khr_icd: loaders ask it for all other functions.
  return ::dlsym(library, "clGetExtensionFunctionAddress") != nullptr ? kDriver : kOtherLibrary;
}

}  // namespace

OpenedLibrary open_library(const std::string& name) {
  const auto apart = run_apart([&](int out) { return open_here(name, out); });
  if (!apart) return {{}, false, apart.error().message};
  if (!apart->died.empty()) return {{}, false, "a program that opens it " + apart->died};
  if (apart->status == kNotOpened) return {{}, false, apart->said};
  return {apart->said, apart->status == kDriver, {}};
}

}  // namespace fairgv::tools::doctor
