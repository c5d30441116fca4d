// Finds a CUDA driver for the workers of CUDA programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fairgv::daemon {

/// The libraries to try, the first that has a device being the driver: the one that the configuration names
/// and no other, or else NVIDIA's where the system keeps it, and then FairGV's own software driver, which
/// lies beside the worker's program or where it was installed. Only those that exist.
std::vector<std::string> cuda_drivers(const std::optional<std::string>& configured,
                                      const std::filesystem::path& worker_program);

}  // namespace fairgv::daemon
