// The places where a system keeps the CUDA driver, a libcuda.so.1: for workers, and for programs that have it
// in their own process (cuda-shim/direct). Never by the linker's search, which may find a front end of FairGV
// first.
#pragma once

namespace fairgv::session {

inline constexpr const char* kCudaDrivers[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                               "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
                                               "/usr/lib64/libcuda.so.1",
                                               "/usr/lib/libcuda.so.1",
                                               "/usr/lib/wsl/lib/libcuda.so.1",
                                               "/usr/local/nvidia/lib64/libcuda.so.1",  // nodes of Kubernetes
                                               "/usr/local/nvidia/lib/libcuda.so.1",
                                               "/run/opengl-driver/lib/libcuda.so.1"};

/// The variable that names the driver beneath a direct program; `fairgv run` sets it as the daemon says.
inline constexpr const char* kDriverVariable = "FAIRGV_CUDA_DRIVER";

}  // namespace fairgv::session
