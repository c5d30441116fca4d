// link run|kind WAY: links code with nvJitLink, and runs the machine code that it hands out, or says what
// that is. WAY: "ptx", one text; "limited", the same with at most 38 registers; "cubin", one that NVRTC hands
// out as machine code; "file", the same in a file; "lto", two inputs with code for link-time optimisation;
// "lto-ptx", the same for PTX, as the program asks; "two", two texts; "two-cubin", two that NVRTC hands out
// as machine code; "mixed", one of each; "lto-called", a text whose kernel calls code for link-time
// optimisation.
#include <nvJitLink.h>
#include <nvrtc.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "driver.hpp"

namespace {

constexpr const char* kWhole =
    "extern \"C\" __global__ void k(float* a) { a[threadIdx.x] = 3 * a[threadIdx.x] + 1; }";
constexpr const char* kKernel =
    "__device__ float f(float); extern \"C\" __global__ void k(float* a) { a[threadIdx.x] = "
    "f(a[threadIdx.x]); }";
constexpr const char* kFunction = "__device__ float f(float x) { return 3 * x + 1; }";

template <typename GetSize, typename GetBytes>
std::string bytes_of(nvrtcProgram program, const GetSize& get_size, const GetBytes& get_bytes) {
  std::size_t size = 0;
  check(get_size(program, &size), "size");
  std::string bytes(size, '\0');
  check(get_bytes(program, bytes.data()), "bytes");
  return bytes;
}

std::string compile(const char* source, nvJitLinkInputType type) {
  std::vector<const char*> options{"-arch=sm_75", "-rdc=true"};
  if (type == NVJITLINK_INPUT_LTOIR) options.push_back("-dlto");
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, source, "k.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  check(nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()),
        "nvrtcCompileProgram");
  if (type == NVJITLINK_INPUT_LTOIR) return bytes_of(program, nvrtcGetLTOIRSize, nvrtcGetLTOIR);
  if (type == NVJITLINK_INPUT_CUBIN) return bytes_of(program, nvrtcGetCUBINSize, nvrtcGetCUBIN);
  return bytes_of(program, nvrtcGetPTXSize, nvrtcGetPTX);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const bool runs = std::strcmp(arguments[1], "run") == 0;
  const std::string way = arguments[2];
  if (runs) open_device();
  const bool optimises = way.rfind("lto", 0) == 0;
  nvJitLinkInputType type = NVJITLINK_INPUT_PTX;
  if (optimises) type = NVJITLINK_INPUT_LTOIR;
  if (way == "cubin" || way == "file" || way == "two-cubin") type = NVJITLINK_INPUT_CUBIN;
  std::vector<const char*> options{"-arch=sm_75"};
  if (optimises) options.push_back("-lto");
  if (way == "lto-ptx") options.push_back("-ptx");
  if (way == "limited") options.push_back("-maxrregcount=38");
  nvJitLinkHandle link = nullptr;
  check(nvJitLinkCreate(&link, static_cast<unsigned>(options.size()), options.data()), "nvJitLinkCreate");
  std::vector<const char*> sources{kWhole};
  if (optimises || way == "two" || way == "two-cubin" || way == "mixed") sources = {kKernel, kFunction};
  if (way == "lto-called") sources = {kFunction, kKernel};
  for (const char* const source : sources) {
    if (way == "mixed" && source == sources.back()) type = NVJITLINK_INPUT_CUBIN;
    if (way == "lto-called" && source == sources.back()) type = NVJITLINK_INPUT_PTX;
    const std::string code = compile(source, type);
    if (way == "file") {
      const char* const path = "linked.cubin";
      std::ofstream(path, std::ios::binary) << code;
      check(nvJitLinkAddFile(link, type, path), "nvJitLinkAddFile");
    } else {
      check(nvJitLinkAddData(link, type, code.data(), code.size(), "part"), "nvJitLinkAddData");
    }
  }
  check(nvJitLinkComplete(link), "nvJitLinkComplete");
  std::size_t size = 0;
  std::string code;
  if (way == "lto-ptx") {
    check(nvJitLinkGetLinkedPtxSize(link, &size), "nvJitLinkGetLinkedPtxSize");
    code.resize(size);
    check(nvJitLinkGetLinkedPtx(link, code.data()), "nvJitLinkGetLinkedPtx");
    check(nvJitLinkGetLinkedCubinSize(link, &size) == 0,
          "nvJitLinkGetLinkedCubinSize answers though -ptx is asked for");
  } else {
    check(nvJitLinkGetLinkedCubinSize(link, &size), "nvJitLinkGetLinkedCubinSize");
    code.resize(size);
    check(nvJitLinkGetLinkedCubin(link, code.data()), "nvJitLinkGetLinkedCubin");
  }
  if (way == "limited" && code.find(".maxnreg 38") == std::string::npos) std::printf("no limit\n");
  if (runs) {
    run_kernel(code);
  } else {
    std::printf("%s\n", kind_of(code));
  }
  check(nvJitLinkDestroy(&link), "nvJitLinkDestroy");
  return 0;
}
