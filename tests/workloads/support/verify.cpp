#include "tests/workloads/support/verify.hpp"

#include <cmath>
#include <random>
#include <sstream>

namespace workloads {
namespace {

template <typename Got, typename Expected>
std::string mismatch_line(const std::string& what, std::size_t index, Got got, Expected expected) {
  std::ostringstream line;
  line.precision(9);
  line << what << '[' << index << "] is " << got << ", expected " << expected;
  return line.str();
}

template <typename Got, typename Expected, typename Matches>
std::optional<std::string> first_mismatch(const std::string& what, const std::vector<Got>& got,
                                          const std::vector<Expected>& expected, Matches matches) {
  if (got.size() != expected.size()) {
    return what + " has " + std::to_string(got.size()) + " elements, expected " +
           std::to_string(expected.size());
  }
  for (std::size_t index = 0; index < got.size(); ++index) {
    if (!matches(got[index], expected[index])) return mismatch_line(what, index, got[index], expected[index]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> compare(const std::string& what, const std::vector<float>& got,
                                   const std::vector<double>& expected, Tolerance tolerance) {
  return first_mismatch(what, got, expected, [tolerance](float value, double reference) {
    const double distance = std::abs(static_cast<double>(value) - reference);
    return distance <= tolerance.absolute + tolerance.relative * std::abs(reference);
  });
}

std::optional<std::string> compare_exactly(const std::string& what, const std::vector<std::uint32_t>& got,
                                           const std::vector<std::uint32_t>& expected) {
  return first_mismatch(what, got, expected,
                        [](std::uint32_t value, std::uint32_t reference) { return value == reference; });
}

std::optional<std::string> compare_exactly(const std::string& what, const std::vector<std::int32_t>& got,
                                           const std::vector<std::int32_t>& expected) {
  return first_mismatch(what, got, expected,
                        [](std::int32_t value, std::int32_t reference) { return value == reference; });
}

std::vector<float> random_floats(std::size_t count, float low, float high, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

std::vector<std::uint32_t> random_words(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(generator());
  return words;
}

}  // namespace workloads
