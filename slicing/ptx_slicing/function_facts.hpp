// The facts of one function of a PTX module that matter for slicing: which of the launch's registers it
// reads, which functions it calls, which addresses it takes, and its obstacle to slicing. Private to the PTX
// slicer.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "slicing/ptx/model.hpp"

namespace fairgv::slicing::ptx {

/// A set of the six values that depend on how a launch is cut: bit i is kGridRegisters[i].
using GridValues = std::uint8_t;

inline constexpr std::size_t kGridValueCount = 6;
inline constexpr std::array<std::string_view, kGridValueCount> kGridRegisters = {
    "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z"};

/// The index in kGridRegisters of a component as it may be written (.x or .r, .y or .g, .z or .b); -1 for all
/// else.
int grid_value_of(std::string_view special_register);

struct FunctionFacts {
  GridValues reads = 0;             // itself, not through calls
  std::set<std::string> callees;    // by name
  std::set<std::string> addresses;  // names in other operands: functions among them have their address taken
  std::string
      obstacle;  // why it cannot be sliced, as a phrase ("reads %clusterid"); empty if nothing is seen
};

/// Precondition: the function has a body.
FunctionFacts facts_of(const Function& function);

/// Adds the names in an initialiser to `names`.
void add_names(const Operand& operand, std::set<std::string>& names);

}  // namespace fairgv::slicing::ptx
