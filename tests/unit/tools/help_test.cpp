// Every command explains itself, refuses unknown words with one line, and is in the manual with all its
// options. The commands are those that --help lists, so that a new command is tested as soon as it exists.
#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/unit/tools/shell.hpp"

namespace fairgv::tools {
namespace {

std::string manual() {
  std::ostringstream text;
  text << std::ifstream(FAIRGV_SOURCE_DIR "/docs/man/fairgv.1.md").rdbuf();
  return text.str();
}

/// Long options that a text names.
std::set<std::string> options_in(const std::string& text) {
  std::set<std::string> names;
  const std::regex option("(?:^|[\\s,|\\[(])(--[a-z][a-z-]+)");
  for (std::sregex_iterator each(text.begin(), text.end(), option), end; each != end; ++each) {
    names.insert((*each)[1]);
  }
  return names;
}

/// The options that --help lists: lines that begin with a dash.
std::set<std::string> listed_options(const Shown& help) {
  std::set<std::string> names;
  for (const std::string& line : help.lines) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos || line[first] != '-') continue;
    const auto found = options_in(line.substr(0, line.find("  ", first)));
    names.insert(found.begin(), found.end());
  }
  return names;
}

/// The names of the commands under "Subcommands:".
std::vector<std::string> subcommands(const Shown& help) {
  std::vector<std::string> names;
  bool there = false;
  for (const std::string& line : help.lines) {
    if (line.starts_with("Subcommands:")) {
      there = true;
    } else if (there && line.size() > 2 && line.starts_with("  ") && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    } else if (!line.starts_with(" ")) {
      there = false;
    }
  }
  return names;
}

/// "fairgv", "fairgv run", "fairgv config", "fairgv config check", ...
std::vector<std::string> all_commands(const std::string& from = "fairgv") {
  std::vector<std::string> commands{from};
  for (const std::string& name : subcommands(in_shell(from + " --help"))) {
    const auto below = all_commands(from + " " + name);
    commands.insert(commands.end(), below.begin(), below.end());
  }
  return commands;
}

TEST(Help, ThereAreCommands) {
  const auto commands = all_commands();
  const std::set<std::string> found(commands.begin(), commands.end());
  for (const char* name : {"fairgv run", "fairgv ps", "fairgv config check", "fairgv reload", "fairgv whoami",
                           "fairgv kill", "fairgv pause", "fairgv resume"}) {
    EXPECT_TRUE(found.contains(name)) << name;
  }
}

TEST(Help, OfEveryCommandEndsWithStatusZeroAndSaysWhatItIsFor) {
  for (const std::string& command : all_commands()) {
    const Shown help = in_shell(command + " --help");
    EXPECT_EQ(help.status, 0) << command;
    ASSERT_FALSE(help.lines.empty()) << command;
    EXPECT_FALSE(help.lines[0].empty()) << command;
    EXPECT_NE(help.text.find("Usage: " + command), std::string::npos) << command << "\n" << help.text;
    EXPECT_TRUE(listed_options(help).contains("--help")) << command;
  }
}

TEST(Help, AnUnknownOptionIsNamedInOneLineAndStatusTwo) {
  std::vector<std::string> commands = all_commands();
  commands.insert(commands.end(), {"fairgv", "fairgvd", "fairgv config check", "fairgv sim"});
  for (const std::string& command : commands) {
    const Shown refused = in_shell(command + " --no-such-option");
    EXPECT_EQ(refused.status, 2) << command;
    ASSERT_EQ(refused.lines.size(), 1u) << command << "\n" << refused.text;
    EXPECT_NE(refused.text.find("--no-such-option"), std::string::npos) << refused.text;
    EXPECT_NE(refused.text.find("--help"), std::string::npos) << "where to read on: " << refused.text;
  }
}

TEST(Help, AnUnknownCommandIsOneLineAndStatusTwo) {
  for (const char* command :
       {"fairgv nothing", "fairgv config nothing", "fairgv config", "fairgvd nothing"}) {
    const Shown refused = in_shell(command);
    EXPECT_EQ(refused.status, 2) << command;
    EXPECT_EQ(refused.lines.size(), 1u) << command << "\n" << refused.text;
  }
}

TEST(Help, IsAlsoACommand) {
  for (const std::string& command : all_commands()) {
    if (command == "fairgv" || command == "fairgv help") continue;
    const std::string words = command.substr(7);
    const Shown help = in_shell("fairgv help " + words);
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_EQ(help.text, in_shell(command + " --help").text);
  }
  EXPECT_EQ(in_shell("fairgv help").text, in_shell("fairgv --help").text);
  const Shown unknown = in_shell("fairgv help pss");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.text.find("did you mean 'ps'?"), std::string::npos) << unknown.text;
}

/// A wrong command line, and the text of its one line.
struct Misuse {
  const char* command;
  const char* says;
};

TEST(Help, GuessesWhatWasMeant) {
  const Misuse misuses[] = {
      {"fairgv tpo", "did you mean 'top'?"},
      {"fairgv config chekc", "did you mean 'check'?"},
      {"fairgv run --wieght 3 -- true",
       "unknown option '--wieght': did you mean '--weight'? see fairgv run --help"},
      {"fairgv ps --jsn", "unknown option '--jsn': did you mean '--json'? see fairgv ps --help"},
      {"fairgv ps --sort mem", "there is no column 'mem': did you mean 'memory'?"},
      {"fairgv ps --format tenant,usr", "there is no column 'usr': did you mean 'user'?"},
      {"fairgv set --policy fiar", "--policy is 'fiar': did you mean 'fair'? there are "},
      {"fairgv set alice wieght=4", "'wieght=4' is no setting: did you mean 'weight'?"},
      {"fairgvd --daemonise", "unknown option '--daemonise': did you mean '--daemonize'? see fairgvd --help"},
      {"fairgvd --log-level warn", "did you mean 'warning'? there are"},
  };
  for (const Misuse& misuse : misuses) {
    const Shown refused = in_shell(misuse.command);
    EXPECT_EQ(refused.status, 2) << misuse.command;
    ASSERT_EQ(refused.lines.size(), 1u) << misuse.command << "\n" << refused.text;
    EXPECT_NE(refused.text.find(misuse.says), std::string::npos) << misuse.command << "\n" << refused.text;
  }
}

TEST(Help, SaysInItsOwnWordsWhatIsWrong) {
  const Misuse misuses[] = {
      {"fairgv run --weight", "--weight needs a value: W; see fairgv run --help"},
      {"fairgv run --mem 0 -- true", "--mem is '0', and without memory a program gets no buffer: name more"},
      {"fairgv run --mem 0% -- true", "--mem is '0%', and without memory"},
      {"fairgv env --mem 0", "without memory a program gets no buffer"},
      {"fairgv set --policy fair --device 99", "--device is '99': it must be a number, 0 to 62"},
      {"fairgv run --min 0.01% -- true", "--min is '0.01%': a guarantee is a part of the device"},
      {"fairgv run --max 120% -- true", "--max is '120%': a ceiling is a part of the device"},
      {"fairgv env --class batsh", "--class is 'batsh': did you mean 'batch'?"},
      {"fairgv set alice min=5ms/2s", "--min is '5ms/2s': a guarantee is a part of the device"},
      {"fairgv set alice --max 0%", "--max is '0%': a ceiling"},
      {"fairgv set alice class=batch --class normal", "class is there twice"},
      {"fairgv set alice --weight 3 --class latency:2s", "--class is 'latency:2s'"},
      {"fairgv set --device 0", "--device needs --policy"},
      {"fairgv set alice", "say what to change: fairgv set TENANT --weight W"},
      {"fairgv set weight=4", "'weight=4' is no tenant: fairgv set TENANT --weight W"},
      {"fairgv set alice weight=4 --weight 5", "weight is there twice"},
      {"fairgv set alice --weight 4 --policy fair", "a policy is a device's, not a tenant's"},
      {"fairgv config", "name a command: check, show; see fairgv config --help"},
      {"fairgv trace", "--output is missing; see fairgv trace --help"},
      {"fairgv whoami alice", "'alice' is one word too many; see fairgv whoami --help"},
      {"fairgv config show --defaults --running", "use either"},
  };
  for (const Misuse& misuse : misuses) {
    const Shown refused = in_shell(misuse.command);
    EXPECT_EQ(refused.status, 2) << misuse.command;
    ASSERT_EQ(refused.lines.size(), 1u) << misuse.command << "\n" << refused.text;
    EXPECT_NE(refused.text.find(misuse.says), std::string::npos) << misuse.command << "\n" << refused.text;
  }
}

TEST(Help, ACommandThatCannotReachTheDaemonEndsWithStatusOneAndOneLine) {
  for (const char* command : {"fairgv ps", "fairgv set alice weight=2", "fairgv stop", "fairgv restart",
                              "fairgv set alice --weight 2 --mem 1GiB", "fairgv reload", "fairgv whoami",
                              "fairgv config show --running"}) {
    const Shown failed = in_shell(command);
    EXPECT_EQ(failed.status, 1) << command;
    EXPECT_EQ(failed.lines.size(), 1u) << command << "\n" << failed.text;
    EXPECT_NE(failed.text.find("/nonexistent/fairgvd.sock"), std::string::npos) << failed.text;
  }
}

/// The lines of the manual's synopsis about the command, with their continuation lines.
std::string synopsis_of(const std::string& command, const std::string& page) {
  std::istringstream lines(
      page.substr(page.find("## Synopsis"), page.find("## Commands") - page.find("## Synopsis")));
  std::string found;
  bool ours = false;
  for (std::string line; std::getline(lines, line);) {
    const auto text = line.find_first_not_of(' ');
    if (text == 4) ours = line.substr(4).starts_with(command + " ") || line.substr(4) == command;
    if (ours && text != std::string::npos) found += line + '\n';
  }
  return found;
}

TEST(Help, TheManualsSynopsisHasExactlyTheOptionsThatHelpLists) {
  const std::string page = manual();
  for (const std::string& command : all_commands()) {
    const Shown help = in_shell(command + " --help");
    if (!subcommands(help).empty()) continue;
    auto listed = listed_options(help);
    listed.erase("--help");
    EXPECT_EQ(options_in(synopsis_of(command, page)), listed) << command;
    EXPECT_FALSE(synopsis_of(command, page).empty()) << command;
  }
}

TEST(Help, TheManualDescribesEveryCommand) {
  const std::string page = manual();
  const auto commands = all_commands();
  for (const std::string& command : commands) {
    const auto is_of_it = [&](const std::string& other) { return other.starts_with(command + " "); };
    if (std::any_of(commands.begin(), commands.end(), is_of_it)) continue;
    EXPECT_NE(page.find("**" + command.substr(7) + "**"), std::string::npos) << command;
  }
}

TEST(Help, TheDaemonsManualHasExactlyTheOptionsThatItsHelpLists) {
  std::ostringstream text;
  text << std::ifstream(FAIRGV_SOURCE_DIR "/docs/man/fairgvd.8.md").rdbuf();
  const std::string page = text.str();
  auto listed = listed_options(in_shell("fairgvd --help"));
  listed.erase("--help");
  const auto begin = page.find("## Synopsis");
  EXPECT_EQ(options_in(page.substr(begin, page.find("## Description") - begin)), listed);
}

}  // namespace
}  // namespace fairgv::tools
