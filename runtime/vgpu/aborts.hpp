// How a worker ends that calls abort().
#pragma once

namespace fairgv::vgpu {

/// Number 1 of a PID namespace is not ended by abort()'s signal but by the fault that follows it, which would
/// be taken for the reason. After this it ends with the status by which the daemon knows
/// (daemon::kAbortedStatus), whatever handlers drivers install: their compilers have some that let abort() go
/// on to its fault.
///
/// Does nothing in other processes, and nothing where core dumps are wanted: a fault leaves one. Call it
/// before other threads start. Needs no_new_privs.
void tell_of_aborts();

}  // namespace fairgv::vgpu
