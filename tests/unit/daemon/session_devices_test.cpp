// Workers that see different devices of one host.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

struct DeviceViews : SessionTableTest {
  /// Adds a session beside the others, whose worker sees these devices and sends these packets.
  void join(const std::vector<session::DeviceDescription>& devices, std::vector<std::string> packets = {}) {
    const std::size_t sessions = table.all().size();
    packets.insert(packets.begin(), to_text(session::WorkerReady{devices}));
    start(packets);
    clients.push_back(std::move(client));
    run_until([&] { return table.all().size() == sessions + 1 && table.settled(); });
  }
  std::vector<std::string> known() const {
    std::vector<std::string> names;
    for (const auto& device : house.devices.table().devices) names.push_back(device.name);
    return names;
  }
  std::vector<std::uint32_t> seen_by_last() const { return table.all().rbegin()->second->devices.all(); }

  using Names = std::vector<std::string>;
  using Numbers = std::vector<std::uint32_t>;
  const session::DeviceDescription cpu{"Portable Computing Language", "cpu", 2, 1'000, ""};
  const session::DeviceDescription gpu{"Vendor", "gpu", 4, 2'000, "pci 1"};
  const session::DeviceDescription other_gpu{"Vendor", "gpu", 4, 3'000, "pci 2"};
  std::vector<Socket> clients;
};

TEST_F(DeviceViews, AWorkerThatSeesOtherDevicesAddsThemToTheHosts) {
  join({cpu});
  join({gpu, cpu});
  EXPECT_EQ(known(), Names({"cpu", "gpu"}));
  EXPECT_EQ(seen_by_last(), Numbers({1, 0}));
  join({other_gpu});
  EXPECT_EQ(seen_by_last(), Numbers({2}));
  join({gpu});
  EXPECT_EQ(seen_by_last(), Numbers({1}));
  EXPECT_EQ(table.all().size(), 4U);
  EXPECT_EQ(house.dispatch->looks().devices().size(), 3U);
}

TEST_F(DeviceViews, AWorkersDeviceNumbersAreMappedToTheHosts) {
  join({cpu});
  join({gpu, cpu}, {to_text(reduce(1))});
  run_until([&] { return !reported().empty(); });
  EXPECT_EQ(reported().at(0).device, 1U) << "its first device is the host's second";
  const auto welcome = session::parse_hello_answer(clients.back().receive()->text);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(std::get<session::Welcome>(welcome.value()).memory_limits,
            (std::vector<std::uint64_t>{2'000, 1'000}));
}

TEST_F(DeviceViews, AWorkersReportOfADeviceThatItDoesNotSeeEndsItsSession) {
  join({cpu, gpu});
  session::LongCommand command = reduce(1);
  command.device = 1;
  start({to_text(session::WorkerReady{{cpu}}), to_text(command)});
  run_until([&] { return table.all().size() == 1 && table.settled(); });
  EXPECT_EQ(log.count("its worker told of device 1 of 1"), 1U);
}

TEST_F(DeviceViews, ATenantsDebtIsKeptWhenAWorkerSeesOtherDevices) {
  const auto wants_the_device = [&](const Session& session) {
    session::DeviceTurn& turn = const_cast<Session&>(session).turns.page().devices[0];
    turn.state.store(static_cast<std::uint32_t>(session::TurnState::wanting), std::memory_order_release);
    EXPECT_TRUE(session::knock(session.knock.get()));
    run_until([&] {
      house.events->wait(std::chrono::steady_clock::now() + std::chrono::milliseconds(1));
      return house.dispatch->looks().devices().at(0).holder == session.id;
    });
  };
  join({cpu});
  joins = "carol";
  join({cpu});
  const Session& bobs = *table.all().begin()->second;
  const Session& carols = *table.all().rbegin()->second;
  wants_the_device(bobs);
  wants_the_device(carols);
  // Bob is charged for processors that he uses without a turn, and leaves; carol, who has used none, leaves
  // after him.
  house.dispatch->account_processors({{bobs.id, std::chrono::seconds(100)}});
  const TenantId debtor = bobs.tenant;
  for (Socket& each : clients) {
    const std::size_t left = table.all().size() - 1;
    each.close();
    run_until([&] { return table.all().size() == left; });
  }
  EXPECT_FALSE(house.dispatch->looks().may_forget(debtor));
  join({gpu});
  EXPECT_EQ(known(), Names({"cpu", "gpu"})) << "the table has been extended, not begun anew";
  EXPECT_FALSE(house.dispatch->looks().may_forget(debtor));
}

TEST_F(DeviceViews, TheTableOfDevicesBeginsAnewOnceNoSessionRunsAndNoTenantOwes) {
  join({cpu, gpu});
  clients.clear();
  run_until([&] { return table.empty(); });
  join({cpu});
  EXPECT_EQ(known(), Names({"cpu", "gpu"})) << "it sees nothing new";
  clients.clear();
  run_until([&] { return table.empty(); });
  join({{"Portable Computing Language", "cpu, newer driver", 2, 1'000, ""}});
  EXPECT_EQ(known(), Names({"cpu, newer driver"}));
}

}  // namespace
}  // namespace fairgv::daemon
