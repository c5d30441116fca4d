// Links from one file of the project to another lead somewhere.
#include <gtest/gtest.h>

#include <cctype>
#include <optional>
#include <set>

#include "tests/unit/docs/tree.hpp"

namespace fairgv::docs {
namespace {

namespace fs = std::filesystem;

/// The lines of a page without its code: blocks between fences, and `spans`.
std::vector<std::string> prose_of(const std::string& page) {
  std::vector<std::string> lines;
  std::istringstream in(page);
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 3, "```") == 0) {
      fenced = !fenced;
      continue;
    }
    if (fenced) continue;
    std::string prose;
    bool code = false;
    for (const char letter : line) {
      if (letter == '`') code = !code;
      if (!code) prose += letter;
    }
    lines.push_back(prose);
  }
  return lines;
}

/// The targets of "](", in the order of the page.
std::vector<std::string> links_of(const std::string& page) {
  std::vector<std::string> links;
  for (const std::string& line : prose_of(page)) {
    for (std::size_t at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2)) {
      links.push_back(line.substr(at + 2, line.find(')', at) - at - 2));
    }
  }
  return links;
}

/// The names by which a heading can be linked to: small letters, digits, hyphens for spaces.
std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  std::istringstream in(page);
  bool fenced = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    if (fenced || !line.starts_with("#")) continue;
    std::string anchor;
    for (const char letter : line.substr(line.find_first_not_of("# "))) {
      const auto byte = static_cast<unsigned char>(letter);
      if (std::isalnum(byte) != 0 || byte >= 0x80 || letter == '-' || letter == '_') {
        anchor += static_cast<char>(std::tolower(byte));
      } else if (letter == ' ') {
        anchor += '-';
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

/// The fault of a link in `page`; nothing if the link leads outside of the project.
std::optional<std::string> wrong_with(const std::string& link, const fs::path& page) {
  if (link.find("://") != std::string::npos || link.starts_with("mailto:")) return std::nullopt;
  const auto hash = link.find('#');
  const std::string file = link.substr(0, hash);
  const fs::path target = file.empty() ? page : page.parent_path() / file;
  if (!fs::exists(target)) return "there is no such file";
  if (hash == std::string::npos) return std::nullopt;
  if (anchors_of(text_of(target)).contains(link.substr(hash + 1))) return std::nullopt;
  return "no heading of that page is called so";
}

TEST(Links, LeadToFilesAndHeadingsThatThereAre) {
  const auto pages = files_ending({".md"});
  std::size_t links = 0;
  for (const fs::path& page : pages) {
    for (const std::string& link : links_of(text_of(page))) {
      ++links;
      const auto wrong = wrong_with(link, page);
      EXPECT_FALSE(wrong) << fs::relative(page, kRoot) << ": (" << link << "): " << wrong.value_or("");
    }
  }
  EXPECT_GT(pages.size(), 15U);
  EXPECT_GT(links, 50U);
}

TEST(Links, AreFoundAndFoundWrong) {
  EXPECT_EQ(links_of("[a](b.md) and ![c](d.svg#e)\n```sh\n[f](g)\n```\n`[h](i)` [j](k)\n"),
            (std::vector<std::string>{"b.md", "d.svg#e", "k"}));
  const fs::path readme = kRoot / "README.md";
  EXPECT_TRUE(wrong_with("docs/NOTHING.md", readme));
  EXPECT_TRUE(wrong_with("#no-such-heading", readme));
  EXPECT_FALSE(wrong_with("docs", readme));
  EXPECT_FALSE(wrong_with("https://example.org/x", readme));
  EXPECT_EQ(anchors_of("# A page: `code`, and More\n"), (std::set<std::string>{"a-page-code-and-more"}));
}

/// Readers never find a page that no other page leads to.
TEST(Links, LeadFromTheReadmeToEveryPageOfDocs) {
  std::set<fs::path> reached;
  std::vector<fs::path> to_read{kRoot / "README.md"};
  while (!to_read.empty()) {
    const fs::path page = to_read.back();
    to_read.pop_back();
    if (!fs::exists(page) || !reached.insert(fs::canonical(page)).second) continue;
    for (const std::string& link : links_of(text_of(page))) {
      const fs::path target = page.parent_path() / link.substr(0, link.find('#'));
      if (target.extension() == ".md") to_read.push_back(target);
      if (fs::is_directory(target)) to_read.push_back(target / "README.md");
    }
  }
  for (const fs::path& page : files_ending({".md"}, kRoot / "docs")) {
    EXPECT_TRUE(reached.contains(fs::canonical(page))) << fs::relative(page, kRoot);
  }
}

}  // namespace
}  // namespace fairgv::docs
