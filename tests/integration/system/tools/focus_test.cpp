// `fairgv focus` beside a real X server (Xvfb), a real daemon and real tenants. The test plays the window
// manager: it makes the windows, and says which of them is active.
#include <xcb/xcb.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// An X server of the test's own; -1: none could be started.
class XServer {
 public:
  XServer() {
    auto started = harness::Child::start(
        {{"Xvfb", "-displayfd", "1", "-screen", "0", "64x64x24", "-nolisten", "tcp", "-noreset"}, {}});
    if (!started) return;
    child_.emplace(std::move(started).value());
    eventually([&] {
      for (const std::string& line : child_->read_lines()) display_ = ":" + line;
      return !display_.empty() || child_->ended();
    });
  }
  /// Empty: it does not run.
  const std::string& display() const { return display_; }
  void end() { ::kill(child_->pid(), SIGKILL); }

 private:
  std::optional<harness::Child> child_;
  std::string display_;
};

struct Disconnect {
  void operator()(xcb_connection_t* connection) const { xcb_disconnect(connection); }
};
struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// The windows and their manager.
class Desktop {
 public:
  explicit Desktop(const std::string& display)
      : connection_(xcb_connect(display.c_str(), nullptr)),
        root_(xcb_setup_roots_iterator(xcb_get_setup(connection_.get())).data->root) {}

  bool is_connected() const { return xcb_connection_has_error(connection_.get()) == 0; }

  xcb_window_t open_window(pid_t process, const std::string& machine = {}) {
    const xcb_window_t window = xcb_generate_id(connection_.get());
    xcb_create_window(connection_.get(), XCB_COPY_FROM_PARENT, window, root_, 0, 0, 8, 8, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, 0, nullptr);
    set(window, "_NET_WM_PID", XCB_ATOM_CARDINAL, static_cast<std::uint32_t>(process));
    if (!machine.empty()) {
      xcb_change_property(connection_.get(), XCB_PROP_MODE_REPLACE, window, XCB_ATOM_WM_CLIENT_MACHINE,
                          XCB_ATOM_STRING, 8, static_cast<std::uint32_t>(machine.size()), machine.data());
    }
    return window;
  }
  void close_window(xcb_window_t window) {
    xcb_destroy_window(connection_.get(), window);
    xcb_flush(connection_.get());
  }
  /// The manager tells that this window is active; XCB_WINDOW_NONE: none is.
  void activate(xcb_window_t window) { set(root_, "_NET_ACTIVE_WINDOW", XCB_ATOM_WINDOW, window); }
  /// The manager tells what it supports.
  void support_active_window() { set(root_, "_NET_SUPPORTED", XCB_ATOM_ATOM, atom("_NET_ACTIVE_WINDOW")); }

 private:
  xcb_atom_t atom(std::string_view name) {
    const auto cookie =
        xcb_intern_atom(connection_.get(), 0, static_cast<std::uint16_t>(name.size()), name.data());
    const std::unique_ptr<xcb_intern_atom_reply_t, Free> reply(
        xcb_intern_atom_reply(connection_.get(), cookie, nullptr));
    return reply ? reply->atom : static_cast<xcb_atom_t>(XCB_ATOM_NONE);
  }
  void set(xcb_window_t window, std::string_view name, xcb_atom_t type, std::uint32_t value) {
    xcb_change_property(connection_.get(), XCB_PROP_MODE_REPLACE, window, atom(name), type, 32, 1, &value);
    xcb_flush(connection_.get());
  }

  const std::unique_ptr<xcb_connection_t, Disconnect> connection_;
  const xcb_window_t root_;
};

struct Focus : System {
  void SetUp() override {
    if (server.display().empty()) GTEST_SKIP() << "there is no Xvfb here";
    folder.write("tasks.spec", "a:HT:none:*:-:-\nb:HT:none:*:-:-\nfixed:PRT:none:60:-:-\n");
    start_daemon("policy = \"timegraph\"\n[timegraph]\nspec = \"" + (folder / "tasks.spec").string() +
                 "\"\n");
    desktop.emplace(server.display());
    ASSERT_TRUE(desktop->is_connected());
  }

  harness::CommandLine focus() {
    return {{"/bin/sh", "-c", "exec \"$0\" focus --socket \"$1\" 2>&1", harness::beside("fairgv"),
             tenancy->socket()},
            {{"DISPLAY", server.display()}}};
  }
  harness::Child start_focus() {
    auto started = harness::Child::start(focus());
    EXPECT_TRUE(started);
    return std::move(started).value();
  }
  bool in_front(const std::string& name) { return tenant(name)["timegraph"]["foreground"] == true; }
  bool only_in_front(const std::string& name) {
    return eventually([&] { return in_front("a") == (name == "a") && in_front("b") == (name == "b"); });
  }
  /// Whether the last line that the command prints becomes this one.
  static bool tells(harness::Child& command, const std::string& line) {
    std::string last;
    return eventually([&] {
      for (std::string& each : command.read_lines()) last = std::move(each);
      return last == line;
    });
  }
  pid_t program_of(const std::string& name) { return tenant(name)["sessions"][0]["pid"]; }
  std::uint64_t launches(const std::string& name) {
    const auto found = tenant(name);
    return found.contains("launches") ? found["launches"].get<std::uint64_t>() : 0;
  }
  harness::Child start_flood(const std::string& name) {
    auto child = harness::Child::start(tenancy->tenant(name, 1, {harness::beside("opencl_flood"), "sleeps"}));
    EXPECT_TRUE(child);
    return std::move(child).value();
  }

  XServer server;
  std::optional<Desktop> desktop;
  harness::TemporaryFolder folder;
};

TEST_F(Focus, TheTenantOfTheWindowInFrontHasPriorityUntilAnotherIs) {
  // Programs with hundreds of kernels in their queues: the one behind does not get the device because the
  // other lacks a processor.
  auto a = start_flood("a");
  auto b = start_flood("b");
  ASSERT_TRUE(eventually([&] { return launches("a") > 0 && launches("b") > 0; }));
  const auto window_a = desktop->open_window(program_of("a"));
  const auto window_b = desktop->open_window(program_of("b"));
  desktop->activate(window_a);
  auto command = start_focus();
  ASSERT_TRUE(only_in_front("a"));
  std::uint64_t in_front = 0, behind = 0;
  const auto look = [&](const std::string& name, const std::string& other) {
    const auto before = launches(name), other_before = launches(other);
    EXPECT_TRUE(eventually([&] { return launches(name) > before + 400; })) << name;
    in_front += launches(name) - before;
    behind += launches(other) - other_before;
  };
  for (int i = 0; i < 2; ++i) {
    desktop->activate(window_a);
    ASSERT_TRUE(only_in_front("a"));
    look("a", "b");
    desktop->activate(window_b);
    ASSERT_TRUE(only_in_front("b"));
    look("b", "a");
  }
  EXPECT_GT(in_front, 2 * behind) << in_front << " and " << behind;
  desktop->activate(XCB_WINDOW_NONE);
  EXPECT_TRUE(only_in_front("nobody"));
  desktop->activate(window_a);
  ASSERT_TRUE(only_in_front("a"));
  desktop->close_window(window_a);
  EXPECT_TRUE(only_in_front("nobody")) << "a window that is gone is not in front, whatever its manager says";

  desktop->activate(window_b);
  ASSERT_TRUE(only_in_front("b"));
  ::kill(command.pid(), SIGTERM);
  EXPECT_TRUE(only_in_front("nobody"));
  const auto finished = harness::finish(std::move(command));
  EXPECT_EQ(finished.status, 0) << joined(finished);
  EXPECT_EQ(finished.lines,
            (std::vector<std::string>{"in front: a", "in front: b", "in front: a", "in front: b",
                                      "in front: nobody", "in front: a", "in front: nobody", "in front: b",
                                      "in front: nobody"}));
}

TEST_F(Focus, ProgramsOfATerminalAreInFrontWithItAlsoThoseThatStartLater) {
  const std::string go = folder / "go";
  auto started = harness::Child::start(
      {{"/bin/sh", "-c", "until [ -e \"$0\" ]; do sleep 0.05; done; \"$@\" & wait", go,
        harness::beside("fairgv"), "run", "--socket", tenancy->socket(), "--tenant", "a", "--",
        workload("computeLoop"), "--seconds", "60", "--iterations", "200", "--progress-ms", "50"},
       {}});
  ASSERT_TRUE(started);
  auto terminal = std::move(started).value();
  auto b = start_long_program("b");
  ASSERT_TRUE(progresses(b));
  desktop->activate(desktop->open_window(terminal.pid()));
  auto command = start_focus();
  EXPECT_TRUE(tells(command, "in front: nobody"));
  folder.write("go", "");
  EXPECT_TRUE(tells(command, "in front: a"));
  EXPECT_TRUE(in_front("a"));
  EXPECT_FALSE(in_front("b"));
  ::kill(program_of("a"), SIGKILL);
  EXPECT_TRUE(tells(command, "in front: nobody"));
}

TEST_F(Focus, ItIsTakenBackHoweverTheCommandEnds) {
  auto a = start_long_program("a");
  ASSERT_TRUE(progresses(a));
  desktop->activate(desktop->open_window(program_of("a")));
  for (const int signal : {SIGINT, SIGKILL}) {
    auto command = start_focus();
    ASSERT_TRUE(eventually([&] { return in_front("a"); }));
    ::kill(command.pid(), signal);
    EXPECT_TRUE(eventually([&] { return !in_front("a"); })) << signal;
  }
  // A new daemon in the place of the old one is told anew; without a daemon the command ends.
  auto command = start_focus();
  ASSERT_TRUE(eventually([&] { return in_front("a"); }));
  ASSERT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_TRUE(eventually([&] { return in_front("a"); }));
  ASSERT_EQ(fairgv({"stop"}).status, 0);
  const auto finished = harness::finish(std::move(command));
  EXPECT_EQ(finished.status, 1) << joined(finished);
  EXPECT_EQ(finished.lines.size(), 2U) << joined(finished);
}

TEST_F(Focus, WindowsOfOtherMachinesAndOfOtherProgramsAreNobodys) {
  auto a = start_long_program("a");
  auto fixed = start_long_program("fixed");
  ASSERT_TRUE(progresses(a) && progresses(fixed));
  const pid_t process = program_of("a");
  const auto remote = desktop->open_window(process, "elsewhere.example");
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const auto local = desktop->open_window(process, host.data());
  desktop->activate(remote);
  auto command = start_focus();
  EXPECT_TRUE(tells(command, "in front: nobody"));
  EXPECT_FALSE(in_front("a"));
  desktop->activate(local);
  EXPECT_TRUE(tells(command, "in front: a"));
  desktop->activate(desktop->open_window(1));
  EXPECT_TRUE(tells(command, "in front: nobody"));
  desktop->activate(desktop->open_window(program_of("fixed")));
  EXPECT_TRUE(tells(command, "in front: fixed (its priority is fixed, 60)"));
}

TEST_F(Focus, MistakesAreOneLine) {
  const auto fails_with = [&](harness::CommandLine command, const std::string& text) {
    const auto finished = harness::run(command);
    ASSERT_TRUE(finished);
    EXPECT_EQ(finished->status, 1);
    ASSERT_EQ(finished->lines.size(), 1U) << joined(finished.value());
    EXPECT_EQ(finished->lines[0], "fairgv focus: " + text);
  };
  auto command = focus();
  fails_with(command, "the window manager of the X server '" + server.display() +
                          "' (DISPLAY) does not tell which window is in front: it needs one that sets "
                          "_NET_ACTIVE_WINDOW");
  command.environment = {{"DISPLAY", std::nullopt}};
  fails_with(command, "DISPLAY is not set: start this inside the X session whose windows it is to follow");
  command.environment = {{"DISPLAY", ":4711"}};
  fails_with(command, "cannot connect to the X server ':4711' (DISPLAY)");
  desktop->support_active_window();
  ASSERT_EQ(fairgv({"set", "--policy", "fair"}).status, 0);
  fails_with(focus(),
             "no device has the policy timegraph, which gives priority to the window in front: choose it by "
             "'fairgv set --policy timegraph'");
  ASSERT_EQ(fairgv({"set", "--policy", "timegraph"}).status, 0);
  auto follows = start_focus();
  std::vector<std::string> lines;
  ASSERT_TRUE(eventually([&] {
    for (std::string& each : follows.read_lines()) lines.push_back(std::move(each));
    return !lines.empty();
  }));
  EXPECT_EQ(lines, std::vector<std::string>{"in front: nobody"}) << "a manager that has not told any yet";
  server.end();
  const auto finished = harness::finish(std::move(follows));
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.lines, std::vector<std::string>{"fairgv focus: the X server is gone"});
}

}  // namespace
}  // namespace fairgv::integration
