// Where the devices of a session lie after it was moved.
#include "runtime/daemon/devices/device_map.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairgv::daemon {
namespace {

using Places = std::vector<std::uint32_t>;
using Pairs = DeviceMap::Pairs;

constexpr std::uint64_t kUsesNothing = 0;

/// A view of three devices, which the host numbers from 4 on.
DeviceView view_of_three(std::uint64_t hidden = 0) {
  DeviceView view({4, 5, 6});
  view.hide(hidden);
  return view;
}

TEST(DeviceMap, AtFirstEveryDeviceLiesInItsOwnPlace) {
  const DeviceMap map;
  EXPECT_EQ(map.place_of(2), 2U);
  EXPECT_TRUE(map.moved().empty());
  EXPECT_EQ(map.places_in(view_of_three(0b010)).shown(), Places({4, 6}));
  EXPECT_EQ(map.visited_in(view_of_three(0b010)).shown(), Places({4, 6}));
}

TEST(DeviceMap, MovesAddUp) {
  const DeviceMap away = DeviceMap().after({{0, 1}}, DeviceView::first(3));
  EXPECT_EQ(away.moved(), Pairs({{0, 1}}));
  const DeviceMap further = away.after({{1, 2}}, DeviceView::first(3));
  EXPECT_EQ(further.moved(), Pairs({{0, 2}, {1, 2}})) << "what lies in one place moves together";
  EXPECT_EQ(further.after({{2, 0}}, DeviceView::first(3)).moved(), Pairs({{1, 0}, {2, 0}}));
}

TEST(DeviceMap, AWayThereAndBackLeavesTheOnlyDeviceWhereItWas) {
  const DeviceView only_first = view_of_three(0b110);
  const DeviceMap away = DeviceMap().after({{0, 1}}, DeviceView::first(3));
  EXPECT_EQ(away.places_in(only_first).shown(), Places({5})) << "a hidden device may be a place";
  EXPECT_EQ(away.visited_in(only_first).shown(), Places({4, 5}));
  const DeviceMap back = away.after({{1, 0}}, DeviceView::first(3));
  EXPECT_EQ(back.place_of(0), 0U);
  EXPECT_EQ(back.places_in(only_first).shown(), Places({4}));
  EXPECT_EQ(back.visited_in(only_first).shown(), Places({4, 5})) << "it has had turns there";
}

TEST(DeviceMap, ForceHoldsForADeviceWhileItStaysWhereItWasPut) {
  const DeviceView three = DeviceView::first(3);
  const DeviceMap forced = DeviceMap().after({{0, 1}}, three).by_force();
  EXPECT_EQ(forced.forced_devices(), Places({0}));
  const DeviceMap other = forced.after({{2, 1}}, three);
  EXPECT_EQ(other.moved(), Pairs({{0, 1}, {2, 1}}));
  EXPECT_EQ(other.forced_devices(), Places({0})) << "device 2 was put there without force";
  EXPECT_TRUE(forced.after({{1, 2}}, three).forced_devices().empty());
  EXPECT_TRUE(forced.after({{1, 0}}, three).forced_devices().empty());
  EXPECT_EQ(DeviceMap(forced.moved(), forced.visited(), forced.forced()).forced_devices(), Places({0}));
}

TEST(MovesTo, OnlyWhatIsUsedMoves) {
  EXPECT_EQ(moves_to(view_of_three(), 0b001, 2).value(), Pairs({{0, 2}}));
  EXPECT_EQ(moves_to(view_of_three(), 0b111, 2).value(), Pairs({{0, 2}, {1, 2}}));
}

TEST(MovesTo, EverythingMovesOfASessionThatUsesNothingYet) {
  EXPECT_EQ(moves_to(view_of_three(0b010), kUsesNothing, 2).value(), Pairs({{0, 2}}));
  EXPECT_EQ(moves_to(view_of_three(), 0b1000, 2).value(), Pairs({{0, 2}, {1, 2}}))
      << "it has no place that it is said to use";
}

TEST(MovesTo, AHiddenDeviceIsATargetLikeAnother) {
  EXPECT_EQ(moves_to(view_of_three(0b110), 0b001, 1).value(), Pairs({{0, 1}}));
}

TEST(MovesTo, NothingThatLiesElsewhereIsAnErrorThatNamesTheHostsDevice) {
  const auto refused = moves_to(view_of_three(), 0b010, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "has all that it uses on device 5 already");
}

TEST(DeviceMap, LeavesHiddenDevicesWhereTheyAre) {
  DeviceView first_only = DeviceView::first(2);
  first_only.hide(0b10);
  const DeviceMap away = DeviceMap().after({{0, 1}}, first_only);
  EXPECT_EQ(away.moved(), Pairs({{0, 1}}));
  EXPECT_TRUE(away.after({{1, 0}}, first_only).moved().empty());
}

}  // namespace
}  // namespace fairgv::daemon
