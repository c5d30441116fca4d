// Numbers of figures as text, and the few statistics that the papers use.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "sched/types.hpp"

namespace fairgv::sched {

inline std::string fixed(double value, int digits = 2) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// "1.00, 1.02, 0.98".
inline std::string listed(const std::vector<double>& values, int digits = 2) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + fixed(value, digits);
  return text;
}

inline double in_seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

/// 1: all are equal; 0: one has nothing (FairGV, section 5.4.1).
inline double min_max_ratio(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least / *most;
}

/// The value below which this part of the times lies, in milliseconds; 0 for none.
inline double quantile_ms(std::vector<Duration> times, double part) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  const auto index = static_cast<std::size_t>(part * static_cast<double>(times.size() - 1));
  return in_seconds(times[index]) * 1e3;
}

}  // namespace fairgv::sched
