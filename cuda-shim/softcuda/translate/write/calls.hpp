// Calls that are jumps (flat.hpp): the thread's call stack, what a call puts on it, and the way back. Such
// kernels are stepped, because the stack lies in the thread's scratch memory.
//
// Names in the source: K the beginning of the thread's stack, F its current frame. The kernel itself has no
// frame: F is K there.
#pragma once

#include <string>

#include "cuda-shim/softcuda/translate/flow/flow.hpp"
#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {

/// Completes the frames and calls of `kernel`: the registers that a call saves, and the sizes.
void lay_out_frames(FlatKernel& kernel, const Flow& flow);

/// A call, the place behind it, or a function's end. `leave`: the statement that ends the thread. False: the
/// instruction is none of these.
bool write_call(Writer& writer, const FlatInstruction& instruction, const std::string& leave);

}  // namespace fairgv::softcuda
