// Finds the registers that hold addresses which begin at a pointer into global memory and move by offsets.
// Beside such a register the direct kernels keep a C pointer, because compilers vectorise accesses through a
// pointer plus an offset, but not through a number that has become an address.
#pragma once

#include <vector>

#include "cuda-shim/softcuda/translate/flat.hpp"

namespace fairgv::softcuda {

/// For every register: whether every instruction that writes it makes a pointer or moves one. Those
/// instructions are cvta.to.global, mov of a variable's address, mov of such a register, and add.s64 or
/// add.u64 with such a register.
std::vector<bool> find_pointers(const FlatKernel& kernel);

/// The operand (1 or 2) of an add that is the pointer.
std::size_t pointer_operand(const FlatInstruction& add, const std::vector<bool>& pointers);

}  // namespace fairgv::softcuda
