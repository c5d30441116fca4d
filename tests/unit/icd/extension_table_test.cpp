// The table of extensions against OpenCL's headers: an extension that is passed on has all of its functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "icd/extensions/extension_functions.hpp"
#include "runtime/wire/extension_signatures.hpp"
#include "tests/unit/icd/source_text.hpp"

namespace fairgv::icd {
namespace {

using wire::ExtensionSignature;
using wire::ServedBy;

/// The functions that OpenCL's header of extensions declares, by extension. A section begins with the
/// extension's own macro: "#define cl_khr_subgroups 1".
std::map<std::string, std::set<std::string>> declared_functions() {
  static const std::regex kSection(R"(#define (cl_\w+) 1|\b(cl[A-Z]\w+)\(|\b(cl[A-Z]\w+)_fn\b)");
  const std::string header = text_of(FAIRGV_CL_EXT_HEADER);
  std::map<std::string, std::set<std::string>> found;
  std::string section;
  for (std::sregex_iterator each(header.begin(), header.end(), kSection), end; each != end; ++each) {
    const std::smatch& match = *each;
    if (match[1].matched) {
      section = match[1];
      found[section];
      continue;
    }
    std::string name = match[2].matched ? match[2] : match[3];
    if (name.ends_with("_fn")) name.resize(name.size() - 3);
    found[section].insert(name);
  }
  return found;
}

std::set<std::string> served_functions(std::string_view extension) {
  std::set<std::string> names;
  for (const ExtensionSignature& row : wire::kExtensions) {
    if (row.extension == extension && row.served_by != ServedBy::nothing_is_needed)
      names.emplace(row.function);
  }
  return names;
}

TEST(ExtensionTable, HasAllFunctionsOfEachExtension) {
  const auto declared = declared_functions();
  ASSERT_GT(declared.size(), 20U) << "the header is not read";
  std::size_t compared = 0;
  for (const ExtensionSignature& row : wire::kExtensions) {
    const auto found = declared.find(std::string(row.extension));
    if (found == declared.end()) continue;  // the header lacks it: an extension of PoCL's, say
    ++compared;
    EXPECT_EQ(served_functions(row.extension), found->second) << row.extension;
  }
  EXPECT_GT(compared, 10U);
}

TEST(ExtensionTable, NamesEachFunctionOnce) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ExtensionSignature& row : wire::kExtensions) {
    EXPECT_TRUE(seen.emplace(row.extension, row.function).second) << row.extension << " " << row.function;
    EXPECT_EQ(row.function.empty(), row.served_by == ServedBy::nothing_is_needed) << row.extension;
  }
}

TEST(ExtensionTable, EveryEntryPointThatItNamesIsOne) {
  for (const ExtensionSignature& row : wire::kExtensions) {
    if (row.served_by != ServedBy::entry_point) continue;
    EXPECT_TRUE(has_entry_point(row.function)) << row.function;
  }
}

TEST(ExtensionTable, SaysWhatIsPassedOn) {
  EXPECT_TRUE(wire::is_passed_on("cl_khr_command_buffer"));
  EXPECT_TRUE(wire::is_passed_on("cl_khr_fp64"));
  EXPECT_TRUE(wire::is_passed_on("cl_pocl_content_size"));
  EXPECT_FALSE(wire::is_passed_on("cl_khr_command_buffer_mutable_dispatch"));
  EXPECT_FALSE(wire::is_passed_on(""));
}

}  // namespace
}  // namespace fairgv::icd
