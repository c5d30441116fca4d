// PTX ISA, "mbarrier": objects in shared memory on which threads arrive and for whose phases they wait. Their
// kernels are stepped; prelude/stepped.cl has the object.
#pragma once

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {

/// Also the arrival that asynchronous copies make.
bool is_mbarrier(const FlatInstruction& instruction);
/// All but the waits.
void write_mbarrier(Writer& writer, const FlatInstruction& instruction);
/// The value that a wait puts into `me` before it stops.
void prepare_mbarrier_wait(Writer& writer, const FlatInstruction& instruction);

}  // namespace fairgv::softcuda
