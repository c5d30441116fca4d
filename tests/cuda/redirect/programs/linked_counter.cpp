// A program without CUDA code that is linked with a library that has a runtime of its own.
#include <cstdio>

extern "C" int counter_next();

int main() {
  std::printf("%d", counter_next());
  std::printf(" %d\n", counter_next());
  return 0;
}
