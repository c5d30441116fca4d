// Registration of drivers: the findings of `fairgv doctor` when a vendor file leads nowhere, or is missing.
#include "tests/unit/doctor/machine.hpp"
#include "tools/fairgv/doctor/icd_files.hpp"

namespace fairgv::tools::doctor {
namespace {

struct IcdChecks : PreparedMachine {};

TEST_F(IcdChecks, FrontEndIsFoundWhereALoaderLooks) {
  expect(check_front_end, Level::ok, kFrontEnd);
  remove(kFrontEndFile);
  expect(check_front_end, Level::note,
         "ln -s '/usr/lib/fairgv/vendors/fairgv.icd' /etc/OpenCL/vendors/fairgv.icd");
  set("OCL_ICD_VENDORS", "/usr/lib/fairgv/vendors");
  expect(check_front_end, Level::ok, "/usr/lib/fairgv/vendors/fairgv.icd");
}

TEST_F(IcdChecks, FrontEndMustBeInstalledWhole) {
  remove("/usr/lib/fairgv");
  expect(check_front_end, Level::wrong, "/usr/lib/fairgv/vendors/fairgv.icd is missing");
}

TEST_F(IcdChecks, EveryVendorFileMustLeadToADriver) {
  for (const Finding& finding : check_drivers_open(examination))
    EXPECT_EQ(finding.level, Level::ok) << finding.text;
  write(kDriverFile, "libbroken.so\n");
  write("/etc/drivers/empty.icd", "\n");
  write("/etc/drivers/tool.icd", "libtool.so\n");
  write("/etc/drivers/read.me", "libbroken.so\n");
  const Findings findings = check_drivers_open(examination);
  ASSERT_EQ(findings.size(), 5u);
  EXPECT_EQ(findings[0].level, Level::ok);  // /etc/OpenCL/vendors/fairgv.icd
  EXPECT_EQ(findings[1].text, "it names no library");
  EXPECT_EQ(findings[2].text, "libbroken.so cannot be opened: undefined symbol");
  EXPECT_EQ(findings[2].remedy, "install the driver again, or rm '/etc/drivers/gpu.icd'");
  EXPECT_EQ(findings[3].text, "libtool.so is no OpenCL driver");
  for (const std::size_t bad : {1U, 2U, 3U}) EXPECT_EQ(findings[bad].level, Level::wrong);
}

TEST_F(IcdChecks, AnotherLibraryThatADriverNeedsIsNamed) {
  examination.machine.open_library = [](const std::string& name) {
    const std::string gone = ": cannot open shared object file: No such file or directory";
    return name == "libgpu.so" ? OpenedLibrary{{}, false, "libtbb.so.12" + gone}
                               : OpenedLibrary{{}, false, name + gone};
  };
  write("/etc/drivers/other.icd", "libother.so\n");
  for (const Finding& finding : check_drivers_open(examination)) {
    if (finding.subject == "driver /etc/drivers/gpu.icd") {
      EXPECT_NE(finding.text.find("libgpu.so cannot be opened: libtbb.so.12: cannot"), std::string::npos);
      EXPECT_EQ(finding.remedy,
                "install the package that has libtbb.so.12 (apt-file search libtbb.so.12), or rm "
                "'/etc/drivers/gpu.icd'");
    } else if (finding.subject == "driver /etc/drivers/other.icd") {
      EXPECT_EQ(finding.remedy, "install the driver again, or rm '/etc/drivers/other.icd'");
    }
  }
}

TEST_F(IcdChecks, AMachineWithoutVendorFilesIsWrong) {
  remove("/etc/OpenCL");
  remove("/etc/drivers");
  remove("/usr/lib/fairgv");
  expect(check_drivers_open, Level::wrong, "apt-get install");
  expect(check_worker_drivers, Level::wrong, "/etc/drivers");
}

TEST_F(IcdChecks, ADriverIsRegisteredOnce) {
  expect(check_drivers_once, Level::ok, "/etc/OpenCL/vendors");
  write("/etc/OpenCL/vendors/other-name.icd", std::string(kFrontEnd) + "\n");
  expect(check_drivers_once, Level::wrong, "rm '/etc/OpenCL/vendors/other-name.icd'");
}

TEST_F(IcdChecks, WorkersNeedADriverThatIsNotOurs) {
  expect(check_worker_drivers, Level::ok, "libgpu.so");
  write(kDriverFile, "libfairgv-opencl.so.1\n");
  expect(check_worker_drivers, Level::wrong, "vendors = \"FOLDER\" in [opencl]");
}

/// libOpenCL(7), ENVIRONMENT: the three meanings of OCL_ICD_VENDORS, and OPENCL_VENDOR_PATH behind it.
TEST_F(IcdChecks, DriversAreLookedForAsTheLoaderDoes) {
  const auto place = [&] { return driver_search(examination.machine).place; };
  EXPECT_EQ(place(), "/etc/OpenCL/vendors");
  set("OPENCL_VENDOR_PATH", "/etc/drivers");
  EXPECT_EQ(place(), "/etc/drivers");
  set("OCL_ICD_VENDORS", "gpu.icd");
  EXPECT_EQ(place(), kDriverFile);
  set("OCL_ICD_VENDORS", kFrontEndFile);
  EXPECT_EQ(place(), kFrontEndFile);
  set("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/");
  EXPECT_EQ(place(), "/etc/OpenCL/vendors/");
  set("OCL_ICD_VENDORS", "libgpu.so");
  EXPECT_EQ(place(), "libgpu.so");
  EXPECT_EQ(driver_search(examination.machine).files.front().driver, "libgpu.so");
}

}  // namespace
}  // namespace fairgv::tools::doctor
