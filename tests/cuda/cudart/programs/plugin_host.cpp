// Opens and closes a library with kernels several times: each time its variables begin anew, and nothing of
// the library is used once it is closed.
#include <dlfcn.h>

#include "check.hpp"

int main(int argc, char** argv) {
  CHECK(argc == 2);
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::printf("%s\n", dlerror());
    CHECK(library != nullptr);
    auto* const run = reinterpret_cast<int (*)()>(dlsym(library, "plugin_run"));
    CHECK(run != nullptr);
    CHECK(run() == 11);
    CHECK(run() == 12);
    CHECK(dlclose(library) == 0);
  }
  OK(cudaDeviceSynchronize());
  std::printf("passed plugin\n");
  return 0;
}
