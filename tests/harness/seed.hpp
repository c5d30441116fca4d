// The seed of a random test: another one each time, printed, and chosen by FAIRGV_TEST_SEED to repeat a run.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace fairgv::harness {

inline std::uint64_t printed_seed() {
  const char* wanted = std::getenv("FAIRGV_TEST_SEED");
  const std::uint64_t seed = wanted != nullptr ? std::stoull(wanted) : std::random_device{}();
  std::cout << "FAIRGV_TEST_SEED=" << seed << std::endl;  // flushed: a test may fork
  return seed;
}

}  // namespace fairgv::harness
