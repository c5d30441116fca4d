// Checks for the test programs. The programs are CUDA programs like any other: they do not know the driver
// beneath.
#ifndef FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_CHECK_HPP
#define FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_CHECK_HPP

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Whether the program runs over NVIDIA's driver itself, which answers otherwise here and there.
inline bool is_system_driver() {
  const char* const which = std::getenv("FAIRGV_TEST_LIBCUDA");
  return which != nullptr && std::strcmp(which, "system") == 0;
}

// The condition must hold; else the program reports the place and ends.
#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::fflush(stdout);                                        \
      std::exit(1);                                               \
    }                                                             \
  } while (false)

// The call must answer with this code.
#define CHECK_CODE(expected, call)                                                                      \
  do {                                                                                                  \
    const cudaError_t check_code = (call);                                                              \
    if (check_code != (expected)) {                                                                     \
      std::printf("%s:%d: %s is %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_code), \
                  cudaGetErrorName(expected));                                                          \
      std::fflush(stdout);                                                                              \
      std::exit(1);                                                                                     \
    }                                                                                                   \
  } while (false)

#define OK(call) CHECK_CODE(cudaSuccess, call)

// A case of a program. The program runs the named cases, or all in the order of their definition if none is
// named.
struct Case {
  const char* name;
  void (*run)();
};

inline int run_cases(const Case* cases, int count, int argc, char** argv) {
  int run = 0;
  for (int i = 0; i < count; ++i) {
    bool wanted = argc == 1;
    for (int a = 1; a < argc; ++a) {
      const char* name = argv[a];
      const char* mine = cases[i].name;
      while (*name != '\0' && *name == *mine) ++name, ++mine;
      wanted = wanted || (*name == '\0' && *mine == '\0');
    }
    if (!wanted) continue;
    cases[i].run();
    std::printf("passed %s\n", cases[i].name);
    std::fflush(stdout);
    ++run;
  }
  return run > 0 ? 0 : 2;
}

#endif  // FAIRGV_TESTS_CUDA_CUDART_PROGRAMS_CHECK_HPP
