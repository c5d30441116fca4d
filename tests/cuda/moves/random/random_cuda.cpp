// random_cuda SEED [--steps N] [--stretch MS] [--details 0|1]
//
// Runs a random CUDA program of the seed on the first device, by the Driver API, and prints a hash of its
// results at each check, and of all at the end. The results follow from the seed alone: a program that prints
// something else when its session is moved was disturbed. --steps: the program's length; --stretch: the least
// time that it takes; --details 1: its steps and results on standard error.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "tests/cuda/moves/random/world.hpp"

namespace {

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 0, steps = 150, stretch = 0, details = 0;
  bool good = argc >= 2 && argc % 2 == 0 && read_number(argv[1], seed);
  for (int i = 2; good && i < argc; i += 2) {
    const std::string_view name = argv[i];
    std::uint64_t* const number = name == "--steps"     ? &steps
                                  : name == "--stretch" ? &stretch
                                  : name == "--details" ? &details
                                                        : nullptr;
    good = number != nullptr && read_number(argv[i + 1], *number);
  }
  if (!good) {
    std::fputs("usage: random_cuda SEED [--steps N] [--stretch MS] [--details 0|1]\n", stderr);
    return 2;
  }
  try {
    fairgv::moves::cuda::run(seed, steps, stretch, details != 0);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "random_cuda: seed %llu, %s\n", static_cast<unsigned long long>(seed),
                 problem.what());
    // Commands may still use the program's memory.
    std::_Exit(1);
  }
  return 0;
}
