// Guarantees, ceilings and classes of service of real programs: asked for, changed, shown, and refused.
#include <algorithm>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

constexpr const char* kTooMuch =
    "tenant 'bob' cannot have a guarantee of 40%: 35% is left of the 90% that may be promised "
    "(promise_limit)";

struct PromisesOfPrograms : System {
  void SetUp() override { start_daemon("slice_ms = 6\n[tenants]\nallow_min = \"100%\""); }

  /// The command's end, and all that it says on standard output and error.
  static harness::Finished heard(const harness::CommandLine& command) {
    harness::CommandLine shell{{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"}, command.environment};
    shell.arguments.insert(shell.arguments.end(), command.arguments.begin(), command.arguments.end());
    auto finished = harness::run(shell);
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  }
  harness::Finished set_alice(std::vector<std::string> settings) {
    settings.insert(settings.begin(),
                    {harness::beside("fairgv"), "set", "--socket", tenancy->socket(), "alice"});
    return heard({std::move(settings), {}});
  }

  /// `fairgv run` with these options.
  harness::CommandLine run_with(std::vector<std::string> options, std::vector<std::string> program) {
    std::vector<std::string> command{harness::beside("fairgv"), "run", "--socket", tenancy->socket()};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    command.insert(command.end(), program.begin(), program.end());
    return {std::move(command), {}};
  }
  /// alice's program, with half of the device guaranteed.
  harness::Child start_alice() {
    auto child = harness::Child::start(
        run_with({"--tenant", "alice", "--min", "50%", "--max", "80%"},
                 {workload("computeLoop"), "--seconds", "60", "--iterations", "200", "--progress-ms", "50"}));
    EXPECT_TRUE(child);
    EXPECT_TRUE(progresses(child.value()));
    return std::move(child).value();
  }
  /// The same with a CUDA program.
  harness::Finished run_bare_cuda_bob() {
    return heard({{harness::beside("cuda_late"), "1"},
                  {{"FAIRGV_SOCKET", tenancy->socket()}, {"FAIRGV_TENANT", "bob"}, {"FAIRGV_MIN", "40%"}}});
  }
  /// bob's program, which is a tenant without `fairgv run` and asks for too much.
  harness::Finished run_bare_bob() {
    return heard({{workload("matrixMul"), "--repetitions", "1"},
                  {{"OCL_ICD_VENDORS", FAIRGV_ICD},
                   {"FAIRGV_SOCKET", tenancy->socket()},
                   {"FAIRGV_TENANT", "bob"},
                   {"FAIRGV_MIN", "40%"}}});
  }
};

bool has_line(const harness::Finished& finished, const std::string& text) {
  return std::any_of(finished.lines.begin(), finished.lines.end(),
                     [&](const auto& line) { return line.find(text) != std::string::npos; });
}

TEST_F(PromisesOfPrograms, BeyondWhatIsLeftAreRefusedBeforeTheProgramStarts) {
  auto alice = start_alice();
  const auto refused = heard(run_with({"--tenant", "bob", "--min", "40%"}, {"echo", "started"}));
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.lines, std::vector<std::string>{"fairgv run: " + std::string(kTooMuch)});
  const auto fits = heard(run_with({"--tenant", "bob", "--min", "35%"}, {"echo", "started"}));
  EXPECT_EQ(fits.lines, std::vector<std::string>{"started"}) << joined(fits);

  const auto verbose = heard(run_with(
      {"--tenant", "bob", "--min", "5ms/50ms", "--max", "30%", "--class", "batch", "--verbose"}, {"true"}));
  EXPECT_TRUE(has_line(verbose, "tenant bob, weight 1, min 10%, max 30%, class batch, memory as"))
      << joined(verbose);
  EXPECT_TRUE(has_line(verbose, "FAIRGV_MIN=5ms/50ms")) << joined(verbose);
  const auto shell = fairgv({"env", "--min", "20%", "--max", "30%", "--class", "latency:5ms"});
  for (const char* line :
       {"export FAIRGV_MIN='20%'", "export FAIRGV_MAX='30%'", "export FAIRGV_CLASS='latency:5ms'"})
    EXPECT_TRUE(has_line(shell, line)) << line << " in\n" << joined(shell);

  // By the variables of the environment it is the same, and `whoami` says so.
  auto asks = run_with({"--tenant", "bob"}, {"echo", "started"});
  asks.environment.emplace_back("FAIRGV_MIN", "40%");
  EXPECT_EQ(heard(asks).status, 1);
  harness::CommandLine who{
      {harness::beside("fairgv"), "whoami", "--tenant", "bob", "--socket", tenancy->socket()},
      {{"FAIRGV_MIN", "40%"}}};
  const auto told = heard(who);
  EXPECT_EQ(told.status, 1);
  EXPECT_TRUE(has_line(told, std::string("refused        ") + kTooMuch)) << joined(told);
  EXPECT_FALSE(has_line(told, "min  ")) << joined(told);
  who.environment = {{"FAIRGV_MIN", "5ms/50ms"}, {"FAIRGV_MAX", "30%"}, {"FAIRGV_CLASS", "batch"}};
  const auto admitted = heard(who);
  EXPECT_EQ(admitted.status, 0) << joined(admitted);
  for (const char* line : {"min            10%", "max            30%", "service        batch"})
    EXPECT_TRUE(has_line(admitted, line)) << line << " in\n" << joined(admitted);
  EXPECT_TRUE(progresses(alice));
}

TEST_F(PromisesOfPrograms, BeyondWhatIsLeftAreOneLineAndAnErrorOfTheFirstCallWithoutRun) {
  auto alice = start_alice();
  const auto refused = run_bare_bob();
  EXPECT_NE(refused.status, 0);
  EXPECT_EQ(std::count_if(refused.lines.begin(), refused.lines.end(),
                          [](const auto& line) { return line.find(kTooMuch) != std::string::npos; }),
            1)
      << joined(refused);
  EXPECT_TRUE(tenant("bob").is_null());
  ::kill(alice.pid(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  const auto alone = run_bare_bob();
  EXPECT_EQ(alone.status, 0) << "nothing is promised to others any more\n" << joined(alone);
}

TEST_F(PromisesOfPrograms, BeyondWhatIsLeftAreOneLineAndAnErrorOfCudasFirstCallWithoutRun) {
  if (!FAIRGV_CUDA) GTEST_SKIP() << "FairGV was built without CUDA";
  auto alice = start_alice();
  const auto refused = run_bare_cuda_bob();
  EXPECT_NE(refused.status, 0);
  EXPECT_EQ(std::count_if(refused.lines.begin(), refused.lines.end(),
                          [](const auto& line) { return line.find(kTooMuch) != std::string::npos; }),
            1)
      << joined(refused);
  EXPECT_TRUE(has_line(refused, "cuInit: 100")) << "CUDA_ERROR_NO_DEVICE\n" << joined(refused);
  EXPECT_TRUE(tenant("bob").is_null());
  ::kill(alice.pid(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return sessions_of("alice") == 0; }));
  const auto alone = run_bare_cuda_bob();
  EXPECT_EQ(alone.status, 0) << "nothing is promised to others any more\n" << joined(alone);
}

TEST_F(PromisesOfPrograms, UnderAPolicyThatDoesNotKeepThemAreWarnedOfAndHoldAgainLater) {
  auto alice = start_alice();
  const auto policy = [this](const char* name) { return fairgv({"set", "--policy", name}); };
  const std::string warning = "policy round-robin does not keep what is promised to alice (min, max)";
  EXPECT_FALSE(has_line(fairgv({"ps"}), "does not keep"));
  EXPECT_TRUE(has_line(policy("round-robin"), "warning: " + warning + ": policy fair does"));
  EXPECT_TRUE(has_line(fairgv({"ps"}), warning)) << joined(fairgv({"ps"}));
  const auto set = set_alice({"min=none", "max=70%", "class=batch"});
  EXPECT_EQ(set.status, 0);
  EXPECT_TRUE(
      has_line(set, "warning: policy round-robin does not keep what is promised to alice (max, class)"))
      << joined(set);
  EXPECT_EQ(set_alice({"weight=3"}).lines.size(), 1U) << "nothing is promised by that";
  EXPECT_EQ(policy("fair").lines.size(), 1U);
  EXPECT_EQ(set_alice({"max=60%"}).lines.size(), 1U);
  EXPECT_FALSE(has_line(fairgv({"ps"}), "does not keep"));
}

TEST_F(PromisesOfPrograms, AreChangedTogetherOrNotAtAllAndShown) {
  auto alice = start_alice();
  EXPECT_EQ(tenant("alice")["min"], "50%");
  EXPECT_EQ(tenant("alice")["max_share"], 0.8);
  EXPECT_NEAR(ps()["daemon"]["promised_share"].get<double>(), 0.55, 1e-9);
  const auto refused = set_alice({"weight=7", "min=88%", "max=90%"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.lines.size(), 1u) << joined(refused);
  EXPECT_EQ(tenant("alice")["weight"], 1);
  EXPECT_EQ(tenant("alice")["max"], "80%");
  const auto changed = fairgv(
      {"set", "alice", "min=20%", "--max", "60%", "--class", "latency:5ms", "--mem", "50%", "weight=7"});
  EXPECT_EQ(changed.lines,
            std::vector<std::string>{"alice: weight 7, min 20%, max 60%, class latency:5ms, memory 50%"});
  const auto now = tenant("alice");
  EXPECT_EQ(now["weight"], 7);
  EXPECT_EQ(now["min"], "20%");
  EXPECT_EQ(now["max"], "60%");
  EXPECT_EQ(now["service"], "latency:5ms");
  EXPECT_TRUE(has_line(fairgv({"ps"}), "20% 60% latency:5ms")) << joined(fairgv({"ps"}));
  EXPECT_EQ(set_alice({"min=none", "max=100%", "class=normal"}).status, 0);
  EXPECT_FALSE(has_line(fairgv({"ps"}), " min ")) << joined(fairgv({"ps"}));
  EXPECT_TRUE(progresses(alice));
}

TEST_F(PromisesOfPrograms, ShowATenantThatItsCeilingHoldsBack) {
  auto alice = start_long_program("alice");
  ASSERT_TRUE(progresses(alice));
  const auto is_held_back = [&] { return tenant("alice")["use"].at(0)["held_back"].get<bool>(); };
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(is_held_back()) << "it has no ceiling";
  EXPECT_EQ(set_alice({"max=1%"}).status, 0);
  EXPECT_TRUE(eventually(is_held_back));
  EXPECT_TRUE(eventually([&] { return has_line(fairgv({"ps"}), " at max "); })) << joined(fairgv({"ps"}));
  EXPECT_EQ(set_alice({"max=100%"}).status, 0);
  EXPECT_TRUE(progresses(alice));
  EXPECT_FALSE(is_held_back());
}

}  // namespace
}  // namespace fairgv::integration
