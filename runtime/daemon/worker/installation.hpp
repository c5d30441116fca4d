// The parts of an installation that workers need: their program, and the installed drivers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fairgv::daemon {

struct Installation {
  std::filesystem::path program;
  std::filesystem::path vendors{};     // the workers' OCL_ICD_VENDORS
  std::vector<std::string> drivers{};  // that the vendor files name
  bool examined = false;               // a worker has told which of them cannot be opened
};

}  // namespace fairgv::daemon
