// From a module's entry to a FlatKernel: scopes resolved, calls inlined, shared memory laid out.
#pragma once

#include <optional>
#include <variant>

#include "cuda-shim/softcuda/translate/flat.hpp"
#include "cuda-shim/softcuda/translate/module_symbols.hpp"

namespace fairgv::softcuda {

struct Flattened {
  FlatKernel kernel;
  KernelInfo info;  // name, parameters, shared and local bytes, thread limits
};

std::variant<Flattened, TranslationError> flatten(const slicing::ptx::Function& entry,
                                                  const ModuleSymbols& symbols);

}  // namespace fairgv::softcuda
