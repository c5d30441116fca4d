// From a module's entry to a FlatKernel: scopes resolved, calls inlined or made jumps, shared memory laid
// out.
#pragma once

#include <map>
#include <optional>
#include <variant>

#include "cuda-shim/softcuda/translate/call_graph.hpp"
#include "cuda-shim/softcuda/translate/flat.hpp"
#include "cuda-shim/softcuda/translate/module_symbols.hpp"

namespace fairgv::softcuda {

struct Flattened {
  FlatKernel kernel;
  KernelInfo info;  // name, parameters, shared and local bytes, thread limits
};

/// Functions that calls through pointers cannot reach, because they cannot be translated: where the reason
/// stands in the data segment.
using RefusedTargets = std::map<const slicing::ptx::Function*, std::uint64_t>;

struct FlattenError {
  TranslationError error;
  /// The function that is only called through pointers and holds the error: without it, the kernel can be
  /// translated. Null: the kernel cannot.
  const slicing::ptx::Function* target = nullptr;
};

std::variant<Flattened, FlattenError> flatten(const slicing::ptx::Function& entry,
                                              const ModuleSymbols& symbols, const CallGraph& graph,
                                              const RefusedTargets& refused);

}  // namespace fairgv::softcuda
