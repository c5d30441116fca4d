#include "cuda-shim/direct/driver.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/session/direct/cuda_places.hpp"

namespace fairgv::cuda::direct {
namespace {

constexpr const char* kNames[] = {
#define FAIRGV_ENTRY(symbol, name, stream, version, served) #symbol,
#include "cuda-shim/api/entry/entry_points.def"
#undef FAIRGV_ENTRY
};

/// The file that this code is in.
std::string own_path() {
  Dl_info info{};
  return ::dladdr(static_cast<void*>(g_driver_functions.data()), &info) != 0 && info.dli_fname != nullptr
             ? std::string(info.dli_fname)
             : std::string();
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

std::vector<std::string> candidates(const std::string& own) {
  if (const char* const named = std::getenv(session::kDriverVariable); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> paths;
  for (const char* const path : session::kCudaDrivers) {
    if (exists(path) && !are_one_file(path, own)) paths.emplace_back(path);
  }
  const std::string folder = own.substr(0, own.find_last_of('/') + 1);
  paths.push_back(folder + "../softcuda/libcuda.so.1");
  return paths;
}

LoadedDriver load(const std::string& own) {
  LoadedDriver driver;
  for (const std::string& path : candidates(own)) {
    if (path.front() != '/' || are_one_file(path, own)) {
      driver.failure = std::string(session::kDriverVariable) + " is '" + path +
                       "': it takes the absolute path of a driver's own libcuda.so.1";
      continue;
    }
    // By its path, which no library of this one's name answers to. Local: its symbols are not to be found in
    // this one's stead.
    driver.handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (driver.handle != nullptr) {
      driver.path = path;
      return driver;
    }
    const char* const why = ::dlerror();
    driver.failure = "the CUDA driver " + path + " cannot be loaded: " + (why != nullptr ? why : "?");
  }
  return driver;
}

}  // namespace

std::array<void*, kSymbols> g_driver_functions{};

bool are_one_file(const std::string& a, const std::string& b) {
  struct stat one {
  }, other{};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

const char* name_of(Symbol symbol) {
  return kNames[index_of(symbol)];
}

const LoadedDriver& load_driver() {
  static const LoadedDriver kDriver = [] {
    LoadedDriver driver = load(own_path());
    if (driver.handle == nullptr) return driver;
    for (std::size_t at = 0; at < kSymbols; ++at) g_driver_functions[at] = ::dlsym(driver.handle, kNames[at]);
    return driver;
  }();
  return kDriver;
}

}  // namespace fairgv::cuda::direct
