#include "runtime/session/vendor_file.hpp"

#include <fstream>

namespace fairgv::session {

std::string library_of_vendor_file(const std::filesystem::path& file) {
  if (file.extension() != ".icd") return {};
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return line;
}

}  // namespace fairgv::session
