// The completions work in real shells, and know the same options as the command lines.
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/unit/tools/shell.hpp"

namespace fairgv::tools {
namespace {

using Words = std::set<std::string>;

/// The words that bash offers for a command line; the cursor is behind its last character.
Words completed(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream split(line);
  for (std::string word; split >> word;) words.push_back(word);
  if (line.ends_with(' ')) words.emplace_back();
  std::string array;
  for (const std::string& word : words) array += " '" + word + "'";
  const Shown shown = in_shell("source <(fairgv --completion bash); COMP_WORDS=(" + array +
                                   "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                                   "; _fairgv; printf '%s\\n' \"${COMPREPLY[@]}\"",
                               "/bin/bash");
  EXPECT_EQ(shown.status, 0) << shown.text;
  Words found(shown.lines.begin(), shown.lines.end());
  found.erase("");
  return found;
}

bool has(const Words& words, const std::string& word) {
  return words.contains(word);
}

TEST(BashCompletion, CommandsAreOffered) {
  const Words words = completed("fairgv ");
  for (const char* word : {"run", "ps", "config", "whoami", "--help"}) EXPECT_TRUE(has(words, word)) << word;
  EXPECT_EQ(completed("fairgv who"), Words{"whoami"});
  EXPECT_EQ(completed("fairgv config ch"), Words{"check"});
  EXPECT_FALSE(has(words, "--completion")) << "it is hidden";
}

TEST(BashCompletion, OptionsOfACommandAreOfferedAndNoOthers) {
  const Words words = completed("fairgv ps --");
  EXPECT_EQ(words, (Words{"--format", "--help", "--json", "--socket", "--sort", "--watch"}));
  EXPECT_TRUE(has(completed("fairgv config show --"), "--defaults"));
  EXPECT_FALSE(has(completed("fairgv config show --"), "--watch"));
}

TEST(BashCompletion, ValuesAreOffered) {
  EXPECT_EQ(completed("fairgv set --policy fi"), Words{"fifo"});
  EXPECT_EQ(completed("fairgv set --policy = fi"), Words{"fifo"}) << "as bash splits --policy=fi";
  EXPECT_EQ(completed("fairgv ps --socket /usr/bin/en"), completed("fairgv config check /usr/bin/en"));
  EXPECT_TRUE(has(completed("fairgv ps --socket /usr/bin/en"), "/usr/bin/env"));
  EXPECT_EQ(completed("fairgv set alice we"), Words{"weight="});
  EXPECT_EQ(completed("fairgv set alice m"), (Words{"max=", "mem=", "min="}));
  EXPECT_EQ(completed("fairgv run --class "), (Words{"batch", "latency", "normal"}));
  EXPECT_EQ(completed("fairgv ps --socket = /usr/bin/env --js"), Words{"--json"}) << "goes on behind a value";
}

TEST(BashCompletion, BehindRunAProgramIsOffered) {
  EXPECT_TRUE(has(completed("fairgv run -- en"), "env"));
  EXPECT_TRUE(has(completed("fairgv run -- cat /usr/bin/en"), "/usr/bin/env"));
  EXPECT_FALSE(has(completed("fairgv run -- cat --"), "--tenant")) << "the options are the program's";
}

/// Everything that --help lists is completed.
TEST(BashCompletion, KnowsEveryOptionThatHelpLists) {
  for (const std::string command :
       {"fairgv run", "fairgv set", "fairgv sim", "fairgv doctor", "fairgv reload", "fairgv kill"}) {
    const Words words = completed(command + " --");
    for (const std::string& line : in_shell(command + " --help").lines) {
      const auto dashes = line.find("--");
      if (line.empty() || line[0] != ' ' || dashes == std::string::npos || dashes > 6) continue;
      const std::string option = line.substr(dashes, line.find_first_of(" ,=", dashes) - dashes);
      EXPECT_TRUE(has(words, option)) << command << " " << option;
    }
  }
}

TEST(BashCompletion, IsAScriptThatBashAccepts) {
  EXPECT_EQ(in_shell("fairgv --completion bash | bash -n", "/bin/bash").text, "");
  EXPECT_EQ(in_shell("fairgv --completion fish").status, 2);
}

constexpr const char* kZsh = "/usr/bin/zsh";

/// A zsh at a terminal of its own: types the line and a tab, waits for `expected`, and returns the output of
/// zsh.
Shown typed_in_zsh(const std::string& line, const std::string& expected) {
  const std::string script = R"ZSH(d=$(mktemp -d); mkdir $d/f; fairgv --completion zsh > $d/f/_fairgv
cat > $d/t.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=($1/f \$fpath); autoload -Uz compinit; compinit -u -d $1/dump; bindkey '^I' complete-word; print READY"
zpty -r z out '*READY*READY*'
out=''
zpty -n -w z "$2"$'\t'
for i in {1..100}; do zpty -r -t z more && out+=$more; [[ $out == *$3* ]] && break; sleep 0.1; done
print -r -- $out
zpty -d z
END
)ZSH";
  return in_shell(script + "zsh -f $d/t.zsh $d '" + line + "' '" + expected + "'; rm -r $d");
}

TEST(ZshCompletion, CompletesCommandsOptionsAndValues) {
  if (::access(kZsh, X_OK) != 0) GTEST_SKIP() << "no zsh here";
  const std::pair<const char*, const char*> lines[] = {
      {"fairgv who", "fairgv whoami"},
      {"fairgv config sh", "fairgv config show"},
      {"fairgv ps --wat", "fairgv ps --watch"},
      {"fairgv set --policy fif", "fairgv set --policy fifo"},
      {"fairgv run --class lat", "fairgv run --class latency"},
  };
  for (const auto& [line, expected] : lines) {
    const Shown shown = typed_in_zsh(line, expected);
    EXPECT_NE(shown.text.find(expected), std::string::npos) << line << "\n" << shown.text;
  }
}

}  // namespace
}  // namespace fairgv::tools
