// A shared library with functions, names and texts as NVIDIA's runtime of FAIRGV_RELEASE has them when it is
// linked in. They return -1; some are as short as functions can be. Written in assembly, so that their sizes
// are known.
#include <dlfcn.h>

#define FUNCTION(name, body)                                                                      \
  ".globl " name "\n.hidden " name "\n.type " name ",@function\n" name ":\n" body "\n.size " name \
  ", . - " name "\n"
#define ALIGNED(name, body) ".p2align 4\n" FUNCTION(name, body)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

asm(".text\n" ALIGNED("cudaRuntimeGetVersion", "pushq %rax\ncall libcudart_static_1\npopq %rcx\nret")
        ALIGNED("libcudart_static_1", "movl $" TEXT(FAIRGV_VERSION) ", (%rdi)\nmovl $-1, %eax\nret")
            ALIGNED("__cudaRegisterFatBinary", "endbr64\nmovl $-1, %eax\nret\n.skip 32, 0xcc")
    // Three bytes, and padding behind them.
    ALIGNED("cudaGetLastError", "pushq $-1\npopq %rax\nret")
    // The next function follows at once.
    ALIGNED("cudaPeekAtLastError", "pushq $-1\npopq %rax\nret")
        FUNCTION("cudaDeviceReset", "pushq $-1\npopq %rax\nret\n.skip 32, 0xcc")
    // None of the runtime's functions has this name.
    ALIGNED("cudaOfTheProgram", "movl $-1, %eax\nret\n.skip 16, 0xcc")
#if FAIRGV_RELEASE < 13
        ALIGNED("cudaThreadSynchronize", "movl $-1, %eax\nret\n.skip 16, 0xcc")
#endif
#if FAIRGV_RELEASE == 12
            ALIGNED("cudaGetDeviceProperties_v2", "movl $-1, %eax\nret\n.skip 16, 0xcc")
#endif
                ".p2align 4\n");

extern "C" {
int cudaRuntimeGetVersion(int*);
int cudaGetLastError();
int cudaPeekAtLastError();
int cudaDeviceReset();
int cudaOfTheProgram();

int lookalike_version() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == 0 ? version : -1;
}
int lookalike_last_error() {
  return cudaGetLastError();
}
int lookalike_peek() {
  return cudaPeekAtLastError();
}
int lookalike_reset() {
  return cudaDeviceReset();
}
int lookalike_own() {
  return cudaOfTheProgram();
}

// As the runtime does: it finds the driver by its name.
const char* lookalike_text(int which) {
  void* const driver = which > 1 ? dlopen("libcuda.so.1", RTLD_NOW) : nullptr;
  if (driver != nullptr && dlsym(driver, "cuInit") == nullptr) return "";
  return "CUDA driver version is insufficient for CUDA runtime version";
}
}
