// Finds out why registered drivers are not among the platforms. The ICD loader silently skips a library that
// it cannot open; most often another library is missing that the driver needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fairgv::vgpu::opencl {

/// Of each vendor file in the folder whose library cannot be opened, one line with the dynamic linker's
/// reason: "intel.icd: libtbb.so.12: cannot open shared object file: No such file or directory". Opens the
/// libraries that the loader has not kept open, which may take as long as starting a driver.
std::vector<std::string> unusable_drivers(const std::filesystem::path& vendors);

}  // namespace fairgv::vgpu::opencl
