// A program gets the same answers from FairGV as from the driver: the questions that the specification leaves
// to the driver are asked on each driver of the machine, bare and as a tenant, and the answers must be the
// same (behaviours/). FAIRGV_TEST_DRIVERS names a folder with more *.icd files than the system's.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/harness/seed.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

namespace fs = std::filesystem;

/// Mesa shows none of its devices unless its environment says so.
constexpr std::pair<const char*, const char*> kForMesa{"RUSTICL_ENABLE", "llvmpipe"};

std::vector<fs::path> vendor_files() {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".icd") files.push_back(entry.path());
    }
  };
  add("/etc/OpenCL/vendors");
  if (const char* const more = std::getenv("FAIRGV_TEST_DRIVERS")) add(more);
  std::sort(files.begin(), files.end());
  return files;
}

/// Answers by question.
using Answers = std::map<std::string, std::string>;

Answers answers_of(const harness::Finished& finished) {
  Answers answers;
  for (const std::string& line : finished.lines) {
    const std::size_t colon = line.find(": ");
    if (colon != line.npos) answers[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return answers;
}

std::vector<std::string> parts_of(const std::string& answer) {
  std::vector<std::string> parts;
  for (std::size_t from = 0, end = 0; end != answer.npos; from = end + 2) {
    end = answer.find(", ", from);
    parts.push_back(answer.substr(from, end - from));
  }
  return parts;
}

/// A tenant's answer need not match a driver that does not answer, not always answers the same, or answers
/// wrongly.
bool agree(const std::string& bare, const std::string& tenant) {
  if (bare.starts_with("(any)")) return true;
  const auto wanted = parts_of(bare), given = parts_of(tenant);
  return std::equal(
      wanted.begin(), wanted.end(), given.begin(), given.end(),
      [](const std::string& a, const std::string& b) { return a.ends_with("(any)") || a == b; });
}

/// Without direct memory there is no shared virtual memory (docs/OPENCL.md).
bool is_without_direct_memory(const harness::Environment& settings) {
  return std::any_of(settings.begin(), settings.end(),
                     [](const auto& setting) { return setting.first == "FAIRGV_DIRECT_MEMORY"; });
}

struct Drivers : ::testing::Test {
  /// The behaviours of one driver: alone, and as a tenant with these settings.
  void compare(const fs::path& vendor_file, const harness::Environment& settings) {
    const auto folder = harness::TemporaryFolder::make();
    ASSERT_TRUE(folder);
    fs::copy_file(vendor_file, folder.value() / "driver.icd");
    const std::string program = harness::beside("driver_behaviours");

    auto alone = harness::bare({program});
    alone.environment.emplace_back("OCL_ICD_VENDORS", folder->path().string());
    alone.environment.emplace_back(kForMesa);
    const auto bare = harness::run(alone);
    ASSERT_TRUE(bare) << bare.error().message;
    const Answers wanted = answers_of(bare.value());
    ASSERT_GT(wanted.size(), 60u) << "the driver answers too little to be compared";

    const auto tenancy = harness::Tenancy::start(
        {}, {kForMesa}, "slicing_floor = 2\n[opencl]\nvendors = \"" + folder->path().string() + "\"");
    ASSERT_TRUE(tenancy) << tenancy.error().message;
    auto as_tenant = tenancy->tenant("alice", 1, {program});
    as_tenant.environment.insert(as_tenant.environment.end(), settings.begin(), settings.end());
    const auto through = harness::run(as_tenant);
    ASSERT_TRUE(through) << through.error().message;
    const Answers given = answers_of(through.value());
    for (const auto& [question, answer] : wanted) {
      const auto found = given.find(question);
      const std::string ours = found != given.end() ? found->second : "no answer";
      if (is_without_direct_memory(settings) && ours == "no such memory") continue;
      EXPECT_TRUE(agree(answer, ours)) << question << "\n  driver: " << answer << "\n  tenant: " << ours;
    }
  }

  void compare_all(const harness::Environment& settings) {
    const std::vector<fs::path> files = vendor_files();
    ASSERT_FALSE(files.empty()) << "no driver is installed";
    for (const fs::path& file : files) {
      SCOPED_TRACE(file.string());
      compare(file, settings);
    }
  }
};

TEST_F(Drivers, AnswerTenantsAsTheyAnswerProgramsOfTheirOwn) {
  compare_all({});
}

TEST_F(Drivers, AnswerTenantsAlikeWhereNoBufferIsReachedDirectly) {
  compare_all({{"FAIRGV_DIRECT_MEMORY", "off"}});
}

TEST_F(Drivers, AnswerTenantsAlikeWhenEveryLaunchIsCutAtRandom) {
  const std::string slice = "random:" + std::to_string(harness::printed_seed());
  SCOPED_TRACE(slice);
  compare_all({{"FAIRGV_SLICE", slice}});
}

}  // namespace
}  // namespace fairgv::integration
