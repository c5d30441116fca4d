// Vendor files (*.icd): text files in a folder, each of which names the library of an OpenCL driver
// (cl_khr_icd).
#pragma once

#include <filesystem>
#include <string>

namespace fairgv::session {

/// The first line of a vendor file, which names the library. Empty if it cannot be read or is no vendor file.
std::string library_of_vendor_file(const std::filesystem::path& file);

}  // namespace fairgv::session
