// cuda_late STATEMENTS: like opencl_late, in CUDA. Runs a kernel that computes next to nothing, and for which
// the software driver's OpenCL makes machine code for seconds. The kernel differs from run to run. Prints a
// line of JSON:
//
//   {"launched_s": SECONDS, "right": true}
#include <cuda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

void check(CUresult code, const char* call) {
  if (code != CUDA_SUCCESS) throw std::runtime_error(call + (": " + std::to_string(static_cast<int>(code))));
}

/// data[0] += 1; and, if `never` is set, much more.
std::string ptx(int statements, unsigned run) {
  std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry late(.param .u64 data, .param .u32 never)\n{\n"
      "  .reg .pred %p;\n  .reg .b32 %r<4>;\n  .reg .f32 %f<3>;\n  .reg .b64 %d<5>;\n"
      "  .shared .align 4 .b8 shared[256];\n"
      "  ld.param.u64 %d1, [data];\n  ld.param.u32 %r1, [never];\n  mov.u32 %r2, %tid.x;\n"
      "  mul.wide.u32 %d2, %r2, 4;\n  add.s64 %d3, %d1, %d2;\n  mov.u64 %d4, shared;\n"
      "  add.s64 %d4, %d4, %d2;\n  ld.global.f32 %f1, [%d3];\n"
      "  setp.eq.u32 %p, %r1, 0;\n  @%p bra DONE;\n";
  for (int n = 0; n < statements; ++n) {
    text += "  mul.f32 %f1, %f1, 0f" + std::to_string(40000000 + n) + ";\n  sin.approx.f32 %f1, %f1;\n";
    if (n % 40 == 39) text += "  st.shared.f32 [%d4], %f1;\n  bar.sync 0;\n  ld.shared.f32 %f1, [%d4];\n";
  }
  text +=
      "  mov.u32 %r3, " + std::to_string(run) + ";\n  cvt.rn.f32.u32 %f2, %r3;\n  add.f32 %f1, %f1, %f2;\n";
  return text + "DONE:\n  add.f32 %f1, %f1, 0f3F800000;\n  st.global.f32 [%d3], %f1;\n  ret;\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const int statements = argc > 1 ? std::atoi(argv[1]) : 100;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  try {
    CUdevice device = 0;
    CUcontext context = nullptr;
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    const auto run = static_cast<unsigned>(now().time_since_epoch().count());
    check(cuModuleLoadData(&module, ptx(statements, run).c_str()), "cuModuleLoadData");
    check(cuModuleGetFunction(&function, module, "late"), "cuModuleGetFunction");
    float values[64];
    for (float& value : values) value = 41;
    CUdeviceptr data = 0;
    check(cuMemAlloc(&data, sizeof(values)), "cuMemAlloc");
    check(cuMemcpyHtoD(data, values, sizeof(values)), "cuMemcpyHtoD");
    unsigned never = 0;
    void* parameters[] = {&data, &never};
    const auto began = now();
    check(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr), "cuLaunchKernel");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    const std::chrono::duration<double> seconds = now() - began;
    check(cuMemcpyDtoH(values, data, sizeof(values)), "cuMemcpyDtoH");
    bool right = true;
    for (const float value : values) right = right && value == 42;
    std::printf("{\"launched_s\": %.3f, \"right\": %s}\n", seconds.count(), right ? "true" : "false");
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_late: %s\n", error.what());
    return 3;
  }
}
