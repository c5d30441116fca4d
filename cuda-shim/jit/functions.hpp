// Finds functions among those that a run-time compiler exports.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "cuda-shim/redirect/compiler_functions.hpp"

namespace fairgv::jit {

/// NVRTC_SUCCESS and NVJITLINK_SUCCESS.
inline constexpr int kSuccess = 0;

/// Null if the library exports no function of this name.
inline redirect::CompilerFunction* find_function(std::span<redirect::CompilerFunction> functions,
                                                 std::string_view name) {
  const auto found =
      std::find_if(functions.begin(), functions.end(),
                   [&](const redirect::CompilerFunction& function) { return name == function.name; });
  return found != functions.end() ? &*found : nullptr;
}

/// Sets `original` to the library's function of this name; false if it has none.
template <typename Function>
bool find_original(std::span<redirect::CompilerFunction> functions, const std::string& name,
                   Function*& original) {
  const redirect::CompilerFunction* const found = find_function(functions, name);
  if (found != nullptr) original = reinterpret_cast<Function*>(found->original);
  return found != nullptr;
}

}  // namespace fairgv::jit
