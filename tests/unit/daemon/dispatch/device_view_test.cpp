// The host's devices that a worker sees.
#include "runtime/daemon/devices/view.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "runtime/session/turn.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::daemon {
namespace {

using Devices = std::vector<session::DeviceDescription>;
using Numbers = std::vector<std::uint32_t>;

session::DeviceDescription gpu(const std::string& name, const std::string& id = "") {
  return {"Vendor", name, 4, 1'000, id};
}

const session::DeviceDescription kCpu{"Portable", "cpu", 2, 500, ""};

TEST(PlaceDevices, AWorkerThatSeesFewerUsesThePlacesOfThose) {
  const auto placed = place_devices({gpu("a"), gpu("b"), kCpu}, {kCpu});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->view.all(), Numbers({2}));
  EXPECT_TRUE(placed->added.empty());
}

TEST(PlaceDevices, ANewDeviceGoesBehindTheOthers) {
  const auto placed = place_devices({kCpu}, {gpu("a"), kCpu, gpu("b")});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->view.all(), Numbers({1, 0, 2}));
  EXPECT_EQ(placed->added, Devices({gpu("a"), gpu("b")}));
}

TEST(PlaceDevices, DevicesOfOneNameAreToldApartByTheirIds) {
  const auto placed = place_devices({gpu("a", "1"), gpu("a", "2")}, {gpu("a", "2"), gpu("a", "3")});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->view.all(), Numbers({1, 2}));
}

TEST(PlaceDevices, DevicesThatAreAlikeHaveTheirPlacesInOrder) {
  const auto placed = place_devices({gpu("a"), gpu("a")}, {gpu("a"), gpu("a"), gpu("a")});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->view.all(), Numbers({0, 1, 2}));
}

TEST(PlaceDevices, AFullTableIsSaidSoInOneLine) {
  Devices table;
  for (std::uint32_t i = 0; i < session::kMaxDevices; ++i) table.push_back(gpu(std::to_string(i)));
  EXPECT_TRUE(place_devices(table, {gpu("7")}));
  const auto refused = place_devices(table, {gpu("new")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
}

TEST(PlaceDevices, NoTwoOfAWorkersDevicesShareAPlaceWhateverItSees) {
  std::minstd_rand random(static_cast<unsigned>(harness::printed_seed()));
  for (int round = 0; round < 500; ++round) {
    const auto some = [&] {
      Devices list;
      for (unsigned left = random() % 8; left > 0; --left) {
        list.push_back(
            gpu(std::to_string(random() % 3), random() % 2 == 0 ? "" : std::to_string(random() % 3)));
      }
      return list;
    };
    Devices table;
    for (int worker = 0; worker < 3; ++worker) {
      const Devices seen = some();
      const auto placed = place_devices(table, seen);
      ASSERT_TRUE(placed);
      table.insert(table.end(), placed->added.begin(), placed->added.end());
      ASSERT_EQ(placed->view.size(), seen.size());
      const Numbers& all = placed->view.all();
      EXPECT_EQ(std::set<std::uint32_t>(all.begin(), all.end()).size(), all.size());
      for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(table[all[i]], seen[i]);
    }
  }
}

TEST(DeviceView, TranslatesBothWays) {
  const DeviceView view({2, 0});
  EXPECT_EQ(view.host(0), 2U);
  EXPECT_EQ(view.worker(0), 1U);
  EXPECT_EQ(view.worker(1), std::nullopt);
  using Sets = std::vector<std::uint64_t>;
  EXPECT_EQ(view.host_sets(0b01), Sets({0b100}));
  EXPECT_EQ(view.host_sets(0b10), Sets({0b001}));
  EXPECT_EQ(view.host_sets(0b11), Sets({0b101}));
  EXPECT_EQ(view.host_sets(0b100), Sets()) << "a device that the worker does not see";
  EXPECT_EQ(view.pick(Numbers({10, 11, 12})), Numbers({12, 10}));
  EXPECT_EQ(view.pick(Numbers({10})), Numbers({0, 10})) << "a list that is too short";
}

TEST(DeviceView, HiddenDevicesKeepTheirNumbers) {
  DeviceView view({2, 0, 1});
  EXPECT_EQ(view.shown(), view.all());
  view.hide(0b011);
  EXPECT_EQ(view.shown(), Numbers({1}));
  EXPECT_TRUE(view.hides(0));
  EXPECT_FALSE(view.hides(2));
  EXPECT_EQ(view.worker(0), 1U) << "it is still a device of the worker";
  const DeviceView books = view.through({0, 0, 2});
  EXPECT_EQ(books.hidden(), 0b011U);
  EXPECT_EQ(books.shown(), Numbers({0}));
}

TEST(DeviceView, OfDevicesThatAreTheSameHardwareASetHasEachOnce) {
  using Sets = std::vector<std::uint64_t>;
  const DeviceView view = DeviceView({2, 0, 1}).through({0, 1, 0});
  EXPECT_EQ(view.all(), Numbers({0, 0, 1}));
  EXPECT_EQ(view.host_sets(0b001), Sets({0b01}));
  EXPECT_EQ(view.host_sets(0b111), Sets({0b11, 0b01}));
}

}  // namespace
}  // namespace fairgv::daemon
