// Vendor files (*.icd): text files in a folder that name the libraries of OpenCL drivers (cl_khr_icd).
#pragma once

#include <string>
#include <vector>

#include "tools/fairgv/doctor/machine.hpp"

namespace fairgv::tools::doctor {

inline constexpr const char* kSystemVendors = "/etc/OpenCL/vendors";

struct IcdFile {
  std::string path;    // as the machine's programs see it
  std::string driver;  // the first line, a library; empty: it names none
};

/// By name. A folder that cannot be read has none.
std::vector<IcdFile> icd_files_in(const Machine& machine, const std::string& folder);

/// Whether that is FairGV's own.
bool is_front_end(const IcdFile& file);

/// The vendor file of FairGV's own that `fairgv run` and `fairgv env` lead programs to.
std::string own_icd_file(const Machine& machine);

/// The place where a program with this environment looks for drivers: libOpenCL(7) of ocl-icd,
/// OCL_ICD_VENDORS and OPENCL_VENDOR_PATH.
struct DriverSearch {
  std::string variable;  // the one that decides; empty: the system's folder
  std::string place;     // a folder, a vendor file, or a library
  std::vector<IcdFile> files;

  const IcdFile* front_end() const;
};
DriverSearch driver_search(const Machine& machine);

}  // namespace fairgv::tools::doctor
