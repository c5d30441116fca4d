// The few statistics that the benchmarks print.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace fairgv::harness {

/// The middle value, or the mean of the two in the middle; 0 for none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// The mean of speeds over equal distances.
inline double harmonic_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += 1 / value;
  return static_cast<double>(values.size()) / sum;
}

/// The smallest value that at least `percent` (above 0, up to 100) of all do not exceed; 0 for none.
inline double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  const double rank = std::ceil(percent * static_cast<double>(values.size()) / 100);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

inline double smallest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}
inline double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// The smallest over the largest: 1 if all are equal (FairGV paper, section 5.4.1); 0 if all are 0.
inline double min_max_ratio(const std::vector<double>& values) {
  const double highest = largest(values);
  return highest > 0 ? smallest(values) / highest : 0;
}

/// A benchmark's summary of several runs.
struct Spread {
  double median = 0;
  double lowest = 0;
  double highest = 0;
};
inline Spread spread_of(const std::vector<double>& values) {
  return {median(values), smallest(values), largest(values)};
}

/// A mean, and the distance within which the true mean lies nineteen times in twenty (1.96 standard errors).
struct Estimate {
  double mean = 0;
  double within = 0;
};
/// Of at least one value; their errors are independent.
inline Estimate estimate_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() < 2 ? 0 : 1.96 * std::sqrt(squares / (count - 1) / count)};
}

}  // namespace fairgv::harness
