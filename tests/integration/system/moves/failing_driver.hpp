// PoCL as the workers' only driver, one of whose two devices fails on demand (programs/failing_driver.cpp).
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/harness/temporary_folder.hpp"

namespace fairgv::integration {

class FailingDriver {
 public:
  FailingDriver() {
    std::filesystem::create_directories(folder_ / "driver");
    std::filesystem::create_directories(folder_ / "vendors");
    const auto library = folder_ / "driver/libfailing_driver.so";
    std::filesystem::copy_file(FAIRGV_FAILING_DRIVER, library);
    std::ifstream file("/etc/OpenCL/vendors/pocl.icd");
    std::string pocl;
    std::getline(file, pocl);
    folder_.write("driver/pocl", pocl + "\n");
    folder_.write("vendors/failing.icd", library.string() + "\n");
  }

  std::string vendors() const { return (folder_ / "vendors").string(); }
  /// Tables for the end of a configuration.
  std::string rules() const { return "[opencl]\nvendors = \"" + vendors() + "\"\n"; }

  /// From now on the first device fails in this way.
  void fail(const std::string& how) const {
    folder_.write("driver/failing.new", how + "\n");
    std::filesystem::rename(folder_ / "driver/failing.new", folder_ / "driver/failing");
  }
  void heal() const { std::filesystem::remove(folder_ / "driver/failing"); }

 private:
  harness::TemporaryFolder folder_;
};

}  // namespace fairgv::integration
