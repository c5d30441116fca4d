// load FILE: runs the kernel of a file that nvcc has made.
#include <fstream>
#include <iterator>
#include <string>

#include "driver.hpp"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::string image(std::istreambuf_iterator<char>(file), {});
  std::printf("%s\n", kind_of(image));
  open_device();
  run_kernel(image);
  return 0;
}
