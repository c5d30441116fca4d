// Sends the functions of a runtime that is linked into a loaded object to FairGV's runtime libraries.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "cuda-shim/redirect/loaded_object.hpp"
#include "cuda-shim/redirect/static_runtime.hpp"

namespace fairgv::redirect {

/// The bytes to write, and the functions that stay as they are, because they are too short for a jump, or
/// are not in memory as they are in the file.
struct Redirection {
  std::vector<CodeChange> changes;
  std::vector<std::string_view> left;
};

/// A function's replacement: its address, or 0 if there is none.
using FindTarget = std::function<std::uintptr_t(std::string_view name)>;

/// Plans the jumps of a runtime that was found in an object's file. Functions that have their jump already,
/// and those without a replacement, are in neither list. Reads the loaded code.
Redirection plan(const StaticRuntime& runtime, const LoadedObject& object, const FindTarget& target_of);

/// Redirects the object's runtime, if it has one. Called before the object's own code runs. Says in one line
/// on standard error what it could not do.
void redirect(const LoadedObject& object, const ObjectFile& file);

}  // namespace fairgv::redirect
