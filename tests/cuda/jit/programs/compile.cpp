// compile LIBRARY run|kind OPTION...: compiles a kernel with NVRTC, and runs the machine code that it hands
// out, or says what that is. LIBRARY: the file to open, or "linked" for the NVRTC that the program is linked
// with; "deep:" before it opens it with RTLD_DEEPBIND.
#include <nvrtc.h>

#include <cstring>
#include <string>
#include <vector>

#include "driver.hpp"

namespace {

constexpr const char* kKernel =
    "extern \"C\" __global__ void k(float* a) { a[threadIdx.x] = 3 * a[threadIdx.x] + 1; }";

struct Nvrtc {
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetCUBINSize) size;
  decltype(&nvrtcGetCUBIN) code;
};

Nvrtc open_library(std::string path) {
  int flags = RTLD_NOW;
  if (path.rfind("deep:", 0) == 0) {
    path = path.substr(5);
    flags |= RTLD_DEEPBIND;
  }
  void* const library = dlopen(path.c_str(), flags);
  if (library == nullptr) std::printf("%s\n", dlerror());
  return {function_of<decltype(nvrtcCreateProgram)>(library, "nvrtcCreateProgram"),
          function_of<decltype(nvrtcCompileProgram)>(library, "nvrtcCompileProgram"),
          function_of<decltype(nvrtcGetCUBINSize)>(library, "nvrtcGetCUBINSize"),
          function_of<decltype(nvrtcGetCUBIN)>(library, "nvrtcGetCUBIN")};
}

#ifdef FAIRGV_LINKED
// A place in the data that the dynamic linker fills in, beside the calls' own.
Nvrtc linked{nvrtcCreateProgram, nvrtcCompileProgram, nvrtcGetCUBINSize, nvrtcGetCUBIN};
#endif

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
#ifdef FAIRGV_LINKED
  const bool opens = std::strcmp(arguments[1], "linked") != 0;
  const Nvrtc nvrtc = opens ? open_library(arguments[1]) : linked;
#else
  const Nvrtc nvrtc = open_library(arguments[1]);
#endif
  const bool runs = std::strcmp(arguments[2], "run") == 0;
  if (runs) open_device();
  const std::vector<const char*> options(arguments + 3, arguments + count);
  nvrtcProgram program = nullptr;
  check(nvrtc.create(&program, kKernel, "k.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  check(nvrtc.compile(program, static_cast<int>(options.size()), options.data()), "nvrtcCompileProgram");
  std::size_t size = 0;
  check(nvrtc.size(program, &size), "nvrtcGetCUBINSize");
#ifdef FAIRGV_LINKED
  std::size_t called = 0;
  check(nvrtcGetCUBINSize(program, &called), "nvrtcGetCUBINSize");
  if (!opens && called != size) std::printf("%zu bytes by a call, %zu by a pointer\n", called, size);
#endif
  std::string code(size, '\0');
  if (size > 0) check(nvrtc.code(program, code.data()), "nvrtcGetCUBIN");
  if (runs) {
    run_kernel(code);
  } else {
    std::printf("%s\n", kind_of(code));
  }
  return 0;
}
