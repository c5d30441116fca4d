// `fairgv top` in a real terminal (tmux), with a real daemon and real tenants.
#include <filesystem>
#include <sstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// A terminal of a tmux server of its own, in which one shell command runs.
class TmuxTerminal {
 public:
  TmuxTerminal() = default;
  ~TmuxTerminal() { tmux({"kill-server"}); }
  TmuxTerminal(const TmuxTerminal&) = delete;

  const std::filesystem::path& folder() const { return folder_.path(); }

  void run(const std::string& shell_command) {
    // `exec`: the shell may have a trap for the signal by which it is to end with its terminal.
    tmux({"-f", "/dev/null", "-u", "new-session", "-d", "-x", "80", "-y", "24",
          shell_command + "; exec sleep 100"});
  }
  void keys(std::vector<std::string> keys) {
    keys.insert(keys.begin(), "send-keys");
    tmux(keys);
  }
  void resize(int columns, int rows) {
    tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});
  }
  /// The text on the screen; `escapes`: with colours.
  std::string text(bool escapes = false) {
    return escapes ? tmux({"capture-pane", "-p", "-e"}) : tmux({"capture-pane", "-p"});
  }
  bool shows(const std::string& part) {
    const bool seen = eventually([&] { return text().find(part) != std::string::npos; });
    EXPECT_TRUE(seen) << "'" << part << "' is not in\n" << text();
    return seen;
  }
  bool cursor_is_visible() { return tmux({"display-message", "-p", "#{cursor_flag}"}) == "1\n"; }

 private:
  std::string tmux(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"tmux", "-S", folder_ / "tmux"});
    const auto finished = harness::run({std::move(arguments), {{"TMUX", std::nullopt}}});
    std::string text;
    if (finished) {
      for (const std::string& line : finished->lines) text += line + '\n';
    }
    return text;
  }

  harness::TemporaryFolder folder_;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Top : System {
  std::string command(const std::string& environment = "LC_ALL=C.UTF-8", const std::string& options = "") {
    return environment + " " + harness::beside("fairgv") + " top --interval 0.2 " + options + " --socket " +
           tenancy->socket();
  }

  TmuxTerminal terminal;
};

TEST_F(Top, ShowsBothTenantsAndChangesAWeightByKeys) {
  auto alice = start_long_program("alice", 3);
  auto bob = start_long_program("bob", 1);
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  terminal.run(command("LC_ALL=C.UTF-8", "--sort tenant"));
  ASSERT_TRUE(terminal.shows(">alice") && terminal.shows(" bob") && terminal.shows("75.0%"));
  terminal.keys({"j", "w", "5", "Enter"});
  ASSERT_TRUE(terminal.shows("set bob: weight 5? y or n"));
  EXPECT_EQ(tenant("bob")["weight"], 1);
  terminal.keys({"y"});
  EXPECT_TRUE(eventually([&] { return tenant("bob")["weight"] == 5; }));
  EXPECT_TRUE(terminal.shows("bob: weight 5") && terminal.shows("62.5%"));
  EXPECT_EQ(tenant("alice")["weight"], 3);

  terminal.keys({"m", "64MiB", "Enter", "y"});
  EXPECT_TRUE(eventually([&] { return tenant("bob")["memory_limit"][0] == 64 * kMiB; }));
  terminal.keys({"o", "Down", "Enter", "y"});
  EXPECT_TRUE(eventually([&] { return ps()["devices"][0]["policy"] == "fifo"; }));

  terminal.resize(30, 6);
  EXPECT_TRUE(terminal.shows("needs 40 x 8"));
  terminal.resize(140, 12);
  EXPECT_TRUE(terminal.shows("launches") && terminal.shows(">bob"));

  const auto once = fairgv({"top", "--once", "--json", "--tenant", "bob", "--device", "0"});
  std::string text;
  for (const std::string& line : once.lines) text += line;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(json.is_object()) << text;
  ASSERT_EQ(json["devices"][0]["tenants"].size(), 1u);
  EXPECT_EQ(json["devices"][0]["tenants"][0]["weight"], 5);
  EXPECT_EQ(fairgv({"top", "--once", "--tenant", "dora"}).status, 1);
  EXPECT_EQ(fairgv({"top", "--once", "--sort", "beauty"}).status, 2);
}

TEST_F(Top, WaitsForADaemonThatIsGoneAndFindsTheNextOne) {
  terminal.run(command());
  ASSERT_TRUE(terminal.shows("0 tenants"));
  ASSERT_EQ(fairgv({"stop"}).status, 0);
  ASSERT_TRUE(terminal.shows("no FairGV daemon answers") && terminal.shows("Trying again"));
  auto daemon = harness::Child::start({{harness::beside("fairgvd"), "--socket", tenancy->socket()}, {}});
  ASSERT_TRUE(daemon);
  EXPECT_TRUE(terminal.shows("0 tenants"));
  terminal.keys({"q"});
  ASSERT_EQ(fairgv({"stop"}).status, 0);
}

/// The way in which it ends: a key, or a signal.
struct TopEnds : Top, ::testing::WithParamInterface<const char*> {};

TEST_P(TopEnds, AndLeavesTheTerminalAsItWas) {
  const std::string way = GetParam();
  const std::string before = terminal.folder() / "before";
  const std::string after = terminal.folder() / "after";
  const std::string pid = terminal.folder() / "pid";
  // The shell waits in a trap, so that an interrupt from the keyboard ends `fairgv top` only.
  terminal.run("trap : INT HUP; echo here was a shell; stty -a > " + before + "; sh -c 'echo $$ > " + pid +
               "; exec env " + command() + "'; echo status $?; stty -a > " + after);
  ASSERT_TRUE(terminal.shows("0 tenants"));
  if (way == "q" || way == "C-c") {
    terminal.keys({way});
  } else {
    const int number = way == "TERM" ? SIGTERM : SIGHUP;
    ASSERT_EQ(::kill(std::stoi(contents(pid)), number), 0);
  }
  ASSERT_TRUE(terminal.shows("status 0") && terminal.shows("here was a shell"));
  EXPECT_TRUE(eventually([&] { return contents(after) == contents(before); }));
  EXPECT_FALSE(contents(before).empty());
  EXPECT_TRUE(terminal.cursor_is_visible());
}

INSTANTIATE_TEST_SUITE_P(By, TopEnds, ::testing::Values("q", "C-c", "TERM", "HUP"), [](const auto& test) {
  return std::string(test.param == std::string("C-c") ? "Interrupt" : test.param);
});

TEST_F(Top, DrawsOnTheTerminalsThatPeopleHaveAndRefusesDumbOnes) {
  const std::string bin = harness::beside("fairgv");
  for (const std::string environment : {"TERM=xterm-256color LC_ALL=C.UTF-8", "TERM=screen LC_ALL=C",
                                        "TERM=linux LC_ALL=C.UTF-8", "TERM=vt100 LC_ALL=C"}) {
    SCOPED_TRACE(environment);
    TmuxTerminal other;
    other.run(command(environment));
    EXPECT_TRUE(other.shows("0 tenants") && other.shows("q quit"));
    other.keys({"h"});
    EXPECT_TRUE(other.shows("draw everything anew"));
  }
  for (const std::string term : {"dumb", "no-such-terminal", ""}) {
    SCOPED_TRACE(term);
    TmuxTerminal other;
    other.run(command("TERM=" + term) + "; echo status $?");
    EXPECT_TRUE(other.shows("status 1") && other.shows("fairgv top: the terminal '" + term));
  }
}

TEST_F(Top, HasColoursUnlessTheEnvironmentWantsNone) {
  terminal.run(command("TERM=xterm-256color"));
  ASSERT_TRUE(terminal.shows("0 tenants"));
  EXPECT_NE(terminal.text(true).find("\x1b[36m"), std::string::npos) << terminal.text(true);
  TmuxTerminal plain;
  plain.run(command("NO_COLOR=1 TERM=xterm-256color"));
  ASSERT_TRUE(plain.shows("0 tenants"));
  EXPECT_EQ(plain.text(true).find("\x1b[36m"), std::string::npos) << plain.text(true);
}

TEST_F(Top, NeedsATerminalUnlessItIsToLookOnce) {
  const auto refused = fairgv({"top"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(fairgv({"top", "--once"}).status, 0);
}

TEST_F(Top, ScreenshotsForTheDocumentationAreRemadeByOneCommand) {
  const std::string bin = std::filesystem::path(harness::beside("fairgv")).parent_path();
  const auto finished = harness::run(
      {{std::string(FAIRGV_SOURCE_DIR) + "/tools/screenshots", terminal.folder().string(), bin}, {}});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->status, 0);
  const std::string text = contents(terminal.folder() / "top.txt");
  for (const char* name : {"alice", "bob", "carol", "50.0%"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
}

}  // namespace
}  // namespace fairgv::integration
