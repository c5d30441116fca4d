// The commands that a worker reports, and the rate of its reports.
#include "runtime/vgpu/issue/long_commands.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::LongCommand;

struct LongCommandsTest : ::testing::Test {
  void held(const std::string& name, std::chrono::nanoseconds time, wire::DeviceIndex device = 0) {
    commands.held(device, name, "it uses pipes", time, now);
  }

  LongCommands::Time now{10s};
  bool room = true;
  std::vector<LongCommand> sent;
  LongCommands commands{[this](const LongCommand& command) {
    if (room) sent.push_back(command);
    return room;
  }};
};

TEST_F(LongCommandsTest, TheFirstTimeIsToldAtOnce) {
  held("reduce", 8ms);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0], (LongCommand{0, "reduce", "it uses pipes", 1, 8'000'000, 8'000'000}));
}

TEST_F(LongCommandsTest, LaterTimesAreToldOnceASecondAndNoneIsForgotten) {
  held("reduce", 8ms);
  now += 999ms;
  held("reduce", 20ms);
  EXPECT_EQ(sent.size(), 1u);
  now += 1ms;
  held("reduce", 10ms);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1], (LongCommand{0, "reduce", "it uses pipes", 3, 20'000'000, 38'000'000}));
}

TEST_F(LongCommandsTest, EachNameAndDeviceHasItsOwnSecond) {
  held("reduce", 8ms);
  held("scan", 8ms);
  held("reduce", 9ms, 1);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[1].name, "scan");
  EXPECT_EQ(sent[2], (LongCommand{1, "reduce", "it uses pipes", 1, 9'000'000, 9'000'000}));
}

TEST_F(LongCommandsTest, ACommandThatFoundNoRoomIsReportedTheNextTime) {
  room = false;
  held("reduce", 8ms);
  room = true;
  held("reduce", 8ms);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].count, 2u);
}

TEST_F(LongCommandsTest, NamesBeyondTheMostCountAsOneOther) {
  for (int i = 0; i < 20; ++i) held("kernel" + std::to_string(i), 8ms);
  ASSERT_EQ(sent.size(), session::kMostLongCommands + 1);
  EXPECT_EQ(sent.back().name, session::kOtherCommands);
  now += 1s;
  held("kernel19", 50ms);
  EXPECT_EQ(sent.back(), (LongCommand{0, "other", "it uses pipes", 5, 50'000'000, 82'000'000}));
  held("kernel3", 8ms);  // was among the first
  EXPECT_EQ(sent.back().name, "kernel3");
}

TEST_F(LongCommandsTest, TextsAreCutToWhatTheProtocolTakes) {
  commands.held(0, std::string(1000, 'n'), std::string(1000, 'r'), 8ms, now);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].name, std::string(session::kLongestCommandText, 'n'));
  EXPECT_EQ(sent[0].reason, std::string(session::kLongestCommandText, 'r'));
}

// Whatever happens, the reports can be believed and the rate is kept.
TEST_F(LongCommandsTest, AnySequenceIsToldInFewNamesSlowlyAndInFull) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::map<std::pair<wire::DeviceIndex, std::string>, LongCommands::Time> last;
  std::uint64_t calls = 0;
  std::set<std::string> names;
  for (; calls < 20'000; ++calls) {
    now += std::chrono::milliseconds(random() % 50);
    room = random() % 10 != 0;
    sent.clear();
    held("kernel" + std::to_string(random() % 30), std::chrono::microseconds(random() % 100'000),
         static_cast<wire::DeviceIndex>(random() % 3));
    if (sent.empty()) continue;
    const LongCommand& told = sent[0];
    names.insert(told.name);
    EXPECT_LE(told.longest_ns, told.total_ns);
    const auto [before, first] = last.try_emplace({told.device, told.name}, now);
    EXPECT_TRUE(first || now - before->second >= LongCommands::kBetweenReports);
    before->second = now;
  }
  EXPECT_EQ(names.size(), session::kMostLongCommands + 1);
  // A second later each name is reported once more, with all of its past.
  std::map<std::pair<wire::DeviceIndex, std::string>, std::uint64_t> counts;
  now += 1s;
  room = true;
  sent.clear();
  for (int i = 0; i < 30; ++i) {
    for (const wire::DeviceIndex device : {0U, 1U, 2U}) held("kernel" + std::to_string(i), 1ms, device);
  }
  // Of the other names, the first is reported and 13 more are not, on each of three devices.
  std::uint64_t told = 0;
  for (const LongCommand& command : sent) told += command.count;
  EXPECT_EQ(told, calls + 90 - 3 * 13);
}

}  // namespace
}  // namespace fairgv::vgpu
