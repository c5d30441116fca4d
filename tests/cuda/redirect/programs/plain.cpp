#include <cstdio>

int main() {
  std::puts("started");
  return 0;
}
