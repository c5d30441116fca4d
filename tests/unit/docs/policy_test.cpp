// The pages that list the scheduling policies list those of the registry, and no others.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "sched/policies/registry.hpp"
#include "tests/unit/docs/tree.hpp"

namespace fairgv::docs {
namespace {

std::set<std::string> registered() {
  std::set<std::string> names;
  for (const sched::PolicyInfo& info : sched::all_policies()) names.emplace(info.name);
  return names;
}

/// The texts that the first group of `pattern` matches.
std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator each(text.begin(), text.end(), expression), end; each != end; ++each)
    found.insert((*each)[1]);
  return found;
}

/// The part from `begin` up to `end`; empty if the page has no such part.
std::string part_of(const char* page, const std::string& begin, const std::string& end) {
  const std::string text = text_of(kRoot / page);
  const std::size_t from = text.find(begin);
  return from == std::string::npos ? "" : text.substr(from, text.find(end, from + begin.size()) - from);
}

TEST(Policies, StandInTheTableOfThePageOnScheduling) {
  EXPECT_EQ(matches(part_of("docs/SCHEDULING.md", "## Policies", "\n\nIn a turn"), "\n\\| `([a-z-]+)` \\|"),
            registered());
}

TEST(Policies, StandOnThePageThatHelpsToChooseOne) {
  EXPECT_EQ(matches(part_of("docs/POLICIES.md", "| you want |", "\n\n"), "\\| `([a-z-]+)` \\|"),
            registered());
}

TEST(Policies, StandInTheManualOfTheSimulator) {
  auto named = matches(part_of("docs/man/fairgv.1.md", "- `--policy NAME`:", "\n- "), "`([a-z-]+)`");
  named.erase("all");
  EXPECT_EQ(named, registered());
}

}  // namespace
}  // namespace fairgv::docs
