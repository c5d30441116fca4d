// The headers that the modules under cuda-shim may include.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

struct Include {
  std::string file, path;  // `file` from the root of the sources
};

std::vector<Include> includes_below(const std::string& folder) {
  const std::filesystem::path root = FAIRGV_SOURCE_DIR;
  const std::regex quoted("^\\s*#\\s*include\\s+\"([^\"]+)\".*");
  std::vector<Include> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp") continue;
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (std::regex_match(line, match, quoted))
        found.push_back({std::filesystem::relative(entry.path(), root), match[1]});
    }
  }
  return found;
}

}  // namespace

TEST(CudaRooms, TheSharedEntryPointsIncludeNoEngine) {
  const auto includes = includes_below("cuda-shim/api");
  ASSERT_FALSE(includes.empty());
  for (const auto& [file, path] : includes) {
    EXPECT_FALSE(path.starts_with("cuda-shim/driver/") || path.starts_with("cuda-shim/softcuda/"))
        << file << " includes " << path;
  }
}

TEST(CudaRooms, AnEngineDoesNotIncludeTheOther) {
  for (const auto& [file, path] : includes_below("cuda-shim/driver"))
    EXPECT_FALSE(path.starts_with("cuda-shim/softcuda/")) << file << " includes " << path;
  for (const auto& [file, path] : includes_below("cuda-shim/softcuda"))
    EXPECT_FALSE(path.starts_with("cuda-shim/driver/")) << file << " includes " << path;
}

TEST(CudaRooms, IncludesNamePathsFromTheRoot) {
  const std::filesystem::path root = FAIRGV_SOURCE_DIR;
  for (const auto& [file, path] : includes_below("cuda-shim"))
    EXPECT_TRUE(std::filesystem::exists(root / path)) << file << " includes " << path;
}
