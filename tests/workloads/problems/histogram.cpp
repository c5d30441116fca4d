#include "tests/workloads/problems/histogram.hpp"

#include <algorithm>
#include <random>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

/// Bytes that are the smaller of two uniform ones: the bins get clearly different counts.
std::vector<std::uint32_t> uneven_words(std::size_t words, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::uint32_t> data(words);
  for (std::uint32_t& word : data) {
    const std::uint64_t random = generator();
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const std::uint64_t one = (random >> shift) & 0xffU;
      const std::uint64_t other = (random >> (shift + 32U)) & 0xffU;
      word |= static_cast<std::uint32_t>(std::min(one, other) << shift);
    }
  }
  return data;
}

}  // namespace

const Description kHistogram = {
    .name = "histogram",
    .unit = "MB/s",
    .size_meaning = "bytes to count",
    .default_size = 65536,
    .size_multiple = sizeof(std::uint32_t),
    .maximum_size = 1U << 30U,
    .default_sync = SyncMode::kEvery,
    .default_batch = 8,
};

HistogramProblem::HistogramProblem(const Parameters& parameters)
    : words(parameters.size / sizeof(std::uint32_t)), data(uneven_words(words, parameters.seed)) {}

std::optional<std::string> HistogramProblem::find_mismatch(const std::vector<std::uint32_t>& bins) {
  if (expected_.empty()) {
    expected_.assign(kBins, 0);
    for (const std::uint32_t word : data) {
      for (unsigned shift = 0; shift < 32; shift += 8) ++expected_[(word >> shift) & 0xffU];
    }
  }
  return compare_exactly("bin", bins, expected_);
}

}  // namespace workloads
