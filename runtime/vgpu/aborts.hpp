// The end of a worker that calls abort().
#pragma once

namespace fairgv::vgpu {

/// abort()'s signal does not end process 1 of a PID namespace; the fault that follows does, and would be
/// taken for the reason. After this call the process ends with a status that the daemon knows
/// (daemon::kAbortedStatus), whatever handlers drivers install: their compilers have some that let abort() go
/// on to its fault.
///
/// Does nothing in other processes, and nothing where core dumps are wanted: a fault leaves one. Call it
/// before other threads start. Needs no_new_privs.
void tell_of_aborts();

}  // namespace fairgv::vgpu
