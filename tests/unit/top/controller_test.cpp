// The effect of keys and of the daemon's answers on the screen of `fairgv top`.
#include <gtest/gtest.h>

#include "sched/policies/registry.hpp"
#include "tests/unit/top/report.hpp"
#include "tools/fairgv/top/controller.hpp"

namespace fairgv::tools::top {
namespace {

using std::chrono::milliseconds;

struct TopKeys : ::testing::Test {
  TopKeys() { controller.arrived(top_report()); }

  Step type(const std::string& text) {
    Step step;
    for (const char character : text) step = controller.press({Key::Kind::character, character});
    return step;
  }
  Step press(Key::Kind kind) { return controller.press({kind}); }
  const Screen& screen() const { return controller.screen(); }

  Controller controller{{}, {}, milliseconds(1000)};
};

TEST_F(TopKeys, ChooseATenantAndStopAtTheEnds) {
  EXPECT_EQ(screen().chosen, (RowId{0, "alice"}));
  press(Key::Kind::up);
  EXPECT_EQ(screen().chosen, (RowId{0, "alice"}));
  press(Key::Kind::down);
  EXPECT_EQ(screen().chosen, (RowId{0, "bob"}));
  type("jjj");
  EXPECT_EQ(screen().chosen, (RowId{0, "carol"}));
  press(Key::Kind::page_up);
  EXPECT_EQ(screen().chosen, (RowId{0, "alice"}));
}

TEST_F(TopKeys, FollowTheChosenTenantWhereverItStands) {
  press(Key::Kind::down);
  control::Report report = top_report();
  report.tenants[1].share = {0.9};
  controller.arrived(report);
  EXPECT_EQ(screen().view->devices[0].rows[0].tenant, "bob");
  EXPECT_EQ(screen().chosen, (RowId{0, "bob"}));
  report.tenants.erase(report.tenants.begin() + 1);
  controller.arrived(report);
  EXPECT_EQ(screen().chosen, (RowId{0, "alice"}));
}

TEST_F(TopKeys, ChangeAWeightAfterYes) {
  press(Key::Kind::down);
  type("w7");
  EXPECT_EQ(screen().mode, Mode::prompt);
  EXPECT_FALSE(press(Key::Kind::enter).change);
  EXPECT_EQ(screen().mode, Mode::confirm);
  const Step step = type("y");
  ASSERT_TRUE(step.change);
  EXPECT_EQ(to_text(step.change->request), R"({"command":"set","tenant":"bob","weight":7})");
  controller.answered(*step.change, {});
  EXPECT_EQ(screen().message, "bob: weight 7");
  EXPECT_FALSE(screen().message_warns);
}

TEST(Changes, OfATenantAreOneRequest) {
  const auto change = tenant_change("bob", {.weight = {"7", "w"},
                                            .min = {"20%", "min"},
                                            .max = {"50%", "max"},
                                            .service = {"latency:5ms", "class"},
                                            .memory = {"1GiB", "mem"}});
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(to_text(change->request),
            R"({"command":"set","max":"50%","memory":"1GiB","min":"20%","service":"latency:5ms",)"
            R"("tenant":"bob","weight":7})");
  EXPECT_EQ(change->done, "bob: weight 7, min 20%, max 50%, class latency:5ms, memory 1GiB");
  const auto wrong = tenant_change("bob", {.weight = {"7", "w"}, .min = {"200%", "--min"}});
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().message.starts_with("--min is '200%'")) << wrong.error().message;
}

TEST_F(TopKeys, ChangeAQuota) {
  type("m512MiB");
  press(Key::Kind::enter);
  const Step step = type("y");
  ASSERT_TRUE(step.change);
  EXPECT_EQ(to_text(step.change->request), R"({"command":"set","memory":"512MiB","tenant":"alice"})");
}

TEST_F(TopKeys, ChangeAPolicyFromTheListThatThereIs) {
  type("o");
  EXPECT_EQ(screen().typed, "fair");
  press(Key::Kind::down);
  EXPECT_EQ(screen().typed, "fifo");
  press(Key::Kind::up);
  press(Key::Kind::up);
  const std::string last(sched::all_policies().back().name);
  EXPECT_EQ(screen().typed, last);
  press(Key::Kind::enter);
  const Step step = type("y");
  ASSERT_TRUE(step.change);
  EXPECT_EQ(to_text(step.change->request), R"({"command":"policy","device":0,"policy":")" + last + R"("})");
}

TEST_F(TopKeys, EndAllSessionsOfATenantAfterYes) {
  type("jx");
  EXPECT_EQ(screen().mode, Mode::confirm);
  EXPECT_EQ(screen().question, "end all sessions of bob? y or n");
  const Step step = type("y");
  ASSERT_TRUE(step.change);
  EXPECT_EQ(to_text(step.change->request), R"({"command":"kill","tenant":"bob"})");
  type("x");
  EXPECT_FALSE(type("n").change);
}

TEST_F(TopKeys, PauseATenantAndLetItGoOn) {
  type("z");
  EXPECT_EQ(screen().question, "pause alice? y or n");
  Step step = type("y");
  ASSERT_TRUE(step.change);
  EXPECT_EQ(to_text(step.change->request), R"({"command":"pause","tenant":"alice"})");
  control::Report report = top_report();
  report.tenants[0].paused = control::Pause{1000, false};
  controller.arrived(report);
  EXPECT_TRUE(screen().view->devices[0].rows[0].paused);
  EXPECT_EQ(screen().view->devices[0].rows[0].paused_sessions, 1u);
  type("d");
  EXPECT_NE(screen().details[1].find("paused by user 1000"), std::string::npos);
  type("z");
  EXPECT_EQ(screen().question, "resume alice? y or n");
  step = type("y");
  ASSERT_TRUE(step.change);
  EXPECT_EQ(to_text(step.change->request), R"({"command":"resume","tenant":"alice"})");
}

TEST_F(TopKeys, ChangeNothingWhereNobodyIs) {
  control::Report report = top_report();
  report.tenants.clear();
  controller.arrived(report);
  for (const char* key : {"x", "z"}) {
    type(key);
    EXPECT_EQ(screen().mode, Mode::table);
    EXPECT_TRUE(screen().message_warns);
  }
}

TEST_F(TopKeys, ChangeNothingWithoutYes) {
  for (const char* answer : {"n", "q", " "}) {
    type("w7");
    press(Key::Kind::enter);
    const Step step = type(answer);
    EXPECT_FALSE(step.change || step.quit);
    EXPECT_EQ(screen().message, "nothing was changed");
    EXPECT_EQ(screen().mode, Mode::table);
  }
  type("w7");
  press(Key::Kind::escape);
  EXPECT_EQ(screen().mode, Mode::table);
  EXPECT_FALSE(type("y").change);
}

TEST_F(TopKeys, AskTheTenantThatWasChosenWhenThePromptBegan) {
  type("w7");
  control::Report report = top_report();
  report.tenants.erase(report.tenants.begin());  // alice has gone meanwhile
  controller.arrived(report);
  press(Key::Kind::enter);
  const Step step = type("y");
  ASSERT_TRUE(step.change);
  EXPECT_EQ(step.change->request.tenant, "alice");
}

TEST_F(TopKeys, RefuseWhatIsNoWeightQuotaOrPolicyBeforeAskingTheDaemon) {
  for (const char* typed : {"w0", "wmuch", "w10001", "m12XB", "m101%", "oo"}) {
    type(typed);
    press(Key::Kind::enter);
    EXPECT_EQ(screen().mode, Mode::table) << typed;
    EXPECT_TRUE(screen().message_warns) << typed;
  }
}

TEST_F(TopKeys, ShowWhatTheDaemonRefuses) {
  type("w7");
  press(Key::Kind::enter);
  const Step step = type("y");
  controller.answered(*step.change, Error{"only root may"});
  EXPECT_EQ(screen().message, "refused: only root may");
  EXPECT_TRUE(screen().message_warns);
}

TEST_F(TopKeys, TakeBackWhatWasTyped) {
  type("w75");
  press(Key::Kind::erase);
  press(Key::Kind::erase);
  press(Key::Kind::erase);
  type("q");
  EXPECT_EQ(screen().typed, "q");
}

TEST_F(TopKeys, PauseKeepsWhatIsShownUntilItEnds) {
  type("p");
  EXPECT_TRUE(controller.paused());
  control::Report report = top_report();
  report.tenants.pop_back();
  controller.arrived(report);
  EXPECT_EQ(screen().view->tenants, 3u);
  EXPECT_TRUE(type("p").look);
  controller.arrived(report);
  EXPECT_EQ(screen().view->tenants, 2u);
}

TEST_F(TopKeys, SortRoundThroughAllColumns) {
  const SortKey first = screen().order.key;
  for (int i = 0; i <= static_cast<int>(kLastSortKey); ++i) type("s");
  EXPECT_EQ(screen().order.key, first);
  type("sS");
  EXPECT_EQ(screen().order.key, first);
  type("r");
  EXPECT_EQ(screen().view->devices[0].rows[0].tenant, "carol");
}

TEST_F(TopKeys, LookMoreAndLessOftenWithinBounds) {
  EXPECT_TRUE(type("+").look);
  EXPECT_EQ(controller.interval(), milliseconds(500));
  type("++++++++++");
  EXPECT_EQ(controller.interval(), milliseconds(250));
  type("--");
  EXPECT_EQ(controller.interval(), milliseconds(1000));
  type("--------------");
  EXPECT_EQ(controller.interval(), milliseconds(60000));
}

TEST_F(TopKeys, LookMoreOftenFromAnIntervalThatIsNoneOfTheList) {
  Controller odd({}, {}, milliseconds(1500));
  odd.press({Key::Kind::character, '+'});
  EXPECT_EQ(odd.interval(), milliseconds(1000));
  Controller slow({}, {}, milliseconds(1500));
  slow.press({Key::Kind::character, '-'});
  EXPECT_EQ(slow.interval(), milliseconds(2000));
}

TEST_F(TopKeys, ShowSessionsAndLongKernelsOfTheChosenTenantOnly) {
  control::Report report = top_report();
  report.tenants[0].sessions[0].long_commands = {
      {0, "reduce", "it uses pipes", 3, 4'210'000'000, 5'000'000'000}};
  controller.arrived(report);
  EXPECT_TRUE(screen().details.empty());
  type("d");
  ASSERT_EQ(screen().details.size(), 3u);
  EXPECT_NE(screen().details[1].find("pid 103"), std::string::npos);
  EXPECT_NE(screen().details[2].find("reduce"), std::string::npos);
  press(Key::Kind::down);
  EXPECT_EQ(screen().details.size(), 2u);
}

TEST_F(TopKeys, QuitFromTableAndHelp) {
  EXPECT_TRUE(type("q").quit);
  type("h");
  EXPECT_EQ(screen().mode, Mode::help);
  EXPECT_TRUE(type("q").quit);
}

TEST_F(TopKeys, SayThatAKeyDoesNothing) {
  type("Z");
  EXPECT_NE(screen().message.find("h shows the keys"), std::string::npos);
}

TEST_F(TopKeys, DoNoHarmBeforeAnythingIsKnown) {
  Controller empty({}, {}, milliseconds(1000));
  for (int code = ' '; code <= '~'; ++code) {
    EXPECT_FALSE(empty.press({Key::Kind::character, static_cast<char>(code)}).change);
    empty.press({Key::Kind::escape});
    empty.press({Key::Kind::down});
    empty.press({Key::Kind::enter});
  }
}

TEST_F(TopKeys, ForgetEverythingOfADaemonThatIsGone) {
  type("dp");
  controller.lost("it is gone");
  EXPECT_FALSE(screen().view);
  EXPECT_TRUE(screen().details.empty());
  EXPECT_EQ(screen().trouble, "it is gone");
  controller.arrived(top_report());
  EXPECT_TRUE(screen().view);
  EXPECT_TRUE(screen().trouble.empty());
}

}  // namespace
}  // namespace fairgv::tools::top
