// The number of rounds for tests that repeat: a sanitizer makes each ten times as slow, and fewer rounds find
// the same faults.
#pragma once

namespace fairgv::harness {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// How many to do: all, or a quarter under a sanitizer.
constexpr int rounds(int all) {
  return kSanitized ? all / 4 : all;
}

}  // namespace fairgv::harness
