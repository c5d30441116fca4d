// For `-arch=sm_75` NVRTC makes PTX on its way to machine code, and keeps both. The program's options, logs
// and errors are therefore NVRTC's own; only what the program loads is the other of the two.
#include "cuda-shim/jit/nvrtc.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "cuda-shim/jit/device.hpp"
#include "cuda-shim/jit/functions.hpp"
#include "cuda-shim/redirect/say.hpp"

namespace fairgv::jit {
namespace {

// nvrtc.h of the releases 12 and 13: nvrtcResult is an int, nvrtcProgram a pointer.
using GetSize = int(void* program, std::size_t* size);
using GetBytes = int(void* program, char* bytes);

struct Nvrtc {
  GetSize* cubin_size = nullptr;
  GetBytes* cubin = nullptr;
  GetSize* ptx_size = nullptr;
  GetBytes* ptx = nullptr;

  /// Whether this program has machine code that is asked for, and PTX in its place.
  bool has_ptx_instead(void* program, std::size_t& size) const {
    std::size_t machine_code = 0;
    if (cubin_size(program, &machine_code) != kSuccess || machine_code == 0) return false;
    // One byte is the zero of an empty text: link-time optimisation makes neither.
    return is_software_device() && ptx_size(program, &size) == kSuccess && size > 1;
  }
};

// A library's functions are written before its replacements can be found in it, under the dynamic linker's
// lock. Libraries are never closed.
constexpr std::size_t kMostLibraries = 8;
std::array<Nvrtc, kMostLibraries> libraries;

template <std::size_t kLibrary>
int get_cubin_size(void* program, std::size_t* size) noexcept {
  const Nvrtc& nvrtc = libraries[kLibrary];
  std::size_t ptx = 0;
  if (size == nullptr || !nvrtc.has_ptx_instead(program, ptx)) return nvrtc.cubin_size(program, size);
  *size = ptx;
  return kSuccess;
}

template <std::size_t kLibrary>
int get_cubin(void* program, char* bytes) noexcept {
  const Nvrtc& nvrtc = libraries[kLibrary];
  std::size_t ptx = 0;
  return nvrtc.has_ptx_instead(program, ptx) ? nvrtc.ptx(program, bytes) : nvrtc.cubin(program, bytes);
}

struct NvrtcReplacements {
  GetSize* cubin_size;
  GetBytes* cubin;
};

template <std::size_t... kLibrary>
constexpr std::array<NvrtcReplacements, sizeof...(kLibrary)> nvrtc_replacements(
    std::index_sequence<kLibrary...>) {
  return {{{get_cubin_size<kLibrary>, get_cubin<kLibrary>}...}};
}
constexpr auto kNvrtcReplacements = nvrtc_replacements(std::make_index_sequence<kMostLibraries>());

}  // namespace

void replace_nvrtc(std::span<redirect::CompilerFunction> functions) {
  static std::size_t used = 0;  // under the dynamic linker's lock
  Nvrtc found;
  if (!find_original(functions, "nvrtcGetCUBINSize", found.cubin_size) ||
      !find_original(functions, "nvrtcGetCUBIN", found.cubin) ||
      !find_original(functions, "nvrtcGetPTXSize", found.ptx_size) ||
      !find_original(functions, "nvrtcGetPTX", found.ptx))
    return;
  if (used == kMostLibraries) {
    redirect::say(
        "the process has more than 8 NVRTC libraries: what the others make cannot run on the software "
        "device");
    return;
  }
  libraries[used] = found;
  find_function(functions, "nvrtcGetCUBINSize")->replacement =
      reinterpret_cast<void*>(kNvrtcReplacements[used].cubin_size);
  find_function(functions, "nvrtcGetCUBIN")->replacement =
      reinterpret_cast<void*>(kNvrtcReplacements[used].cubin);
  ++used;
}

}  // namespace fairgv::jit
