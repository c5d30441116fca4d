// Sessions for which the daemon chooses devices: which they get, and that all others are hidden from them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/daemon/succession.hpp"
#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Lines = std::vector<std::string>;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

struct ChosenDevices : SessionTableTest {
  ChosenDevices() {
    house.config.tenants.devices = {.best = true};
    configure();
  }

  /// Begins a session of the tenant, whose worker sees these devices, and waits until it runs or is gone.
  const Session* join(const std::string& tenant, const std::vector<session::DeviceDescription>& devices,
                      std::uint64_t nameable = ~std::uint64_t{0}) {
    const std::size_t sessions = table.all().size();
    joins = tenant;
    start({to_text(session::WorkerReady{.devices = devices, .nameable = nameable})});
    run_until([&] { return table.settled(); });
    welcome = client.receive()->text;
    clients.push_back(std::move(client));
    return table.all().size() > sessions ? table.all().rbegin()->second.get() : nullptr;
  }
  /// The devices that a new session of the tenant gets.
  Numbers chosen_for(const std::string& tenant) {
    const Session* const session = join(tenant, {gpu, other_gpu});
    return session == nullptr ? Numbers() : session->devices.shown();
  }
  std::string refusal() const {
    const auto answer = session::parse_hello_answer(welcome);
    const auto* const refused = answer ? std::get_if<session::Refused>(&answer.value()) : nullptr;
    return refused == nullptr ? "" : refused->reason;
  }
  void configure() {
    house.tenancies.configure();
    table.apply_configuration();
  }

  session::DeviceDescription gpu{"Vendor", "gpu", 4, 2 * kGibibyte, "pci 1", 1'000};
  session::DeviceDescription other_gpu{"Vendor", "gpu", 4, 2 * kGibibyte, "pci 2", 1'000};
  session::DeviceDescription cpu{"Portable Computing Language", "cpu", 2, kGibibyte, "", 5'000};
  std::vector<Socket> clients;
  std::string welcome;
};

TEST_F(ChosenDevices, EqualTenantsSpreadOverEqualDevices) {
  EXPECT_EQ(chosen_for("a"), Numbers({0}));
  EXPECT_EQ(chosen_for("b"), Numbers({1}));
  EXPECT_EQ(chosen_for("c"), Numbers({0}));
  EXPECT_EQ(chosen_for("d"), Numbers({1}));
  EXPECT_EQ(table.all().rbegin()->second->passed_over, Lines({"device 0: 33.3% of it to be expected"}));
}

TEST_F(ChosenDevices, OneTenantsSessionsSpread) {
  EXPECT_EQ(chosen_for("a"), Numbers({0}));
  EXPECT_EQ(chosen_for("a"), Numbers({1}));
}

TEST_F(ChosenDevices, AFasterDeviceIsWorthASmallerShare) {
  house.config.devices.by_index[1].speed = 2'500;
  EXPECT_EQ(chosen_for("a"), Numbers({1}));
  EXPECT_EQ(chosen_for("b"), Numbers({1})) << "half of it is more than the other";
  EXPECT_EQ(chosen_for("c"), Numbers({0})) << "a third is less";
}

TEST_F(ChosenDevices, WhereADriverDoesNotTellItsSpeedAllDevicesOfThePlatformAreEqual) {
  other_gpu.speed = 0;
  EXPECT_EQ(chosen_for("a"), Numbers({0}));
  EXPECT_EQ(chosen_for("b"), Numbers({1}));
}

TEST_F(ChosenDevices, TheSessionGetsOneDeviceOfEachPlatform) {
  const Session* const session = join("a", {cpu, gpu, other_gpu});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->devices.shown(), Numbers({0, 1}));
  EXPECT_EQ(session->devices.hidden(), 0b100U);
  EXPECT_EQ(session->passed_over, Lines({"device 2: 100.0% of it to be expected"}));
}

TEST_F(ChosenDevices, ItsProgramAndItsWorkerAreToldWhatIsHidden) {
  (void)chosen_for("a");
  const Session* const session = join("b", {gpu, other_gpu});
  ASSERT_NE(session, nullptr);
  const auto answer = session::parse_hello_answer(welcome);
  ASSERT_TRUE(answer);
  const auto& told = std::get<session::Welcome>(answer.value());
  EXPECT_EQ(told.hidden_devices, 0b01U);
  EXPECT_NE(told.features & session::kChosenDevices, 0U);
  auto* const pages = const_cast<Session*>(session)->turns.promises();
  EXPECT_EQ(pages->devices[0].hidden.load(), 1U);
  EXPECT_EQ(pages->devices[1].hidden.load(), 0U);
}

TEST_F(ChosenDevices, DevicesThatTheProgramCannotNameAreNotChosen) {
  const Session* const session = join("a", {cpu, gpu, other_gpu}, 0b110);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->devices.shown(), Numbers({1}));
}

TEST_F(ChosenDevices, ExpectedMemoryDecidesFromTheStartOn) {
  house.config.tenants.by_name["big"].expected_memory = 2 * kGibibyte - 1;
  EXPECT_EQ(chosen_for("big"), Numbers({0}));
  house.config.tenants.by_name["b"].expected_memory = kGibibyte;
  EXPECT_EQ(chosen_for("b"), Numbers({1}));
  house.config.tenants.by_name["c"].expected_memory = kGibibyte / 2;
  EXPECT_EQ(chosen_for("c"), Numbers({1})) << "the first would be better, but has no room";
  EXPECT_EQ(table.all().rbegin()->second->passed_over, Lines({"device 0: memory: 1 B of 2 GiB left"}));
  house.config.tenants.by_name["d"].expected_memory = kGibibyte;
  EXPECT_EQ(chosen_for("d"), Numbers());
  EXPECT_EQ(
      refusal(),
      "no device can take a program of tenant 'd': device 0: memory: 1 B of 2 GiB left; device 1: memory: "
      "512 MiB of 2 GiB left");
  const auto& refusals = house.devices.placements().refusals();
  EXPECT_EQ(refusals.at(0).memory, 3U);
  EXPECT_EQ(refusals.at(1).memory, 1U);
}

TEST_F(ChosenDevices, MemoryThatIsReservedForOthersIsNoRoom) {
  house.config.tenants.by_name["keeper"] = {.memory_reserve = MemorySize{0, 75}};
  house.config.tenants.by_name["b"].expected_memory = kGibibyte;
  configure();
  EXPECT_EQ(chosen_for("b"), Numbers());
  EXPECT_NE(refusal().find("device 1: memory: 512 MiB of 2 GiB left"), std::string::npos) << refusal();
}

TEST_F(ChosenDevices, AListIsShownWhole) {
  house.config.tenants.by_name["a"].devices = DevicesWanted{false, 0b10};
  EXPECT_EQ(chosen_for("a"), Numbers({1}));
  house.config.tenants.by_name["b"].devices = DevicesWanted{false, 0b11};
  EXPECT_EQ(chosen_for("b"), Numbers({0, 1}));
  house.config.tenants.by_name["c"].devices = DevicesWanted{false, 0b1000};
  EXPECT_EQ(chosen_for("c"), Numbers());
  EXPECT_EQ(refusal(),
            "tenant 'c' may use device 3 (devices in the configuration), which its program does not see");
  house.config.tenants.by_name["d"].devices = DevicesWanted{};
  EXPECT_EQ(chosen_for("d"), Numbers({0, 1}));
  house.config.tenants.by_name["e"].devices = DevicesWanted{true, 0b10};
  EXPECT_EQ(chosen_for("e"), Numbers({1})) << "the best of one";
}

TEST_F(ChosenDevices, AGuaranteeIsGivenWhereThereIsRoomForIt) {
  house.config.tenants.allow_min = sched::kWholeDevice;
  for (const char* const name : {"a", "b"})
    house.config.tenants.by_name[name].min =
        sched::Reservation{std::chrono::milliseconds(50), std::chrono::milliseconds(100)};
  house.config.tenants.by_name["weighty"].weight = 9;
  configure();
  EXPECT_EQ(chosen_for("a"), Numbers({0}));
  EXPECT_EQ(chosen_for("weighty"), Numbers({1}));
  EXPECT_EQ(chosen_for("b"), Numbers({1})) << "the first has less left to promise";
  EXPECT_EQ(table.all().rbegin()->second->passed_over,
            Lines({"device 0: guarantee: 35% of 90% left to promise"}));
  EXPECT_EQ(house.tenancies.registry().promised().sum.ppm, 550'000U);
}

TEST_F(ChosenDevices, ASessionThatLeavesMakesRoom) {
  const Session* const first = join("a", {gpu, other_gpu});
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(chosen_for("b"), Numbers({1}));
  clients.front().close();
  run_until([&] { return table.all().size() == 1; });
  EXPECT_EQ(chosen_for("c"), Numbers({0}));
  EXPECT_EQ(house.tenancies.registry().all().at(0).homes, 0U);
}

TEST_F(ChosenDevices, ATenantsNewWeightCounts) {
  EXPECT_EQ(chosen_for("a"), Numbers({0}));
  EXPECT_EQ(chosen_for("b"), Numbers({1}));
  const auto changed = house.tenancies.registry().set("a", {.weight = 5}, 0, true);
  ASSERT_TRUE(changed);
  house.tenancies.apply_attributes(changed.value());
  EXPECT_EQ(chosen_for("c"), Numbers({1}));
  EXPECT_EQ(chosen_for("d"), Numbers({1})) << "a third of it is more than a sixth";
}

TEST_F(ChosenDevices, ATenantThatUsesLittleLeavesRoomForOthers) {
  EXPECT_EQ(chosen_for("a"), Numbers({0}));
  EXPECT_EQ(chosen_for("b"), Numbers({1}));
  // Nobody uses anything, and two looks find that out; then c is placed on the first as nobody is in the way.
  Placements& placements = house.devices.placements();
  const auto now = std::chrono::steady_clock::now();
  placements.expire(now + std::chrono::seconds(10));
  placements.expire(now + std::chrono::seconds(20));
  EXPECT_EQ(chosen_for("c"), Numbers({0}));
  EXPECT_EQ(table.all().rbegin()->second->passed_over, Lines({"device 1: 100.0% of it to be expected"}));
}

TEST_F(ChosenDevices, SessionsOfBeforeTheConfigurationChangedCountWhereTheyAre) {
  house.config.tenants.devices = {};
  EXPECT_EQ(chosen_for("a"), Numbers({0, 1}));
  EXPECT_FALSE(house.devices.placements().deadline()) << "nothing is chosen, and nothing looked at";
  house.config.tenants.devices = {.best = true};
  configure();
  EXPECT_TRUE(house.devices.placements().deadline());
  EXPECT_EQ(house.tenancies.registry().all().at(0).homes, 0b11U);
  EXPECT_EQ(chosen_for("b"), Numbers({0}));
  EXPECT_EQ(table.all().rbegin()->second->passed_over, Lines({"device 1: 50.0% of it to be expected"}));
  house.config.tenants.devices = {};
  configure();
  EXPECT_EQ(table.all().rbegin()->second->devices.shown(), Numbers({0})) << "it stays";
  EXPECT_EQ(chosen_for("c"), Numbers({0, 1}));
}

TEST_F(ChosenDevices, TheSameHardwareIsChosenAsTheFirstDeviceOfThePlatform) {
  session::DeviceDescription twin = cpu;
  twin.id = "second";
  const Session* const session = join("a", {cpu, twin, gpu});
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->devices.shown(), Numbers({0, 2}));
  session::DeviceDescription elsewhere = cpu;
  elsewhere.platform = "Another driver";
  const Session* const other = join("b", {elsewhere});
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->devices.shown(), Numbers({3}));
  EXPECT_EQ(house.tenancies.registry().find(other->tenant)->homes, 0b1U) << "in the books it is the first";
}

TEST_F(ChosenDevices, TheHandoverHasWhatIsHiddenAndWhy) {
  (void)chosen_for("a");
  ASSERT_EQ(chosen_for("b"), Numbers({1}));
  const HandedSession handed = table.handed().back();
  EXPECT_EQ(handed.devices, Numbers({0, 1}));
  EXPECT_EQ(handed.hidden, 0b01U);
  EXPECT_EQ(handed.passed_over, Lines({"device 0: 50.0% of it to be expected"}));
  Handover handover;
  handover.listener = 7;
  handover.lock = 8;
  handover.sessions.push_back(handed);
  const auto read = parse_handover(to_text(handover));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->sessions.at(0).hidden, handed.hidden);
  EXPECT_EQ(read->sessions.at(0).passed_over, handed.passed_over);
}

TEST(Handover, WhatIsDueIsOfEachDeviceAndWasTheSameOnAllForAnOlderDaemon) {
  using std::chrono::nanoseconds;
  Handover handover;
  handover.listener = 7;
  handover.lock = 8;
  HandedTenant& tenant = handover.tenants.emplace_back();
  tenant.name = "a";
  tenant.entitled = {nanoseconds(7), nanoseconds(3)};
  const std::string text = to_text(handover);
  const auto read = parse_handover(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tenants.at(0).entitled, tenant.entitled);
  auto older = nlohmann::json::parse(text);
  EXPECT_EQ(older["tenants"][0].erase("entitled_by_device"), 1u);
  const auto of_older = parse_handover(older.dump());
  ASSERT_TRUE(of_older) << of_older.error().message;
  EXPECT_EQ(of_older->tenants.at(0).entitled.at(0), nanoseconds(7));
  EXPECT_EQ(of_older->tenants.at(0).entitled.at(1), nanoseconds(7));
}

TEST_F(ChosenDevices, ReportsShowThem) {
  (void)chosen_for("a");
  ASSERT_EQ(chosen_for("b"), Numbers({1}));
  const control::Report report = house.report();
  const auto& b = report.tenants.at(1);
  EXPECT_EQ(b.sessions.at(0).devices, Numbers({1}));
  EXPECT_EQ(b.sessions.at(0).passed_over, Lines({"device 0: 50.0% of it to be expected"}));
  EXPECT_DOUBLE_EQ(b.due(1), 1.0) << "it has the second device for itself";
  EXPECT_DOUBLE_EQ(b.due(0), 0.0);
  EXPECT_DOUBLE_EQ(b.ideal_share, 1.0);
  const auto prospect = house.devices.placements().prospect("c", {.best = true}, {});
  EXPECT_EQ(prospect.lines,
            Lines({"device 0 now, 50.0% of it to be expected", "not device 1: 50.0% of it to be expected"}));
  EXPECT_FALSE(prospect.refusal);
  const auto refused = house.devices.placements().prospect("c", {.best = true}, {.memory = 3 * kGibibyte});
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(refused.refusal->message,
            "no device can take a program of tenant 'c': device 0: memory: 2 GiB of 2 GiB left; device 1: "
            "memory: 2 GiB of 2 GiB left");
}

}  // namespace
}  // namespace fairgv::daemon
