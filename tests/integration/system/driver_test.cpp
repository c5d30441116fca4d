// Several drivers, drivers that cannot be opened, and the drivers' messages.
#include <sstream>
#include <string>

#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

/// A daemon whose workers have another environment, or other vendor files.
struct Drivers : System {
  void SetUp() override {}

  void start(harness::Environment environment, const std::string& configuration = {}) {
    tenancy.reset();
    auto started = harness::Tenancy::start({}, std::move(environment), configuration);
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  /// Writes vendor files that name these libraries. Returns lines for the configuration.
  std::string vendors(const std::vector<std::pair<std::string, std::string>>& files) {
    for (const auto& [name, library] : files) folder.write(name + ".icd", library + "\n");
    return "[opencl]\nvendors = \"" + folder.path().string() + "\"\n";
  }
  static std::string pocl() {
    std::ifstream file("/etc/OpenCL/vendors/pocl.icd");
    std::string library;
    std::getline(file, library);
    return library;
  }

  std::string log_text() const {
    std::ifstream file(std::filesystem::path(tenancy->socket()).replace_extension("log"));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  /// Its launches take milliseconds: the next is always there in time, also where a sanitizer makes it slow.
  harness::CommandLine program(const std::string& tenant, std::uint32_t weight, const std::string& device) {
    return tenancy->tenant(tenant, weight,
                           {workload("computeLoop"), "--device", device, "--seconds", "60", "--iterations",
                            "5000", "--progress-ms", "50"});
  }

  harness::TemporaryFolder folder;
};

/// PoCL shows the processors as several devices if its environment says so.
TEST_F(Drivers, DevicesThatAreTheSameProcessorsAreSharedByWeight) {
  start({{"POCL_DEVICES", "pthread pthread"}});
  auto alice = harness::Child::start(program("alice", 1, "0"));
  auto bob = harness::Child::start(program("bob", 3, "1"));
  ASSERT_TRUE(alice && bob);
  ASSERT_TRUE(progresses(alice.value()) && progresses(bob.value()));
  const auto report = ps();
  ASSERT_EQ(report["devices"].size(), 2u);
  EXPECT_TRUE(report["devices"][0]["same_as"].is_null());
  EXPECT_EQ(report["devices"][1]["same_as"], 0);
  const auto used = [&](const std::string& name) { return tenant(name)["device_time_ns"][0].get<double>(); };
  const double alice_before = used("alice");
  const double bob_before = used("bob");
  // Device time, not wall time: so much has been shared, however busy the machine is.
  ASSERT_TRUE(eventually([&] { return used("alice") + used("bob") > alice_before + bob_before + 4e9; }));
  const double ratio = (used("bob") - bob_before) / (used("alice") - alice_before);
  EXPECT_GT(ratio, 2.0) << "the weights are 1 and 3";
  EXPECT_LT(ratio, 4.5);
  EXPECT_EQ(tenant("bob")["device_time_ns"][1], 0) << "it is in the book of the first device";
}

TEST_F(Drivers, ADeviceThatTheConfigurationSetsApartIsSharedOnItsOwn) {
  start({{"POCL_DEVICES", "pthread pthread"}}, "[device.1]\nsame_as = 1\n");
  auto bob = harness::Child::start(program("bob", 3, "1"));
  ASSERT_TRUE(bob && progresses(bob.value()));
  EXPECT_TRUE(ps()["devices"][1]["same_as"].is_null());
  EXPECT_GT(tenant("bob")["device_time_ns"][1], 0);
}

/// A library that needs a library which is not there.
TEST_F(Drivers, ThatLackALibraryAreNamedWithTheLinkersReason) {
  start({}, vendors({{"lacking", FAIRGV_LACKING_DRIVER}}));
  auto command = tenancy->tenant("alice", 1, {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1", workload("scan")});
  const auto refused = harness::run(command);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->status, 0);
  std::string said;
  for (const std::string& line : refused->lines) said += line + '\n';
  EXPECT_NE(said.find("lacking.icd: libfairgv-test-lacked.so: cannot open shared object file"),
            std::string::npos)
      << said;
}

TEST_F(Drivers, ThatLackALibraryAreLeftOutBesideOthers) {
  start({}, vendors({{"lacking", FAIRGV_LACKING_DRIVER}, {"pocl", pocl()}}));
  for (int run = 0; run < 2; ++run) {
    const auto right = harness::run_measured(
        tenancy->tenant("alice", 1, {workload("scan"), "--repetitions", "1", "--verify", "always"}));
    ASSERT_TRUE(right) << right.error().message;
  }
  const std::string log = log_text();
  const std::string line = "a driver cannot be opened and is left out: lacking.icd: libfairgv-test-lacked.so";
  const auto first = log.find(line);
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find(line, first + 1), std::string::npos) << "once is enough";
}

/// PoCL complains about calls on standard error, if its environment says so.
TEST_F(Drivers, TheirMessagesReachTheProgram) {
  const auto standard_error = [&](const harness::Environment& more) {
    auto command = tenancy->tenant(
        "alice", 1,
        {"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1 >/dev/null", harness::beside("opencl_mistake")});
    command.environment.insert(command.environment.end(), more.begin(), more.end());
    const auto finished = harness::run(command);
    EXPECT_TRUE(finished);
    std::string text;
    for (const std::string& line : finished->lines) text += line + '\n';
    return text;
  };
  start({{"POCL_DEBUG", "error"}});
  const std::string said = standard_error({});
  EXPECT_NE(said.find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos) << said;
  EXPECT_EQ(standard_error({{"FAIRGV_DRIVER_MESSAGES", "off"}}), "");
  start({{"POCL_DEBUG", "error"}}, "[session]\ndriver_messages = false\n");
  EXPECT_EQ(standard_error({}), "");
  EXPECT_NE(log_text().find("CL_BUILD_PROGRAM_FAILURE"), std::string::npos);
}

}  // namespace
}  // namespace fairgv::integration
