#pragma once
// Comparison of a device's result with the host's, and the input both start from.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace workloads {

/// How far a value may be from the expected one: |got - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double absolute = 0.0;
  double relative = 0.0;
};

/// The first element out of tolerance as one line, or nothing. A NaN is never within tolerance.
std::optional<std::string> compare(const std::string& what, const std::vector<float>& got,
                                   const std::vector<double>& expected, Tolerance tolerance);

/// The first element that differs as one line, or nothing.
std::optional<std::string> compare_exactly(const std::string& what, const std::vector<std::uint32_t>& got,
                                           const std::vector<std::uint32_t>& expected);
std::optional<std::string> compare_exactly(const std::string& what, const std::vector<std::int32_t>& got,
                                           const std::vector<std::int32_t>& expected);

/// `count` uniform values in [low, high), the same for the same seed.
std::vector<float> random_floats(std::size_t count, float low, float high, std::uint64_t seed);

/// `count` uniform 32-bit words, the same for the same seed.
std::vector<std::uint32_t> random_words(std::size_t count, std::uint64_t seed);

}  // namespace workloads
