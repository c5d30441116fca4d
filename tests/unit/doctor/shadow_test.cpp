// `fairgv doctor` on settings that get between programs and FairGV.
#include "tests/unit/doctor/machine.hpp"

namespace fairgv::tools::doctor {
namespace {

struct ShadowChecks : PreparedMachine {};

TEST_F(ShadowChecks, AVariableThatHidesWhatIsRegisteredIsWrong) {
  expect(check_vendor_variables, Level::ok, "are not set");
  set("OPENCL_VENDOR_PATH", "/etc/drivers");
  expect(check_vendor_variables, Level::wrong, "unset OPENCL_VENDOR_PATH");
  set("OCL_ICD_VENDORS", "libgpu.so");
  expect(check_vendor_variables, Level::wrong, "unset OCL_ICD_VENDORS");
  remove(kFrontEndFile);
  expect(check_vendor_variables, Level::note, "fairgv env");
  set("OCL_ICD_VENDORS", kFrontEnd);
  expect(check_vendor_variables, Level::ok, "leads to FairGV");
}

TEST_F(ShadowChecks, NamesFurtherDriversOfKhronosLoader) {
  set("OCL_ICD_FILENAMES", std::string(kFrontEnd) + ":libgpu.so");
  expect(check_vendor_variables, Level::note, "unset OCL_ICD_FILENAMES");
  set("OCL_ICD_FILENAMES", kFrontEnd);
  expect(check_vendor_variables, Level::ok, "FairGV only");
}

TEST_F(ShadowChecks, NamesDriversBesideOurs) {
  expect(check_further_drivers, Level::ok, "none beside FairGV");
  write("/etc/OpenCL/vendors/gpu.icd", "libgpu.so\n");
  expect(check_further_drivers, Level::note, "mv /etc/OpenCL/vendors/gpu.icd /etc/fairgv/vendors");
  remove(kFrontEndFile);
  expect(check_further_drivers, Level::ok, "not registered");
}

TEST_F(ShadowChecks, SaysWhichLoaderProgramsGet) {
  expect(check_loader, Level::ok, "programs get libOpenCL.so.1");
  write("/opt/sdk/libOpenCL.so.1", "");
  set("LD_LIBRARY_PATH", "/opt/empty::/opt/sdk");
  expect(check_loader, Level::note, "take /opt/sdk out of LD_LIBRARY_PATH");
  examination.machine.open_library = [](const std::string&) { return OpenedLibrary{{}, false, "none"}; };
  expect(check_loader, Level::wrong, "apt-get install ocl-icd-libopencl1");
}

TEST_F(ShadowChecks, NamesWhatIsPreloaded) {
  expect(check_preload, Level::ok, "nothing");
  set("LD_PRELOAD", "/usr/lib/fairgv/cuda/libfairgv-cudart-preload.so");
  expect(check_preload, Level::ok, "nothing");
  set("LD_PRELOAD", "/usr/lib/fairgv/cuda/libfairgv-cudart-preload.so:/opt/trace.so");
  expect(check_preload, Level::note, "/opt/trace.so");
  examination.machine.environment.clear();
  write("/etc/ld.so.preload", "/opt/everywhere.so\n");
  expect(check_preload, Level::note, "/opt/everywhere.so");
}

TEST_F(ShadowChecks, VariablesThatTheFrontEndRefusesAreWrong) {
  set("FAIRGV_TENANT", "alice");
  set("FAIRGV_WEIGHT", "3");
  set("FAIRGV_SLICE", "off");
  expect(check_tenant_variables, Level::ok, "can be read");
  for (const auto& [name, value] :
       {std::pair("FAIRGV_TENANT", "a b"), {"FAIRGV_WEIGHT", "0"}, {"FAIRGV_SLICE", "on"}}) {
    examination.machine.environment = {{name, value}};
    expect(check_tenant_variables, Level::wrong, std::string("unset ") + name);
  }
}

}  // namespace
}  // namespace fairgv::tools::doctor
