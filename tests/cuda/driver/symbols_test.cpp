// The library's exports, compared with the list in docs/CUDA.md.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>

#include "tests/cuda/unserved_names.hpp"

namespace {

std::set<std::string> exported_by(const std::string& library) {
  std::set<std::string> names;
  const std::string command = "nm -D --defined-only '" + library + "' 2>/dev/null";
  FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) return names;
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    std::istringstream words(line.data());
    std::string address, kind, name;
    if (words >> address >> kind >> name && kind == "T") names.insert(name);
  }
  pclose(output);
  return names;
}

}  // namespace

TEST(CudaLibrary, ExportsExactlyWhatTheToolkitsOwnLibraryExports) {
  const auto wanted = exported_by(FAIRGV_CUDA_STUB);
  if (wanted.empty()) GTEST_SKIP() << "no stub library or no nm: " << FAIRGV_CUDA_STUB;
  EXPECT_EQ(wanted, exported_by(FAIRGV_CUDA_LIBRARY));
}

TEST(CudaDocumentation, ListsEveryEntryPointThatIsNotServed) {
  expect_lists_unserved_names(FAIRGV_CUDA_DOC);
}
