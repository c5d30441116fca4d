// The exports of libcudart.so.13 and libcudart.so.12, compared with the toolkit's own library and with
// calls.def.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "cudart_table.hpp"

namespace {

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* pipe) const { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  std::string output;
  char buffer[4096];
  for (std::size_t read = 0; pipe && (read = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
    output.append(buffer, read);
  return output;
}

// The functions that a library defines: names with their version, as `nm -D --with-symbol-versions` prints
// them.
std::set<std::string> exports_of(const std::string& library) {
  std::istringstream lines(output_of("nm -D --defined-only --with-symbol-versions '" + library + "'"));
  std::set<std::string> names;
  std::string address, kind, name;
  while (lines >> address >> kind >> name)
    if (kind == "T") names.insert(name);
  return names;
}

std::string library(int release) {
  return std::string(FAIRGV_CUDART_DIR) + "/libcudart.so." + std::to_string(release);
}

std::set<std::string> names_of_table(int release) {
  std::set<std::string> names;
  for (const fairgv::cudart::TableRow& row : fairgv::cudart::table())
    if (row.is_in(release))
      for (const std::string& name : row.names())
        names.insert(name + "@@libcudart.so." + std::to_string(release));
  return names;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& taken) {
  std::set<std::string> rest;
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::inserter(rest, rest.end()));
  return rest;
}

TEST(CudartSymbols, TheToolkitsLibraryExportsTheSameNamesWithTheSameVersions) {
  const std::string toolkit = FAIRGV_TOOLKIT_CUDART;
  if (toolkit.empty()) GTEST_SKIP() << "the toolkit's libcudart.so.13 is not here";
  const std::set<std::string> theirs = exports_of(toolkit);
  ASSERT_GT(theirs.size(), 400u);
  EXPECT_EQ(listed(without(theirs, exports_of(library(13)))), "") << "exported by the toolkit's library only";
  EXPECT_EQ(listed(without(exports_of(library(13)), theirs)), "") << "exported by ours only";
}

TEST(CudartSymbols, EveryExportIsARowOfTheTableAndEveryRowIsExported) {
  for (const int release : {12, 13}) {
    const std::set<std::string> exported = exports_of(library(release));
    const std::set<std::string> rows = names_of_table(release);
    EXPECT_EQ(listed(without(exported, rows)), "") << "not in calls.def";
    EXPECT_EQ(listed(without(rows, exported)), "") << "not exported";
  }
}

TEST(CudartSymbols, EachLibraryGoesByItsSoname) {
  for (const int release : {12, 13}) {
    const std::string dynamic = output_of("readelf -d '" + library(release) + "'");
    EXPECT_NE(dynamic.find("soname: [libcudart.so." + std::to_string(release) + "]"), std::string::npos);
    EXPECT_EQ(dynamic.find("libcuda.so"), std::string::npos) << "the driver is found at run time";
  }
}

}  // namespace
