// Why drivers that are registered are not among the platforms. The ICD loader passes over a library that it
// cannot open and says nothing; most often another library is missing that the driver needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fairgv::vgpu::opencl {

/// Of each vendor file in the folder whose library cannot be opened, one line with the dynamic linker's
/// reason: "intel.icd: libtbb.so.12: cannot open shared object file: No such file or directory". Opens what
/// the loader has not kept open, which may take as long as starting a driver.
std::vector<std::string> unusable_drivers(const std::filesystem::path& vendors);

}  // namespace fairgv::vgpu::opencl
