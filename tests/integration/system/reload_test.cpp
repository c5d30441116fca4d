// The configuration is read again while programs run: they go on and notice only the intended changes.
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/harness/temporary_folder.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

struct Reload : System {
  std::filesystem::path config() {
    return std::filesystem::path(tenancy->socket()).replace_filename("fairgvd.toml");
  }
  void write(const std::string& text) { std::ofstream(config()) << text; }

  /// `fairgv reload --json`; its exit status is in `status`.
  nlohmann::json reload() {
    const auto finished = fairgv({"reload", "--json"});
    status = finished.status;
    std::string text;
    for (const std::string& line : finished.lines) text += line + '\n';
    return nlohmann::json::parse(text, nullptr, false);
  }

  int daemon_pid() { return ps()["daemon"]["pid"]; }

  int status = 0;
};

bool has(const nlohmann::json& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

TEST_F(Reload, AppliesChangesToRunningPrograms) {
  auto alice = start_long_program("alice");
  auto bob = start_long_program("bob");
  ASSERT_TRUE(progresses(alice) && progresses(bob));
  const auto worker = tenant("alice")["sessions"][0]["worker_pid"];
  write(R"([device]
slice_ms = 9
policy = "round-robin"
slicing_floor = 2000
memory = "50%"
[tenant.alice]
weight = 7
memory = "10%"
)");
  const auto answer = reload();
  ASSERT_EQ(status, 0) << answer.dump();
  EXPECT_TRUE(has(answer["at_once"], "[device] slice_ms")) << answer.dump();
  EXPECT_TRUE(has(answer["at_once"], "[tenant.\"alice\"] weight")) << answer.dump();
  EXPECT_TRUE(answer["restart"].empty()) << answer.dump();
  EXPECT_EQ(tenant("alice")["weight"], 7);
  EXPECT_EQ(ps()["devices"][0]["slice_ms"], 9.0);
  EXPECT_EQ(ps()["devices"][0]["policy"], "round-robin");
  const std::uint64_t device = ps()["devices"][0]["memory"];
  EXPECT_EQ(tenant("alice")["memory_limit"][0], device / 100 * 10 + device % 100 * 10 / 100);
  EXPECT_EQ(tenant("alice")["sessions"][0]["worker_pid"], worker);
  EXPECT_TRUE(progresses(alice));
  EXPECT_TRUE(progresses(bob));
}

TEST_F(Reload, ABadFileChangesNothingAndAllMistakesAreTold) {
  start_daemon("slice_ms = 5");
  auto program = start_long_program("program");
  ASSERT_TRUE(progresses(program));
  write("[device]\nslice_ms = 8\npolicy = \"lottery\"\n[tenant.program]\nwieght = 3\n");
  const auto answer = reload();
  EXPECT_EQ(status, 1);
  ASSERT_EQ(answer["lines"].size(), 2u) << answer.dump();
  EXPECT_NE(answer["lines"].dump().find("fairgvd.toml:3:10: policy"), std::string::npos) << answer.dump();
  EXPECT_NE(answer["lines"].dump().find("did you mean 'weight'?"), std::string::npos) << answer.dump();
  EXPECT_EQ(ps()["devices"][0]["slice_ms"], 5.0);
  EXPECT_EQ(tenant("program")["weight"], 1);
  EXPECT_TRUE(progresses(program));
}

TEST_F(Reload, NamesTheKeysThatNeedARestart) {
  write("[daemon]\nsocket = \"/tmp/elsewhere\"\n[worker]\ncore_dumps = true\n");
  const auto answer = reload();
  EXPECT_EQ(answer["restart"], nlohmann::json::array({"[daemon] socket"}));
  EXPECT_EQ(answer["new_programs"], nlohmann::json::array({"[worker] core_dumps"}));
  EXPECT_EQ(fairgv({"ps"}).status, 0) << "it still serves where it did";
  EXPECT_TRUE(reload()["restart"].empty()) << "the next time nothing has changed";
}

TEST_F(Reload, TheSignalDoesTheSameAndDropInFilesCount) {
  std::filesystem::create_directory(config().string() + ".d");
  std::ofstream(config().string() + ".d/10-weights.toml") << "[tenant.program]\nweight = 5\n";
  auto program = start_long_program("program");
  ASSERT_TRUE(progresses(program));
  EXPECT_EQ(tenant("program")["weight"], 1);
  ASSERT_EQ(::kill(daemon_pid(), SIGHUP), 0);
  EXPECT_TRUE(eventually([&] { return tenant("program")["weight"] == 5; }));
  EXPECT_TRUE(progresses(program));
}

// Each program checks its results and fails if a call does.
TEST_F(Reload, AgainAndAgainNoCallFails) {
  auto steady = start_long_program("steady");
  ASSERT_TRUE(progresses(steady));
  for (int round = 0; round < 3; ++round) {
    std::vector<harness::Child> programs;
    for (const char* const name : {"a", "b"}) {
      auto child =
          harness::Child::start(tenancy->tenant(name, 1, {workload("matrixMul"), "--repetitions", "20"}));
      ASSERT_TRUE(child);
      programs.push_back(std::move(child).value());
    }
    for (int i = 0; i < 20; ++i) {
      const std::string policy = i % 2 == 0 ? "fair" : "round-robin";
      write("[device]\npolicy = \"" + policy + "\"\nslice_ms = " + std::to_string(1 + i % 7) +
            "\nslicing_floor = " + std::to_string(1 + 500 * (i % 4)) + "\n[tenant.a]\nweight = " +
            std::to_string(1 + i % 3) + "\nmemory = \"" + std::to_string(50 + i) + "%\"\n");
      (void)reload();
      ASSERT_EQ(status, 0);
    }
    for (harness::Child& program : programs) EXPECT_EQ(program.wait(), 0);
  }
  EXPECT_TRUE(progresses(steady));
}

TEST_F(Reload, TheRunningConfigurationCanBeSeen) {
  write("[device]\nsamples = 9\n");
  (void)reload();
  const auto shown = fairgv({"config", "show", "--running"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_TRUE(std::any_of(shown.lines.begin(), shown.lines.end(),
                          [](const auto& line) { return line.starts_with("samples = 9  # /"); }));
}

struct Identity : Reload {
  nlohmann::json whoami(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"whoami", "--json"});
    const auto finished = fairgv(more);
    status = finished.status;
    std::string text;
    for (const std::string& line : finished.lines) text += line + '\n';
    return nlohmann::json::parse(text, nullptr, false);
  }
  std::string user() { return std::to_string(::geteuid()); }
};

TEST_F(Identity, RulesDecideTheTenantOfAProgramAndItsLimits) {
  const auto before = whoami();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(before["rule"], nullptr);
  write(
      "[class.gold]\nweight = 6\nmemory = \"20%\"\n[[match]]\ntenant = \"nobody\"\nuid = "
      "4000000\n[[match]]\ntenant = "
      "\"ruled\"\nclass = \"gold\"\nuid = " +
      user() + "\n");
  ASSERT_EQ(reload()["ok"], true);

  auto who = whoami();
  EXPECT_EQ(status, 0) << who.dump();
  EXPECT_EQ(who["tenant"], "ruled");
  EXPECT_EQ(who["class"], "gold");
  EXPECT_EQ(who["weight"], 6);
  EXPECT_TRUE(who["rule"].get<std::string>().starts_with("[[match]] 2 (")) << who.dump();

  // Under its own name the rules refuse the program nothing, under another name everything.
  who = whoami({"--tenant", "other"});
  EXPECT_EQ(status, 1);
  EXPECT_NE(who["refusal"].get<std::string>().find("belong to tenant 'ruled'"), std::string::npos)
      << who.dump();
  auto refused = harness::run(tenancy->tenant("other", 1, {workload("matrixMul"), "--repetitions", "1"}));
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->status, 0);
  EXPECT_TRUE(tenant("other").is_null());

  auto program = start_long_program("ruled");
  ASSERT_TRUE(progresses(program));
  EXPECT_EQ(tenant("ruled")["weight"], 6);
  const std::uint64_t device = ps()["devices"][0]["memory"];
  EXPECT_EQ(tenant("ruled")["memory_limit"][0], device / 100 * 20 + device % 100 * 20 / 100);

  // The class changes while the program runs; and the change stays through a restart.
  write("[class.gold]\nweight = 3\n[[match]]\ntenant = \"ruled\"\nclass = \"gold\"\nuid = " + user() + "\n");
  ASSERT_EQ(reload()["ok"], true);
  EXPECT_EQ(tenant("ruled")["weight"], 3);
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(tenant("ruled")["weight"], 3);
  EXPECT_TRUE(progresses(program));
}

TEST_F(Identity, AProgramsControlGroupDecidesIfThereIsOne) {
  const auto path = whoami()["cgroup"];
  if (path.is_null()) GTEST_SKIP() << "no control groups of version 2 here";
  write("[[match]]\ntenant = \"grouped\"\ncgroup = \"" + path.get<std::string>() + "\"\n");
  ASSERT_EQ(reload()["ok"], true);
  EXPECT_EQ(whoami()["tenant"], "grouped");
  write("[[match]]\ntenant = \"grouped\"\ncgroup = \"/no/such/group\"\n");
  ASSERT_EQ(reload()["ok"], true);
  EXPECT_NE(whoami()["tenant"], "grouped");
  whoami({"--tenant", "grouped"});
  EXPECT_EQ(status, 1) << "the rule's tenant is for nobody else";
}

// A real group of its own, where the machine lets us make one.
TEST_F(Identity, AProgramThatIsPutIntoAControlGroupIsThatGroupsTenant) {
  std::filesystem::path root;
  for (const char* place : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    if (std::filesystem::exists(std::filesystem::path(place) / "cgroup.procs")) root = place;
  }
  const auto own = whoami()["cgroup"];
  const std::string name = "fairgv-test-" + std::to_string(::getpid()) + ".slice";
  std::error_code failed;
  if (root.empty() || own != "/" || !std::filesystem::create_directory(root / name, failed)) {
    GTEST_SKIP() << "cannot make control groups here";
  }
  write("[[match]]\ntenant = \"sliced\"\ncgroup = \"/fairgv-test-*.slice\"\n[[match]]\ntenant = \"rest\"\n");
  ASSERT_EQ(reload()["ok"], true);
  const auto shown = harness::run({{"/bin/sh", "-c",
                                    "echo $$ > " + (root / name / "cgroup.procs").string() + " && exec " +
                                        harness::beside("fairgv") + " whoami --socket " + tenancy->socket()},
                                   {}});
  std::filesystem::remove(root / name, failed);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->status, 0);
  EXPECT_TRUE(std::any_of(shown->lines.begin(), shown->lines.end(), [](const auto& line) {
    return line.starts_with("tenant") && line.ends_with(" sliced");
  })) << shown->lines.size();
  EXPECT_EQ(whoami()["tenant"], "rest");
}

// With --daemonize the daemon's working folder is another one.
TEST(ReloadInAFolder, AConfigurationWithARelativePathIsFoundAgain) {
  const harness::TemporaryFolder folder;
  folder.write("mine.toml", "[device]\nslice_ms = 5\n");
  const auto run = [&](const std::string& line) {
    auto finished = harness::run({{"/bin/sh", "-c", "cd '" + folder.path().string() + "' && " + line}, {}});
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  };
  const std::string tool = harness::beside("fairgv"), socket = " --socket ./mine.sock";
  ASSERT_EQ(
      run(harness::beside("fairgvd") + " --config mine.toml --daemonize --exit-idle 60" + socket).status, 0);
  folder.write("mine.toml", "[device]\nslice_ms = 7\n");
  const harness::Finished reloaded = run(tool + " reload" + socket);
  EXPECT_EQ(reloaded.status, 0) << joined(reloaded);
  EXPECT_NE(joined(reloaded).find("changed: [device] slice_ms"), std::string::npos) << joined(reloaded);
  const harness::Finished restarted = run(tool + " restart" + socket);
  EXPECT_EQ(restarted.status, 0) << joined(restarted);
  EXPECT_EQ(run(tool + " stop" + socket).status, 0);
}

}  // namespace
}  // namespace fairgv::integration
