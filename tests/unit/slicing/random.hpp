// Random launches for the tests of slicing/, from a seed that is printed; FAIRGV_TEST_SEED=<that number>
// repeats a run.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>

#include "slicing/launch.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::slicing {

class Random {
 public:
  Random() : generator_(harness::printed_seed()) {}

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(generator_);
  }
  bool one_in(std::uint64_t n) { return between(1, n) == 1; }

  // Every order of magnitude is equally likely, up to and including `most`.
  std::uint64_t magnitude(std::uint64_t most) {
    const auto bits = between(0, static_cast<std::uint64_t>(std::bit_width(most)));
    const std::uint64_t high = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
    return between(0, std::min(high, most));
  }

  // Work-groups from `first` to the last one left, in every dimension: some box of the launch.
  Box box_of(const Launch& launch) {
    Box box;
    const Extent groups = launch.groups();
    for (std::size_t d = 0; d < kMaxDimensions; ++d) {
      box.first[d] = between(0, groups[d] - 1);
      box.groups[d] = between(1, groups[d] - box.first[d]);
    }
    return box;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace fairgv::slicing
