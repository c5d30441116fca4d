// A daemon that chooses the devices of sessions, over two devices of PoCL that are set apart as if each had
// hardware of its own.
#include <algorithm>

#include "runtime/session/client/client.hpp"
#include "runtime/wire/cuda_calls.hpp"
#include "tests/integration/system/fixture.hpp"

namespace fairgv::integration {
namespace {

using Numbers = std::vector<std::uint32_t>;

// OpenCL's numbers, which the wire has, too.
constexpr std::int32_t kDeviceNotAvailable = -2;
constexpr std::uint64_t kDefaultType = 1;
constexpr std::uint64_t kAnyType = 0xffff'ffff;

struct DeviceChoice : System {
  void SetUp() override {}

  /// `rules`: tables of the configuration.
  void start(const std::string& rules, const std::string& devices = "pthread pthread") {
    tenancy.reset();
    auto started = harness::Tenancy::start({}, {{"POCL_DEVICES", devices}},
                                           "memory = \"2GiB\"\n[device.1]\nsame_as = 1\n" + rules);
    ASSERT_TRUE(started) << started.error().message;
    tenancy.emplace(std::move(started).value());
  }

  /// The devices that a tenant's latest session may use.
  Numbers devices_of(const std::string& name) {
    const auto found = tenant(name);
    return found.is_null() || found["sessions"].empty() ? Numbers()
                                                        : found["sessions"].back()["devices"].get<Numbers>();
  }
  std::string passed_over(const std::string& name) {
    std::string lines;
    const auto found = tenant(name);
    for (const auto& line : found["sessions"].back()["passed_over"]) lines += line.get<std::string>() + '\n';
    return lines;
  }

  /// A front end of the test's own, which does as it likes.
  std::unique_ptr<session::ClientSession> connect(const std::string& name,
                                                  session::Api api = session::Api::opencl) {
    session::ClientIdentity identity;
    identity.socket_path = tenancy->socket();
    identity.tenant = name;
    auto connected = session::ClientSession::connect(identity, api);
    EXPECT_TRUE(connected) << connected.error().message;
    return connected ? std::move(connected).value() : nullptr;
  }
  std::string refusal(const std::string& name, session::Api api = session::Api::opencl) {
    session::ClientIdentity identity;
    identity.socket_path = tenancy->socket();
    identity.tenant = name;
    const auto connected = session::ClientSession::connect(identity, api);
    return connected ? "" : connected.error().message;
  }
};

/// Whether the driver's context on the device comes to be.
std::int32_t context_error(session::ClientSession& client, wire::DeviceIndex device) {
  const wire::ObjectId context = client.new_object();
  const std::vector<wire::DeviceIndex> devices{device};
  client.send(wire::CreateContext{context, devices});
  const auto reply = client.call(wire::CheckQueue{context, device, 0, 0});
  EXPECT_TRUE(reply) << "the session is lost";
  return reply ? reply->error : 1;
}

TEST_F(DeviceChoice, ProgramsOfEqualTenantsSpread) {
  start("[tenants]\ndevices = \"best\"\n");
  auto alice = start_long_program("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(devices_of("alice"), Numbers({0}));
  auto bob = start_long_program("bob");
  ASSERT_TRUE(progresses(bob)) << "its program asks for the first device of the platform, which is hidden";
  EXPECT_EQ(devices_of("bob"), Numbers({1}));
  EXPECT_EQ(passed_over("bob").rfind("device 0: ", 0), 0u) << passed_over("bob");
  EXPECT_TRUE(eventually([&] { return tenant("bob")["device_time_ns"][1] > 0; }));
  EXPECT_EQ(tenant("bob")["device_time_ns"][0], 0);
  EXPECT_EQ(tenant("alice")["device_time_ns"][1], 0);
  EXPECT_EQ(tenant("bob")["use"][1]["entitled_share"], 1.0) << "it has its device for itself";
  EXPECT_EQ(tenant("bob")["use"][0]["entitled_share"], 0.0);
  EXPECT_EQ(tenant("bob")["use"][0]["entitled_ns"], 0);

  const auto shown = fairgv({"ps"});
  EXPECT_NE(joined(shown).find("device 1; not device 0: "), std::string::npos) << joined(shown);
  const auto who = fairgv({"whoami", "--tenant", "carol"});
  EXPECT_NE(joined(who).find("devices        best"), std::string::npos) << joined(who);
  EXPECT_NE(joined(who).find("% of it to be expected"), std::string::npos) << joined(who);
}

TEST_F(DeviceChoice, WithoutAChoiceEverySessionSeesAllAsBefore) {
  start("");
  const auto client = connect("alice");
  ASSERT_TRUE(client);
  EXPECT_EQ(client->facts().hidden_devices, 0u);
  EXPECT_EQ(client->call(wire::GetDevicesOfType{0, kAnyType})->devices, Numbers({0, 1}));
  EXPECT_EQ(devices_of("alice"), Numbers({0, 1}));
}

TEST_F(DeviceChoice, TheWorkerRefusesAHiddenDeviceWhateverItsFrontEndAsks) {
  start("[tenants]\ndevices = \"best\"\n");
  const auto alice = connect("alice");
  const auto bob = connect("bob");
  ASSERT_TRUE(alice && bob);
  EXPECT_EQ(bob->facts().hidden_devices, 0b01u);
  EXPECT_EQ(bob->call(wire::GetTopology{})->devices.size(), 2u) << "devices keep their numbers";
  EXPECT_EQ(bob->call(wire::GetDevicesOfType{0, kAnyType})->devices, Numbers({1}));
  EXPECT_EQ(bob->call(wire::GetDevicesOfType{0, kDefaultType})->devices, Numbers({1}))
      << "the driver's default device is hidden";
  EXPECT_EQ(context_error(*bob, 0), kDeviceNotAvailable);
  EXPECT_EQ(context_error(*bob, 1), 0);
  EXPECT_EQ(context_error(*alice, 0), 0);
  EXPECT_EQ(context_error(*alice, 1), kDeviceNotAvailable);
  const std::vector<std::int64_t> equally{0x1086, 1, 0};  // CL_DEVICE_PARTITION_EQUALLY
  wire::CreateSubDevices split;
  split.device = 0;
  split.only_count = 1;
  split.properties = equally;
  EXPECT_EQ(bob->call(split)->error, kDeviceNotAvailable);
}

TEST_F(DeviceChoice, ExpectedMemoryDecides) {
  start(R"([tenants]
devices = "best"
[tenant.alice]
expected_memory = "1536MiB"
[tenant.bob]
expected_memory = "1GiB"
[tenant.carol]
expected_memory = "1GiB"
[tenant.dave]
expected_memory = "256MiB"
weight = 9
)");
  const auto alice = connect("alice");
  const auto bob = connect("bob");
  ASSERT_TRUE(alice && bob);
  EXPECT_EQ(devices_of("alice"), Numbers({0}));
  EXPECT_EQ(devices_of("bob"), Numbers({1}));
  const auto carol = connect("carol");
  ASSERT_TRUE(carol);
  EXPECT_EQ(devices_of("carol"), Numbers({1}));
  EXPECT_EQ(passed_over("carol"), "device 0: memory: 512 MiB of 2 GiB left\n");
  EXPECT_EQ(refusal("bob2"), "") << "it expects nothing";
  const auto dave = connect("dave");
  ASSERT_TRUE(dave);
  EXPECT_EQ(devices_of("dave"), Numbers({0}));
  EXPECT_EQ(passed_over("dave"), "device 1: memory: 0 B of 2 GiB left\n");
}

TEST_F(DeviceChoice, NoDeviceThatCanTakeItIsOneLineThatSaysWhatIsLeft) {
  start(R"([tenants]
devices = "best"
allow_min = "100%"
[tenant.alice]
min = "60%"
[tenant.bob]
expected_memory = "3GiB"
)");
  EXPECT_EQ(refusal("bob"),
            "no device can take a program of tenant 'bob': device 0: memory: 2 GiB of 2 GiB left; device 1: "
            "memory: 2 GiB of 2 GiB left");
  const auto alice = connect("alice");
  ASSERT_TRUE(alice);
  EXPECT_EQ(devices_of("alice"), Numbers({0}));
  const auto bare = [&](const std::string& name, const std::string& min) {
    harness::CommandLine shell{{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", harness::beside("fairgv"), "run",
                                "--socket", tenancy->socket(), "--tenant", name, "--min", min, "--",
                                workload("matrixMul"), "--repetitions", "1"},
                               {}};
    auto finished = harness::run(shell);
    EXPECT_TRUE(finished);
    return std::move(finished).value();
  };
  EXPECT_EQ(bare("carol", "80%").status, 0) << "the other device has 85% to promise";
  const auto refused = bare("carol", "90%");
  EXPECT_NE(refused.status, 0);
  EXPECT_NE(joined(refused).find("tenant 'carol' cannot have a guarantee of 90%: 85% at most is left on any "
                                 "device of the 90% that may be promised (promise_limit)"),
            std::string::npos)
      << joined(refused);
}

TEST_F(DeviceChoice, AListIsWhatItsProgramsSee) {
  start(
      "[tenant.alice]\ndevices = \"1\"\n[tenant.bob]\ndevices = \"0-1\"\n[tenant.carol]\ndevices = \"7\"\n");
  auto alice = start_long_program("alice");
  ASSERT_TRUE(progresses(alice));
  EXPECT_EQ(devices_of("alice"), Numbers({1}));
  EXPECT_TRUE(eventually([&] { return tenant("alice")["device_time_ns"][1] > 0; }));
  const auto bob = connect("bob");
  ASSERT_TRUE(bob);
  EXPECT_EQ(devices_of("bob"), Numbers({0, 1}));
  EXPECT_EQ(refusal("carol"),
            "tenant 'carol' may use device 7 (devices in the configuration), which its program does not see");
}

TEST_F(DeviceChoice, ARestartKeepsEverySessionWhereItIs) {
  start("[tenants]\ndevices = \"best\"\n");
  auto alice = start_long_program("alice");
  ASSERT_TRUE(progresses(alice));
  auto bob = start_long_program("bob");
  ASSERT_TRUE(progresses(bob));
  const Numbers of_alice = devices_of("alice");
  const Numbers of_bob = devices_of("bob");
  ASSERT_NE(of_alice, of_bob);
  const std::string why = passed_over("bob");
  ASSERT_EQ(of_alice, Numbers({0}));
  EXPECT_EQ(fairgv({"set", "alice", "weight=3"}).status, 0);
  EXPECT_EQ(fairgv({"restart"}).status, 0);
  EXPECT_EQ(devices_of("alice"), of_alice);
  EXPECT_EQ(devices_of("bob"), of_bob);
  EXPECT_EQ(passed_over("bob"), why);
  EXPECT_TRUE(progresses(alice) && progresses(bob));
  EXPECT_EQ(tenant("bob")["device_time_ns"][of_alice.at(0)], 0);
  // Sessions that were taken over count for newcomers: a quarter of one device is left, and half of the
  // other.
  const auto carol = connect("carol");
  ASSERT_TRUE(carol);
  EXPECT_EQ(devices_of("carol"), of_bob);
}

TEST_F(DeviceChoice, AProgramThatLosesItsSessionMayFindAnotherDeviceThen) {
  start("[tenants]\ndevices = \"best\"\n[tenant.bob]\ndevices = \"0\"\nweight = 9\n");
  auto alice = harness::Child::start(tenancy->tenant("alice", 1, {harness::beside("opencl_devices")}));
  ASSERT_TRUE(alice);
  std::vector<std::string> lines;
  const auto says = [&](const std::string& line) {
    return eventually([&] {
      for (std::string& each : alice->read_lines()) lines.push_back(std::move(each));
      return alice->ended() || std::find(lines.begin(), lines.end(), line) != lines.end();
    });
  };
  ASSERT_TRUE(says("begun 0"));
  EXPECT_EQ(devices_of("alice"), Numbers({0}));
  const auto bob = connect("bob");
  ASSERT_TRUE(bob);
  EXPECT_EQ(fairgv({"kill", "alice"}).status, 0);
  ASSERT_TRUE(says("right 42"));
  EXPECT_EQ(lines, (std::vector<std::string>{"devices 1", "begun 0", "same -2", "other 1", "right 42"}));
  EXPECT_EQ(alice->wait(), 0);
}

TEST_F(DeviceChoice, AProgramThatHasMovedFindsItsOwnDevicesAndNoOthers) {
  start("[tenant.alice]\ndevices = \"1\"\n");
  const auto alice = connect("alice");
  const auto bob = connect("bob");
  ASSERT_TRUE(alice && bob);
  for (const char* const place : {"0", "1"}) {
    for (const char* const name : {"alice", "bob"}) {
      const auto moved = fairgv({"migrate", name, "--device", place});
      EXPECT_EQ(moved.status, 0) << joined(moved);
    }
    for (const std::uint64_t type : {kDefaultType, kAnyType})
      EXPECT_EQ(alice->call(wire::GetDevicesOfType{0, type})->devices, Numbers({1})) << "at " << place;
    EXPECT_EQ(context_error(*alice, 1), 0);
    EXPECT_EQ(context_error(*alice, 0), kDeviceNotAvailable) << "another device of its own lies there";
    EXPECT_EQ(bob->call(wire::GetDevicesOfType{0, kAnyType})->devices, Numbers({0, 1})) << "at " << place;
  }
}

TEST_F(DeviceChoice, AReloadHoldsForProgramsThatStartAfterwards) {
  start("");
  const auto before = connect("alice");
  ASSERT_TRUE(before);
  EXPECT_EQ(devices_of("alice"), Numbers({0, 1}));
  const auto config = std::filesystem::path(tenancy->socket()).parent_path() / "fairgvd.toml";
  ASSERT_TRUE(std::filesystem::exists(config));
  std::ofstream(config, std::ios::app) << "\n[tenants]\ndevices = \"best\"\n";
  const auto reloaded = fairgv({"reload"});
  EXPECT_EQ(reloaded.status, 0) << joined(reloaded);
  EXPECT_EQ(devices_of("alice"), Numbers({0, 1}));
  const auto after = connect("bob");
  ASSERT_TRUE(after);
  EXPECT_EQ(devices_of("bob").size(), 1u);
}

#if FAIRGV_CUDA
// The software driver shows one of the devices. Of several, those of a real driver are numbered anew.
TEST_F(DeviceChoice, OnlyDevicesThatAProgramOfCudaCanNameAreChosenForIt) {
  start("[tenants]\ndevices = \"best\"\n[tenant.carol]\ndevices = \"1\"\n");
  const auto alice = connect("alice", session::Api::cuda);
  const auto bob = connect("bob", session::Api::cuda);
  ASSERT_TRUE(alice && bob);
  EXPECT_EQ(devices_of("alice"), Numbers({0}));
  EXPECT_EQ(devices_of("bob"), Numbers({0})) << "the other one would be better, but it is none of CUDA's";
  const auto devices = bob->call(wire::cuda::GetDevices{});
  ASSERT_TRUE(devices);
  EXPECT_EQ(devices->devices.size(), 1u);
  const auto made = bob->call(wire::cuda::CreateContext{bob->new_object(), 0, 1, 0});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->code, 0);
  EXPECT_EQ(refusal("carol", session::Api::cuda),
            "tenant 'carol' may use device 1 (devices in the configuration), which its program does not see");
}

TEST_F(DeviceChoice, ProgramsOfBothApisAreInEachOthersWay) {
  start("[tenants]\ndevices = \"best\"\n");
  const auto alice = connect("alice", session::Api::cuda);
  const auto bob = connect("bob");
  ASSERT_TRUE(alice && bob);
  ASSERT_EQ(devices_of("alice").size(), 1u);
  EXPECT_NE(devices_of("alice"), devices_of("bob"));
}
#endif

}  // namespace
}  // namespace fairgv::integration
