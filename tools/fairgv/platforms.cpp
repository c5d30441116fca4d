#include "tools/fairgv/platforms.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <sstream>

#include "tools/fairgv/doctor/apart.hpp"

namespace fairgv::tools {
namespace {

constexpr const char* kLoader = "libOpenCL.so.1";
constexpr cl_uint kMostNamed = 16;  // platforms, and devices of each

/// The loader's functions that are needed here.
struct Loader {
  decltype(&::clGetPlatformIDs) platform_ids = nullptr;
  decltype(&::clGetPlatformInfo) platform_info = nullptr;
  decltype(&::clGetDeviceIDs) device_ids = nullptr;
  decltype(&::clGetDeviceInfo) device_info = nullptr;

  bool open() {
    void* const library = ::dlopen(kLoader, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    return find(platform_ids, "clGetPlatformIDs") && find(platform_info, "clGetPlatformInfo") &&
           find(device_ids, "clGetDeviceIDs") && find(device_info, "clGetDeviceInfo");
  }
};

std::string devices_of(const Loader& loader, cl_platform_id platform) {
  std::array<cl_device_id, kMostNamed> devices{};
  cl_uint count = 0;
  const cl_int status = loader.device_ids(platform, CL_DEVICE_TYPE_ALL, kMostNamed, devices.data(), &count);
  if (status != CL_SUCCESS) return "no device (error " + std::to_string(status) + ")";
  std::string list;
  for (cl_uint i = 0; i < count && i < kMostNamed; ++i) {
    std::array<char, 256> name{};
    (void)loader.device_info(devices.at(i), CL_DEVICE_NAME, name.size() - 1, name.data(), nullptr);
    list += (list.empty() ? "" : ", ") + std::string(name.data());
  }
  return list;
}

std::string look() {
  Loader loader;
  if (!loader.open())
    return std::string("no platform: ") + kLoader + " cannot be opened: install ocl-icd-libopencl1";
  std::array<cl_platform_id, kMostNamed> platforms{};
  cl_uint count = 0;
  const cl_int status = loader.platform_ids(kMostNamed, platforms.data(), &count);
  if (status != CL_SUCCESS || count == 0)
    return "no platform (error " + std::to_string(status) + "): see fairgv doctor";
  std::string lines;
  for (cl_uint i = 0; i < count && i < kMostNamed; ++i) {
    std::array<char, 256> name{};
    (void)loader.platform_info(platforms.at(i), CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr);
    lines += std::string(lines.empty() ? "" : "\n") + "platform " + name.data() + ": " +
             devices_of(loader, platforms.at(i));
  }
  return lines;
}

}  // namespace

std::vector<std::string> platforms_found() {
  const auto apart = doctor::run_apart([](int out) {
    const std::string said = look();
    return ::write(out, said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1;
  });
  if (!apart) return {"platforms are not known: " + apart.error().message};
  if (!apart->died.empty()) return {"platforms are not known: a program that looks for them " + apart->died};
  std::vector<std::string> lines;
  std::istringstream text(apart->said);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace fairgv::tools
