// The coverage table of docs/CUDART.md lists calls.def. To write the table anew:
//   FAIRGV_WRITE_DOCS=1 cudart_tests --gtest_filter='CudartTable.*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "cudart_table.hpp"

namespace {

using fairgv::cudart::TableRow;

constexpr const char* kMark =
    "<!-- The rest of this page is generated from cuda-shim/cudart/abi/calls.def. -->\n";

std::string served(const TableRow& row) {
  switch (row.kind) {
    case TableRow::Kind::kPass:
      return "`" + row.function + "`";
    case TableRow::Kind::kHand:
      return "yes";
    case TableRow::Kind::kRefused:
      return "`cudaErrorNotSupported`";
  }
  return "";
}

std::string releases(const TableRow& row) {
  if (row.releases == "both") return "12, 13";
  if (row.releases == "each") return "12, 13, each in its own form";
  return row.releases == "cuda12" ? "12" : "13";
}

std::string coverage() {
  std::map<std::string, std::vector<TableRow>> subjects;
  std::map<TableRow::Kind, std::size_t> counts;
  for (const TableRow& row : fairgv::cudart::table()) {
    subjects[row.subject].push_back(row);
    counts[row.kind] += row.names().size();
  }
  std::ostringstream page;
  page << "\n## Coverage\n\n"
       << counts[TableRow::Kind::kPass] << " entry points are a driver function under another name, "
       << counts[TableRow::Kind::kHand] << " are written by hand, " << counts[TableRow::Kind::kRefused]
       << " are\nnot served. `…` stands for the name itself.\n\n"
       << "| subject | entry point | per-thread default stream | served | release |\n|---|---|---|---|---|\n";
  for (auto& [subject, rows] : subjects) {
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const TableRow& row : rows)
      page << "| " << subject << " | `" << row.name << "` | "
           << (row.suffix.empty() ? "" : "`…" + row.suffix + "`") << " | " << served(row) << " | "
           << releases(row) << " |\n";
  }
  return page.str();
}

TEST(CudartTable, DocsListWhatTheTableHas) {
  const std::string file = std::string(FAIRGV_SOURCE_DIR) + "/docs/CUDART.md";
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const std::size_t mark = text.str().find(kMark);
  ASSERT_NE(mark, std::string::npos) << file << " has no line that says where the generated part begins";
  const std::string wanted = text.str().substr(0, mark) + kMark + coverage();
  if (std::getenv("FAIRGV_WRITE_DOCS") != nullptr)
    std::ofstream(file) << wanted;
  else
    EXPECT_EQ(text.str(), wanted) << "docs/CUDART.md is old; see the head of cudart_table_test.cpp";
}

TEST(CudartTable, NoNameHasTwoRows) {
  std::map<std::string, int> seen;
  for (const TableRow& row : fairgv::cudart::table())
    for (const std::string& name : row.names()) ++seen[name];
  for (const auto& [name, times] : seen) EXPECT_EQ(times, 1) << name;
}

}  // namespace
