// Tests that are many of a kind: a sanitizer needs ten times as long for each, and fewer of them find what it
// looks for.
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
