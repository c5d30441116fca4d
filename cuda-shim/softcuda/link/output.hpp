// The linked module: what was selected of the units, under names of its own, in an order that ptxas takes
// (everything is declared before it is named).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "cuda-shim/softcuda/link/linker.hpp"

namespace fairgv::softcuda::link {

/// Version and target are the highest of the units', but for the device runtime's target. Debug information
/// is left out, because its files and labels are those of one unit. `alignments`: the largest that units have
/// asked for, by name, of names that units have in common.
slicing::ptx::Module write_output(const std::deque<Unit>& units, const Selection& selection,
                                  const std::map<std::string, std::uint64_t>& alignments);

}  // namespace fairgv::softcuda::link
