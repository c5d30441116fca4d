#include "tests/workloads/problems/rodinia/nw.hpp"

#include <algorithm>
#include <random>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

std::vector<std::uint8_t> random_sequence(std::size_t length, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::uint32_t> uniform(0, NwProblem::kLetters - 1);
  std::vector<std::uint8_t> letters(length);
  for (std::uint8_t& letter : letters) letter = static_cast<std::uint8_t>(uniform(generator));
  return letters;
}

/// A letter is most similar to itself; some pairs of different ones are alike, most are not.
std::vector<std::int32_t> random_similarity(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::int32_t> same(4, 9);
  std::uniform_int_distribution<std::int32_t> different(-4, 2);
  std::vector<std::int32_t> table(NwProblem::kLetters * NwProblem::kLetters);
  for (std::size_t one = 0; one < NwProblem::kLetters; ++one) {
    table[one * NwProblem::kLetters + one] = same(generator);
    for (std::size_t other = 0; other < one; ++other) {
      const std::int32_t score = different(generator);
      table[one * NwProblem::kLetters + other] = score;
      table[other * NwProblem::kLetters + one] = score;
    }
  }
  return table;
}

std::size_t whole_blocks(std::size_t length) {
  return (length + NwProblem::kBlock - 1) / NwProblem::kBlock * NwProblem::kBlock;
}

}  // namespace

const Description kNw = {
    .name = "nw",
    .unit = "Mcell/s",
    .size_meaning = "letters of each sequence",
    .default_size = 1024,
    .maximum_size = 8192,
    // Of a launch: as many blocks as the mean diagonal has.
    .cost_exponent = 1.0,
    .default_sync = SyncMode::kBatch,
    .default_batch = 63,
};

// The letters beyond `length` fill the last blocks. No cell before them depends on them.
NwProblem::NwProblem(const Parameters& parameters)
    : length(parameters.size),
      side(whole_blocks(length)),
      down(random_sequence(side, parameters.seed)),
      across(random_sequence(side, parameters.seed + 1)),
      similarity(random_similarity(parameters.seed + 2)) {}

std::vector<NwProblem::Diagonal> NwProblem::diagonals() const {
  const std::size_t blocks = side / kBlock;
  std::vector<Diagonal> all;
  for (std::size_t number = 0; number < 2 * blocks - 1; ++number) {
    const std::size_t first_row = number < blocks ? 0 : number - blocks + 1;
    const std::size_t last_row = std::min(number, blocks - 1);
    all.push_back({number, first_row, last_row - first_row + 1});
  }
  return all;
}

std::optional<std::string> NwProblem::find_mismatch(const std::vector<std::int32_t>& scores) {
  if (expected_.empty()) align_on_host();
  return compare_exactly("score", scores, expected_);
}

void NwProblem::align_on_host() {
  // With a row and a column in front: the scores of an alignment with nothing.
  std::vector<std::int32_t> above(side + 1);
  for (std::size_t column = 0; column <= side; ++column) {
    above[column] = -kGap * static_cast<std::int32_t>(column);
  }
  std::vector<std::int32_t> here(side + 1);
  expected_.reserve(side * side);
  for (std::size_t row = 0; row < side; ++row) {
    here[0] = above[0] - kGap;
    for (std::size_t column = 0; column < side; ++column) {
      const std::int32_t pair = above[column] + similarity[down[row] * kLetters + across[column]];
      here[column + 1] = std::max({pair, above[column + 1] - kGap, here[column] - kGap});
      expected_.push_back(here[column + 1]);
    }
    above.swap(here);
  }
}

}  // namespace workloads
