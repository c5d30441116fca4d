// The coverage table of docs/CUDART.md lists calls.def. To write the table anew:
//   FAIRGV_WRITE_DOCS=1 cudart_tests --gtest_filter='CudartTable.*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "cudart_table.hpp"

namespace {

using fairgv::cudart::TableRow;

constexpr const char* kMark =
    "<!-- The rest of this page is generated from cuda-shim/cudart/abi/calls.def. -->\n";

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The driver's functions that FairGV's driver serves in no version.
const std::set<std::string>& unserved_functions() {
  static const std::set<std::string> unserved = [] {
    // Read, not included: the runtime's own sources have a macro of that name.
    const std::string table = text_of(FAIRGV_SOURCE_DIR "/cuda-shim/api/entry/entry_points.def");
    const std::regex row(R"(\nFAIRGV_ENTRY\(\w+, (\w+), \w+, \d+, (true|false)\))");
    std::map<std::string, bool> known;
    for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at)
      known[(*at)[1]] = known[(*at)[1]] || (*at)[2] == "true";
    EXPECT_GT(known.size(), 400u);
    std::set<std::string> names;
    for (const auto& [name, served] : known)
      if (!served) names.insert(name);
    return names;
  }();
  return unserved;
}

// The unserved functions of the driver that the entry points written by hand ask, by the entry point.
std::map<std::string, std::string> unserved_by_hand() {
  // An entry point's macro up to its parameters, or a use of the driver.
  const std::regex pattern(R"(FAIRGV_\w*CALL\w*\(([^()]*)\(|driver\.(cu[A-Z]\w*))");
  const std::regex entry_point(R"((__)?cuda[A-Z]\w*)");
  std::map<std::string, std::string> found;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(FAIRGV_SOURCE_DIR "/cuda-shim/cudart")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = text_of(file.path());
    std::string current;
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
      const std::string head = (*at)[1].str();
      std::smatch name;
      if ((*at)[1].matched && std::regex_search(head, name, entry_point)) current = name.str();
      const std::string function = (*at)[2].str();
      if (!unserved_functions().contains(function)) continue;
      EXPECT_FALSE(current.empty()) << function << " is used outside an entry point, in " << file.path();
      found[current] = function;
    }
  }
  return found;
}

std::string asks_in_vain(const TableRow& row) {
  static const std::map<std::string, std::string> by_hand = unserved_by_hand();
  if (row.kind == TableRow::Kind::kPass)
    return unserved_functions().contains(row.function) ? row.function : "";
  const auto found = by_hand.find(row.name);
  return row.kind == TableRow::Kind::kHand && found != by_hand.end() ? found->second : "";
}

std::string served(const TableRow& row) {
  if (const std::string function = asks_in_vain(row); !function.empty())
    return "not `" + function + "`";
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
  std::size_t in_vain = 0;
  for (const TableRow& row : fairgv::cudart::table()) {
    subjects[row.subject].push_back(row);
    counts[row.kind] += row.names().size();
    if (!asks_in_vain(row).empty()) in_vain += row.names().size();
  }
  std::ostringstream page;
  page << "\n## Coverage\n\n"
       << counts[TableRow::Kind::kPass] << " entry points are a driver function under another name, "
       << counts[TableRow::Kind::kHand] << " are written by hand, " << counts[TableRow::Kind::kRefused]
       << " are\nnot served. " << in_vain
       << " of the former ask a function that FairGV's driver does not serve (\"not\"): there they answer\n"
          "`cudaErrorNotSupported`. `…` stands for the name itself.\n\n"
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
  const std::string text = text_of(file);
  const std::size_t mark = text.find(kMark);
  ASSERT_NE(mark, std::string::npos) << file << " has no line that says where the generated part begins";
  const std::string wanted = text.substr(0, mark) + kMark + coverage();
  if (std::getenv("FAIRGV_WRITE_DOCS") != nullptr)
    std::ofstream(file) << wanted;
  else
    EXPECT_EQ(text, wanted) << "docs/CUDART.md is old; see the head of cudart_table_test.cpp";
}

// The page is only as right as this finds out. These were said to be served when they were not.
TEST(CudartTable, SeesThroughEntryPointsWrittenByHand) {
  const auto by_hand = unserved_by_hand();
  for (const auto& asked : by_hand) {
    const auto& rows = fairgv::cudart::table();
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                            [&asked](const TableRow& row) {
                              return row.name == asked.first && row.kind == TableRow::Kind::kHand;
                            }))
        << asked.first << " asks " << asked.second;
  }
  EXPECT_FALSE(by_hand.contains("cudaGraphConditionalHandleCreate")) << "the driver serves it";
  EXPECT_FALSE(by_hand.contains("cudaMallocMipmappedArray")) << "the driver serves it";
  EXPECT_FALSE(by_hand.contains("cudaMemcpyBatchAsync")) << "the driver serves it";
  EXPECT_FALSE(by_hand.contains("cudaMalloc"));
}

TEST(CudartTable, NoNameHasTwoRows) {
  std::map<std::string, int> seen;
  for (const TableRow& row : fairgv::cudart::table())
    for (const std::string& name : row.names()) ++seen[name];
  for (const auto& [name, times] : seen) EXPECT_EQ(times, 1) << name;
}

}  // namespace
