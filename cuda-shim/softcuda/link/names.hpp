// The mentions of a module's names in its functions and initial values. Names that a function declares for
// itself (registers, parameters, labels, variables of a block) hide the module's (PTX ISA, "Identifiers",
// "Labels").
#pragma once

#include <functional>
#include <string>

#include "slicing/ptx/model.hpp"

namespace fairgv::softcuda::link {

/// Gets each mention, which it may change.
using NameVisitor = std::function<void(std::string& name)>;

/// Visits each mention of what may be a name of the module: also names that nothing declares, such as special
/// registers.
void visit_names(slicing::ptx::Function& function, const NameVisitor& visit);
void visit_names(slicing::ptx::Variable& variable, const NameVisitor& visit);

}  // namespace fairgv::softcuda::link
