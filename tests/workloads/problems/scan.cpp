#include "tests/workloads/problems/scan.hpp"

#include "tests/workloads/support/verify.hpp"

namespace workloads {

const Description kScan = {
    .name = "scan",
    .unit = "Melement/s",
    .size_meaning = "elements to scan",
    .default_size = 32768,
    .maximum_size = 1U << 28U,
    .default_sync = SyncMode::kEvery,
    .default_batch = 12,
};

ScanProblem::ScanProblem(const Parameters& parameters)
    : count(parameters.size), input(random_words(count, parameters.seed)) {}

std::optional<std::string> ScanProblem::find_mismatch(const std::vector<std::uint32_t>& prefixes) {
  if (expected_.empty()) {
    std::uint32_t sum = 0;  // Wraps around as the device's does.
    for (const std::uint32_t word : input) {
      expected_.push_back(sum);
      sum += word;
    }
  }
  return compare_exactly("prefix", prefixes, expected_);
}

}  // namespace workloads
