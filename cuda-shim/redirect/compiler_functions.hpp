// The words that the preloaded library and libfairgv-jit.so say to each other about a run-time compiler
// (NVRTC, nvJitLink) that has been loaded: plain C, because they are two libraries.
#pragma once

#include <cstddef>

namespace fairgv::redirect {

struct CompilerFunction {
  const char* name;   // without its version
  void* original;     // the function that the compiler exports
  void* replacement;  // set by libfairgv-jit.so; stays null where callers go to the original
};

/// Chooses replacements for the functions of one library, which must stay loaded. Called once for a library,
/// under the dynamic linker's lock.
using ReplaceCompiler = void (*)(CompilerFunction* functions, std::size_t count);
inline constexpr const char* kReplaceCompiler = "fairgv_jit_replace";

/// Called in a process of nvcc before its main(), with main's arguments. Returns if nvcc has to do as it is
/// told; else the process ends here.
using RunNvcc = void (*)(char** arguments);
inline constexpr const char* kRunNvcc = "fairgv_jit_nvcc";

}  // namespace fairgv::redirect
