// docs/man/fairgvd.toml.5.md: the part from "## Options" to the next heading is written from the table of
// options. This test fails when the part differs from the table. To write it anew:
//   FAIRGV_WRITE_DOCS=1 build/release/bin/daemon_test --gtest_filter='ConfigManual*'
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/config/report.hpp"

namespace fairgv::daemon {
namespace {

constexpr const char* kPage = FAIRGV_SOURCE_DIR "/docs/man/fairgvd.toml.5.md";
constexpr const char* kHeading = "\n## Options\n\n";

std::string text_of_page() {
  std::ostringstream text;
  text << std::ifstream(kPage).rdbuf();
  return text.str();
}

TEST(ConfigManual, ListsTheOptionsThatThereAre) {
  const std::string page = text_of_page();
  const auto heading = page.find(kHeading);
  ASSERT_NE(heading, std::string::npos);
  const auto begin = heading + std::string(kHeading).size();
  const auto end = page.find("\n## ", begin);
  ASSERT_NE(end, std::string::npos);
  std::string options = options_manual();
  options.pop_back();
  if (std::getenv("FAIRGV_WRITE_DOCS") != nullptr) {
    std::ofstream(kPage) << page.substr(0, begin) + options + page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(begin, end - begin), options)
      << "write it anew: FAIRGV_WRITE_DOCS=1 build/release/bin/daemon_test --gtest_filter='ConfigManual*'";
}

/// The faults in the rows of a section, one by one.
template <class Rule>
void expect_complete(const std::string& section, const ConfigOptions<Rule>& options) {
  std::set<std::string> keys;
  for (const ConfigOption<Rule>& option : options) {
    const OptionFacts& facts = option.facts;
    const std::string name = section + " " + facts.key;
    EXPECT_TRUE(keys.insert(facts.key).second) << name << " is there twice";
    EXPECT_TRUE(std::string(facts.doc).ends_with('.') || std::string(facts.doc).ends_with("*.")) << name;
    EXPECT_NE(option.access.get(Rule()).has_value(), *facts.unset != '\0')
        << name
        << " must give the value that holds without the key, and nothing else if the key has a default";
  }
}

TEST(ConfigManual, EveryOptionSaysWhatItIsAndWhatHoldsWithoutIt) {
  for (const SingleSection& section : single_sections()) expect_complete(section.name, section.options);
  expect_complete("device.N", device_options());
  expect_complete("tenant", tenant_options());
  expect_complete("class", class_options());
  expect_complete("match", match_options());
}

}  // namespace
}  // namespace fairgv::daemon
