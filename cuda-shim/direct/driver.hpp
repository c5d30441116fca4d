// The driver beneath: a libcuda.so.1 that is not this one, NVIDIA's or the software one, in the program's own
// process. Loaded while this library is, so that every exported function leads there from the first call on.
#pragma once

#include <array>
#include <string>

#include "cuda-shim/direct/cuda.hpp"
#include "cuda-shim/direct/symbols.hpp"

namespace fairgv::cuda::direct {

/// The driver's functions by Symbol; null where it lacks one. Written while this library is loaded.
extern std::array<void*, kSymbols> g_driver_functions;

/// The driver's function. `Function` is a pointer to its type.
template <class Function>
Function driver_function(Symbol symbol) {
  return reinterpret_cast<Function>(g_driver_functions[index_of(symbol)]);
}

/// Calls the driver's function, which has exactly these arguments.
template <class... Arguments>
CUresult call_driver(Symbol symbol, Arguments... arguments) {
  return driver_function<CUresult (*)(Arguments...)>(symbol)(arguments...);
}

/// Whether both paths lead to one file.
bool are_one_file(const std::string& a, const std::string& b);

/// The loaded library.
struct LoadedDriver {
  void* handle = nullptr;  // null: there is none
  std::string path{};
  std::string failure{};  // why there is none, as one line
};

/// Loads the driver that FAIRGV_CUDA_DRIVER names, or else the system's, or else the software driver that
/// lies beside this library; once.
const LoadedDriver& load_driver();

/// The name of an exported function.
const char* name_of(Symbol symbol);

}  // namespace fairgv::cuda::direct

/// Of the driver, by cuda.h's own types: FAIRGV_DRIVER(cuCtxGetCurrent)(&context). Null where the driver
/// lacks it.
#define FAIRGV_DRIVER(symbol) \
  (::fairgv::cuda::direct::driver_function<decltype(&::symbol)>(::fairgv::cuda::direct::Symbol::symbol##_))
