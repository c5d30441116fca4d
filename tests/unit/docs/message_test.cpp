// People read docs/TROUBLESHOOTING.md to find the line that they see: its headings are the programs'
// messages.
#include <gtest/gtest.h>

#include "tests/unit/docs/tree.hpp"

namespace fairgv::docs {
namespace {

/// Joins literals as the compiler does: those with nothing but space between them.
std::string joined(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto next = text[at] == '"' ? text.find_first_not_of(" \n", at + 1) : std::string::npos;
    if (next != std::string::npos && next > at + 1 && text[next] == '"') {
      at = next;
    } else {
      result += text[at];
    }
  }
  return result;
}

/// All of the programs' own source.
std::string all_source() {
  std::string all;
  for (const char* room : {"icd", "runtime", "tools", "slicing", "memquota", "cuda-shim"}) {
    for (const auto& file : files_ending({".cpp", ".hpp"}, kRoot / room)) all += text_of(file);
  }
  return joined(all);
}

/// The fixed parts of a message, between the parts that vary, "…".
std::vector<std::string> fixed_parts(const std::string& message) {
  constexpr std::string_view kAnything = "…";
  constexpr const char* kSeams = " ':()";  // places where the program may have joined it
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= message.size();) {
    const auto end = std::min(message.find(kAnything, begin), message.size());
    const std::string part = message.substr(begin, end - begin);
    const auto first = part.find_first_not_of(kSeams);
    if (first != std::string::npos) {
      parts.push_back(part.substr(first, part.find_last_not_of(kSeams) + 1 - first));
    }
    begin = end + kAnything.size();
  }
  return parts;
}

TEST(Troubleshooting, QuotesWhatTheProgramsSay) {
  const std::string source = all_source();
  std::istringstream page(text_of(kRoot / "docs/TROUBLESHOOTING.md"));
  int messages = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("### `")) continue;
    ++messages;
    ASSERT_TRUE(line.ends_with("`")) << line;
    for (const std::string& part : fixed_parts(line.substr(5, line.size() - 6))) {
      EXPECT_NE(source.find(part), std::string::npos) << line << "\nno program says: " << part;
    }
  }
  EXPECT_GT(messages, 15);
}

TEST(Troubleshooting, LiteralsAreJoinedAsTheCompilerDoes) {
  EXPECT_EQ(joined("f(\"a \"\n    \"b\", \"c\")"), "f(\"a b\", \"c\")");
}

TEST(Troubleshooting, FixedPartsAreWhatStandsBetween) {
  EXPECT_EQ(fixed_parts("tenant '…' is … (names)"), (std::vector<std::string>{"tenant", "is", "names"}));
}

}  // namespace
}  // namespace fairgv::docs
