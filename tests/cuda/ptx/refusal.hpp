// The constructs that a translation refuses, as a text.
#pragma once

#include <string>
#include <string_view>

#include "cuda-shim/softcuda/translate/translate.hpp"

namespace fairgv::ptx_test {

/// The error of the whole text, or of the first variable or kernel that is refused; empty: nothing is.
inline std::string refusal_of(std::string_view ptx) {
  const auto translation = softcuda::translate(ptx);
  if (!translation) return translation.error().text();
  const auto& refused = translation.value().refused;
  return refused.empty() ? "" : refused.front().error.text();
}

}  // namespace fairgv::ptx_test
