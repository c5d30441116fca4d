// docs/API.md: every entry point of the loader's dispatch table, the way in which it is served, and the tests
// that touch it. The page is generated here, from the OpenCL headers, from icd/ and from the tests; this test
// fails when the page differs. To write it anew:
//   FAIRGV_WRITE_DOCS=1 build/release/bin/icd_test --gtest_filter='Api*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/icd/source_text.hpp"

namespace fairgv::icd {
namespace {

namespace fs = std::filesystem;

/// Each match: the whole, then its groups; a group that took no part is empty.
std::vector<std::vector<std::string>> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::vector<std::string>> found;
  for (std::sregex_iterator each(text.begin(), text.end(), pattern), end; each != end; ++each) {
    found.emplace_back(each->begin(), each->end());
  }
  return found;
}

/// The sources in the folder and below it, and its headers too if `headers` is set.
std::vector<fs::path> sources(const fs::path& folder, bool headers = false) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const fs::path kind = entry.path().extension();
    if (kind == ".cpp" || (headers && kind == ".hpp")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Members of cl_icd_dispatch, in their order.
std::vector<std::string> dispatch_members() {
  const std::string header = text_of(FAIRGV_CL_ICD_HEADER);
  const std::size_t begin = header.find("struct _cl_icd_dispatch {");
  const std::string table = header.substr(begin, header.find("};", begin) - begin);
  std::vector<std::string> names;
  for (const auto& each : matches(table, std::regex("(cl[A-Z]\\w+);"))) names.push_back(each[1]);
  return names;
}

/// Served entry points and the file of each, from the comments of icd/api/api.hpp.
std::map<std::string, std::string> served_entry_points() {
  const std::string header = text_of(kRoot / "icd/api/api.hpp");
  std::map<std::string, std::string> files;
  std::string file;
  for (const auto& each : matches(header, std::regex("/\\* (api/\\w+\\.cpp) \\*/|\\bX\\((cl\\w+)\\)"))) {
    if (!each[1].empty()) file = each[1];
    if (!each[2].empty()) files[each[2]] = file;
  }
  return files;
}

struct Unserved {
  std::string error, why;
};

/// Entry points that end in an error, and the comment above each group of them.
std::map<std::string, Unserved> unserved_entry_points() {
  const std::string source = text_of(kRoot / "icd/api/unserved.cpp");
  const std::string list = source.substr(source.find("#define FAIRGV_UNSERVED"));
  std::map<std::string, Unserved> found;
  std::string why;
  for (const auto& each :
       matches(list, std::regex("// ([^\\n]*[^\\n.])\\.?\\n|FAIRGV_UNSERVED\\((cl\\w+), (CL_\\w+)\\)"))) {
    if (!each[1].empty()) why = each[1];
    if (!each[2].empty()) found[each[2]] = {each[3], why};
  }
  return found;
}

/// The cost of a served entry point on the wire, by the way in which the front end handles calls of its kind
/// (docs/ARCHITECTURE.md, A call's way). The first rule that matches holds.
std::string way_of(const std::string& name) {
  static const std::pair<std::regex, const char*> kWays[] = {
      {std::regex("clGet(Platform|Device)IDs|clGetPlatformInfo|clGetDeviceInfo"),
       "local; asked of the worker once"},
      {std::regex("clGetProgram(Build)?Info|clGetKernel(WorkGroup|SubGroup|Arg)?Info(KHR)?"),
       "local; what the driver knows is asked once"},
      {std::regex("clGetEventProfilingInfo"), "local: a load from the event's slot"},
      {std::regex("clGet.*Timer"), "round trip, if the driver has timers"},
      {std::regex("clGetSupportedImageFormats"), "local; asked of the worker once"},
      {std::regex("clGet\\w+|clUnload\\w+|clSetKernelArg\\w*|clSetKernelExecInfo"), "local"},
      {std::regex("clSet(CommandQueueProperty|DefaultDeviceCommandQueue)"), "local"},
      {std::regex("clSetProgramSpecializationConstant"), "round trip"},
      {std::regex("clSet\\w+Callback"), "local; callbacks come by notice"},
      {std::regex("clSetUserEventStatus"), "one-way message"},
      {std::regex("clSetProgramSpecializationConstant"), "round trip"},
      {std::regex("clRetain\\w+"), "local"},
      {std::regex("clRelease\\w+"), "local; the last one is a one-way message"},
      {std::regex("clCreateProgramWith(Binary|IL|BuiltInKernels)|clCreateKernel|clCreateKernelsInProgram"),
       "one-way message, after what the driver must say (round trip, kernels once per program)"},
      {std::regex("clCreate\\w+|clCloneKernel|clSVM\\w+"), "one-way message"},
      {std::regex("cl(Build|Compile|Link)Program"),
       "one-way message; waits for its completion without a callback"},
      {std::regex("clWaitForEvents"), "local: waits on the events' slots"},
      {std::regex("clFlush"), "local: messages are sent at once; rings the worker"},
      {std::regex("clFinish"), "one-way message; waits for its completion"},
      {std::regex("clEnqueue(Read|Write|Map|SVMMap|SVMMemcpy)\\w*"),
       "one-way message; a blocking one waits for its completion"},
      {std::regex("clEnqueue\\w+|clCommand\\w+|clFinalize\\w+"), "one-way message"},
  };
  for (const auto& [pattern, way] : kWays) {
    if (std::regex_match(name, pattern)) return way;
  }
  return "";
}

/// The test files of tests/integration and tests/unit that name the entry point, except this file, by their
/// paths below tests/ without an ending.
std::map<std::string, std::set<std::string>> tests_by_entry_point() {
  std::map<std::string, std::set<std::string>> found;
  for (const char* folder : {"tests/integration", "tests/unit"}) {
    for (const fs::path& file : sources(folder, true)) {
      if (file.stem() == "api_table_test") continue;
      for (const auto& each : matches(text_of(file), std::regex("\\bcl[A-Z]\\w+"))) {
        found[each[0]].insert(file.lexically_relative(kRoot / "tests").replace_extension().string());
      }
    }
  }
  return found;
}

/// Functions that the front end gives out by name (clGetExtensionFunctionAddressForPlatform): their names
/// stand as strings in its sources.
std::map<std::string, std::string> functions_by_name(const std::vector<std::string>& members) {
  std::map<std::string, std::string> found;
  for (const fs::path& file : sources("icd")) {
    for (const auto& each : matches(text_of(file), std::regex("\"(cl[A-Z]\\w+)\""))) {
      if (std::find(members.begin(), members.end(), each[1]) == members.end())
        found.emplace(each[1], file.lexically_relative(kRoot / "icd").string());
    }
  }
  return found;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "–" : text;
}

std::string how_served(const std::string& name) {
  static const auto served = served_entry_points();
  static const auto unserved = unserved_entry_points();
  if (const auto found = served.find(name); found != served.end()) {
    const std::string way = way_of(name);
    return way.empty() ? "" : way + " (`" + found->second + "`)";
  }
  if (const auto found = unserved.find(name); found != unserved.end()) {
    return "answers `" + found->second.error + "`: " + found->second.why;
  }
  // Graphics of another system: the headers give the slot no type, and no loader here calls it.
  return name.find("D3D1") != std::string::npos || name.find("DX9") != std::string::npos
             ? "null: Direct3D, Windows only"
             : "";
}

/// An item of a list, in lines of at most 120 columns.
std::string item(const std::string& text) {
  constexpr std::size_t kColumns = 120;
  std::istringstream words(text);
  std::string wrapped = "-";
  std::size_t column = wrapped.size();
  for (std::string word; words >> word;) {
    if (column + 1 + word.size() > kColumns) {
      wrapped += "\n ";
      column = 1;
    }
    wrapped += " " + word;
    column += 1 + word.size();
  }
  return wrapped + "\n";
}

std::string page() {
  const std::vector<std::string> members = dispatch_members();
  auto tests = tests_by_entry_point();
  std::ostringstream out;
  out << "# Entry points\n\n"
         "Every entry point of the ICD loader's dispatch table, how FairGV serves it, and the test files "
         "(below tests/) that name\n"
         "it. Generated by tests/unit/icd/api_table_test.cpp, which also says how to write this page anew. "
         "Errors that the\n"
         "specification names are always answered locally.\n\n";
  for (const std::string& name : members) {
    const std::string served = how_served(name);
    out << item("`" + name + "`: " + (served.empty() ? "missing" : served) +
                ". Tests: " + joined(tests[name]));
  }
  out << "\n## Functions by name\n\n`clGetExtensionFunctionAddressForPlatform` gives these beside.\n\n";
  for (const auto& [name, file] : functions_by_name(members)) {
    out << item("`" + name + "`: `" + file + "`. Tests: " + joined(tests[name]));
  }
  return out.str();
}

TEST(ApiTable, HasTheWholeDispatchTable) {
  EXPECT_GT(dispatch_members().size(), 140U);
}

TEST(ApiTable, MissesNoEntryPoint) {
  for (const std::string& name : dispatch_members()) EXPECT_NE(how_served(name), "") << name;
}

TEST(ApiTable, IsWhatThePageSays) {
  const fs::path file = kRoot / "docs/API.md";
  if (std::getenv("FAIRGV_WRITE_DOCS") != nullptr) std::ofstream(file) << page();
  EXPECT_EQ(page(), text_of(file)) << "docs/API.md is old; see the head of icd/api_table_test.cpp";
}

}  // namespace
}  // namespace fairgv::icd
