// Shared by the tests of whole kernels: programs that nvcc compiled (programs/*.cu), and random values.
#pragma once

#include <cstddef>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cuda/ptx/device.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::ptx_test {

/// The PTX of a program for an architecture, such as basics_sm_75.
inline std::string compiled(const std::string& program) {
  std::ifstream file(std::string(FAIRGV_PTX_PROGRAMS) + "/" + program + ".ptx");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::mt19937_64& generator() {
  static std::mt19937_64 instance(harness::printed_seed());
  return instance;
}

template <class T>
std::vector<T> random_integers(std::size_t count, long long low, long long high) {
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(
        low + static_cast<long long>(generator()() % static_cast<unsigned long long>(high - low + 1)));
  return values;
}

template <class T>
std::vector<T> random_reals(std::size_t count, double low, double high) {
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(std::uniform_real_distribution<double>(low, high)(generator()));
  return values;
}

}  // namespace fairgv::ptx_test
