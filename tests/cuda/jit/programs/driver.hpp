// The Driver API for test programs, found when they run: a program that is linked with the driver does not
// start where there is none.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

/// The library's function; ends the program without it.
template <typename Function>
Function* function_of(void* library, const char* name) {
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) {
    std::printf("no %s\n", name);
    std::exit(2);
  }
  return reinterpret_cast<Function*>(found);
}

inline void check(int code, const char* call) {
  if (code == 0) return;
  std::printf("%s: error %d\n", call, code);
  std::exit(1);
}

#define FAIRGV_DRIVER(name) function_of<decltype(::name)>(driver(), FAIRGV_NAME(name))
#define FAIRGV_NAME(name) FAIRGV_TEXT(name)
#define FAIRGV_TEXT(name) #name

inline void* driver() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  return library;
}

inline void open_device() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(FAIRGV_DRIVER(cuInit)(0), "cuInit");
  check(FAIRGV_DRIVER(cuDeviceGet)(&device, 0), "cuDeviceGet");
  check(FAIRGV_DRIVER(cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
  check(FAIRGV_DRIVER(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
}

/// Loads the image, runs its kernel `k` on 0, 1, 2, 3, and prints what that gives.
inline void run_kernel(const std::string& image) {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr memory = 0;
  std::array<float, 4> values{0, 1, 2, 3};
  check(FAIRGV_DRIVER(cuModuleLoadData)(&module, image.data()), "cuModuleLoadData");
  check(FAIRGV_DRIVER(cuModuleGetFunction)(&kernel, module, "k"), "cuModuleGetFunction");
  check(FAIRGV_DRIVER(cuMemAlloc)(&memory, sizeof values), "cuMemAlloc");
  check(FAIRGV_DRIVER(cuMemcpyHtoD)(memory, values.data(), sizeof values), "cuMemcpyHtoD");
  void* arguments[] = {&memory};
  check(FAIRGV_DRIVER(cuLaunchKernel)(kernel, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr),
        "cuLaunchKernel");
  check(FAIRGV_DRIVER(cuMemcpyDtoH)(values.data(), memory, sizeof values), "cuMemcpyDtoH");
  for (const float value : values) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
}

/// Whether it is machine code, PTX that ends with a zero, or neither.
inline const char* kind_of(const std::string& image) {
  if (image.substr(0, 4) ==
      "\x7f"
      "ELF")
    return "machine code";
  if (image.find(".version") != std::string::npos && image.back() == '\0') return "PTX";
  return image.empty() ? "nothing" : "something else";
}
