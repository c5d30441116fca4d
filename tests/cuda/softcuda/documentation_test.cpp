// docs/SOFTCUDA.md lists what is not served, word for word as the table of entry points has it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "cuda-shim/api/entry_points.hpp"

namespace {

constexpr const char* kBegin = "<!-- entry points that are not served: begin -->";
constexpr const char* kEnd = "<!-- entry points that are not served: end -->";

/// Names, each once, in the table's order; a name of which only old versions are missing is not among them.
std::string unserved_names() {
  std::set<std::string> served;
  for (const auto& entry : fairgv::cuda::entry_points()) {
    if (entry.served) served.insert(entry.name);
  }
  std::string list;
  std::string last;
  for (const auto& entry : fairgv::cuda::entry_points()) {
    if (served.contains(entry.name) || entry.name == last) continue;
    last = entry.name;
    list += "`" + last + "`\n";
  }
  return list;
}

}  // namespace

TEST(SoftCudaDocumentation, ListsEveryEntryPointThatIsNotServed) {
  std::ifstream file(FAIRGV_SOFTCUDA_DOC);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto begin = text.find(kBegin);
  const auto end = text.find(kEnd);
  ASSERT_NE(std::string::npos, begin);
  ASSERT_NE(std::string::npos, end);
  const std::string expected = "\n" + unserved_names();
  const auto from = begin + std::string(kBegin).size();
  EXPECT_EQ(expected, text.substr(from, end - from)) << "Put this between the two marks:" << expected;
}
