// Sessions that leave an overloaded device: which, when, and when not.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "runtime/daemon/moves/reliefs.hpp"
#include "tests/unit/daemon/moves/move_fixture.hpp"

namespace fairgv::daemon {
namespace {

using std::chrono::seconds;

struct Relieved : MoveTest {
  void start_three() {
    house.config.devices.by_index[0].oversell_move_to = 1;
    start_two(honest_old(), say(ready()) + honest_new());
    for (Socket* const late : {&second, &third}) {
      ASSERT_TRUE(begin(joins, ::getuid(), *late));
      run_until([&] { return table.settled(); });
    }
    ASSERT_EQ(table.all().size(), 3U);
    now = std::chrono::steady_clock::now();
  }
  /// A second later: the sessions have used so much more of device 0.
  void pass_second(const std::vector<std::uint64_t>& used) {
    now += seconds(1);
    std::uint32_t id = 0;
    for (const std::uint64_t each : used) times[SessionId{++id}] += each;
    reliefs.expire(now);
    if (moving()) run_until([&] { return !moving(); });
  }
  bool moving() const {
    return std::any_of(table.all().begin(), table.all().end(),
                       [](const auto& each) { return each.second->moving; });
  }
  /// The sessions that lie elsewhere.
  std::vector<std::uint32_t> away() const {
    std::vector<std::uint32_t> ids;
    for (const auto& [id, session] : table.all()) {
      if (!session->moved.moved().empty()) ids.push_back(id.value);
    }
    return ids;
  }
  using Ids = std::vector<std::uint32_t>;

  Socket second, third;
  std::map<SessionId, std::uint64_t> times;
  std::vector<std::uint32_t> overloaded{0};
  std::chrono::steady_clock::time_point now;
  Reliefs reliefs{{house.config, table.sessions(), table.moves(), house.devices, house.tenancies, house.log,
                   [this] { return overloaded; },
                   [this](SessionId id) {
                     return std::vector<std::uint64_t>{times[id], 0};
                   }}};
};

TEST_F(Relieved, TheLightestSessionThatUsesTheDeviceMovesOnceTheWarningLasts) {
  start_three();
  for (int i = 0; i < 3; ++i) {
    pass_second({30, 10, 0});
    EXPECT_TRUE(away().empty()) << "second " << i;
  }
  pass_second({30, 10, 0});
  EXPECT_EQ(away(), Ids({2})) << "the third has used nothing: it would not help";
}

TEST_F(Relieved, BetweenTwoMovesThereIsARestAndNobodyComesBack) {
  start_three();
  for (int i = 0; i < 4; ++i) pass_second({30, 10, 20});
  EXPECT_EQ(away(), Ids({2}));
  const auto rested = now + Reliefs::kRest - seconds(2);
  while (now < rested) pass_second({30, 10, 20});
  EXPECT_EQ(away(), Ids({2}));
  for (int i = 0; i < 10; ++i) pass_second({30, 0, 20});
  EXPECT_EQ(away(), Ids({2, 3}));
  // The other device is overloaded, too, and would send them back.
  house.config.devices.by_index[1].oversell_move_to = 0;
  overloaded = {1};
  for (int i = 0; i < 60; ++i) pass_second({30, 10, 20});
  EXPECT_EQ(away(), Ids({2, 3}));
}

TEST_F(Relieved, AWarningThatEndsMovesNobody) {
  start_three();
  for (int i = 0; i < 5; ++i) {
    overloaded = {0};
    for (int j = 0; j < 3; ++j) pass_second({30, 10, 20});
    overloaded.clear();
    pass_second({30, 10, 20});
  }
  EXPECT_TRUE(away().empty());
  EXPECT_FALSE(reliefs.deadline());
}

TEST_F(Relieved, WithoutADeviceToMoveToNobodyMoves) {
  start_three();
  house.config.devices.by_index[0].oversell_move_to.reset();
  for (int i = 0; i < 6; ++i) pass_second({30, 10, 20});
  EXPECT_TRUE(away().empty());
}

TEST_F(Relieved, OneThatCannotMoveStaysAndTheNextGoes) {
  start_three();
  ASSERT_TRUE(
      table.moves().park(*table.sessions().find(SessionId{2}), {.by = {0, true}}, [](const MoveOutcome&) {}));
  run_until([&] { return !moving(); });
  for (int i = 0; i < 4; ++i) pass_second({30, 10, 20});
  EXPECT_EQ(away(), Ids({3})) << "a parked session has left already";
}

}  // namespace
}  // namespace fairgv::daemon
